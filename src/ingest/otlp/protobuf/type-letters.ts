import { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";
import type { Texts } from "../../../telemetry/blocks/texts.ts";
import { typeLetter } from "./any-value.ts";

/** The types of a list of values, a letter each; nothing where all are strings, which is what most are. */
export class TypeLetters {
  readonly #letters = new GrowingBytes();
  #plain = true;

  clear(): void {
    this.#letters.length = 0;
    this.#plain = true;
  }

  push(letter: number): void {
    this.#letters.appendByte(letter);
    if (letter !== typeLetter.string) this.#plain = false;
  }

  /** Adds the letters of one event or link to those of the span's others; `first` has no comma before it. */
  pushGroup(group: TypeLetters, first: boolean): void {
    if (!first) this.#letters.appendByte(0x2c);
    this.#letters.appendBytes(group.#letters.view, 0, group.#letters.length);
    if (!group.#plain) this.#plain = false;
  }

  /** The number of these letters among a column's texts. */
  indexIn(texts: Texts): number {
    return this.#plain ? 0 : texts.indexOf(this.#letters.view, 0, this.#letters.length);
  }

  /** The letters as text. */
  toString(): string {
    return this.#plain ? "" : this.#letters.inUse().toString("latin1");
  }
}
