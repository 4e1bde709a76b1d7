import type { Column } from "./column.ts";
import { Indexes } from "./indexes.ts";
import { lowCardinalityPrefix, Texts } from "./texts.ts";

/** A LowCardinality(String) column whose value differs from row to row. */
export class LowCardinalityColumn implements Column {
  readonly name: string;
  readonly type = "LowCardinality(String)";
  readonly texts = new Texts();
  readonly #indexes = new Indexes();

  constructor(name: string) {
    this.name = name;
  }

  /** Sets a row to an entry of `texts`. */
  set(row: number, index: number): void {
    this.#indexes.set(row, index);
  }

  byteLength(rows: number): number {
    return rows * 4 + this.texts.byteLength;
  }

  mark(): number {
    return this.texts.size;
  }

  rollback(rows: number, until: number, mark: number): void {
    this.#indexes.clear(rows, until);
    this.texts.truncate(mark);
  }

  seal(rows: number, out: Buffer[]): void {
    out.push(lowCardinalityPrefix());
    this.texts.seal(rows, out);
    this.#indexes.seal(rows, this.texts.indexWidth, out);
  }

  reset(rows: number): void {
    this.#indexes.reset(rows);
    this.texts.reset();
  }
}
