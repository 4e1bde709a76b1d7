import { isUtf8 } from "node:buffer";
import { Dictionary } from "./dictionary.ts";
import { GrowingBytes, repairedText, textView } from "./growing-bytes.ts";

/** Only what follows: no dictionary that blocks share, and one of their own. */
const ownDictionary = 0x200;

/**
 * The distinct texts of a LowCardinality(String) column. All are UTF-8: bytes that are found are those of a text that
 * was checked when it was added, so that a repeated value is never checked again.
 */
export class Texts {
  readonly #dictionary = new Dictionary();

  /** The number of a text, which is added where it is new. What is not UTF-8 becomes U+FFFD. */
  indexOf(from: DataView, start: number, end: number): number {
    const index = this.#dictionary.find(from, start, end);
    return index === -1 ? this.#add(from, start, end) : index;
  }

  /** Whether the entry of a number, which need not exist, is the text in a range. */
  isEntry(index: number, from: DataView, start: number, end: number): boolean {
    return index !== 0 && this.#dictionary.holds(index, from, start, end);
  }

  indexOfText(text: string): number {
    if (text === "") return 0;
    const view = textView(text);
    return this.indexOf(view, 0, view.byteLength);
  }

  get size(): number {
    return this.#dictionary.size;
  }

  get byteLength(): number {
    return this.#dictionary.encoded.length;
  }

  /** Bytes that the number of an entry takes where this dictionary is sent. */
  get indexWidth(): 1 | 2 | 4 {
    const { size } = this.#dictionary;
    return size <= 0x100 ? 1 : size <= 0x10000 ? 2 : 4;
  }

  /** What comes before the numbers of `count` values: which kind of numbers, the entries, how many values. */
  seal(count: number, out: Buffer[]): void {
    const { encoded, size } = this.#dictionary;
    const head = new GrowingBytes();
    head.append64(0, ownDictionary | 0x400 | (this.indexWidth >> 1));
    head.append64(0, size);
    const tail = new GrowingBytes();
    tail.append64(0, count);
    out.push(head.inUse(), encoded.inUse(), tail.inUse());
  }

  truncate(size: number): void {
    this.#dictionary.truncate(size);
  }

  reset(): void {
    this.#dictionary.reset();
  }

  #add(from: DataView, start: number, end: number): number {
    if (isUtf8(new Uint8Array(from.buffer, from.byteOffset + start, end - start))) {
      return this.#dictionary.add(from, start, end);
    }
    const repaired = repairedText(from, start, end);
    const index = this.#dictionary.find(repaired, 0, repaired.byteLength);
    return index === -1 ? this.#dictionary.add(repaired, 0, repaired.byteLength) : index;
  }
}

/** The version of the format that a LowCardinality column says before its data. */
export function lowCardinalityPrefix(): Buffer {
  const prefix = Buffer.alloc(8);
  prefix[0] = 1;
  return prefix;
}
