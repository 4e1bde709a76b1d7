import type { Column } from "./column.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { lowCardinalityPrefix, Texts } from "./texts.ts";

/**
 * A LowCardinality(String) column whose value stays the same over many rows, as what comes from a resource does.
 * Rows are written down as runs, and spread out when the block is sealed.
 */
export class RunColumn implements Column {
  readonly name: string;
  readonly type = "LowCardinality(String)";
  readonly texts = new Texts();
  /** For each run, the entry of `texts` and the row behind its last one. */
  readonly #indexes: number[] = [];
  readonly #ends: number[] = [];
  readonly #spread = new GrowingBytes();

  constructor(name: string) {
    this.name = name;
  }

  /** Gives the rows after the last run, up to but not including `end`, an entry of `texts`. */
  setUntil(end: number, index: number): void {
    const last = this.#indexes.length - 1;
    if (last >= 0 && this.#indexes[last] === index) {
      this.#ends[last] = end;
    } else {
      this.#indexes.push(index);
      this.#ends.push(end);
    }
  }

  byteLength(): number {
    return this.#indexes.length * 16 + this.texts.byteLength;
  }

  mark(): { runs: number; texts: number } {
    return { runs: this.#indexes.length, texts: this.texts.size };
  }

  rollback(rows: number, _until: number, mark: ReturnType<RunColumn["mark"]>): void {
    this.#indexes.length = mark.runs;
    this.#ends.length = mark.runs;
    // The run that was open at the mark may have been lengthened.
    if (mark.runs > 0) this.#ends[mark.runs - 1] = rows;
    this.texts.truncate(mark.texts);
  }

  seal(rows: number, out: Buffer[]): void {
    out.push(lowCardinalityPrefix());
    this.texts.seal(rows, out);
    const width = this.texts.indexWidth;
    this.#spread.reach(rows * width);
    const { buffer } = this.#spread.bytes;
    const spread =
      width === 1
        ? new Uint8Array(buffer, 0, rows)
        : width === 2
          ? new Uint16Array(buffer, 0, rows)
          : new Uint32Array(buffer, 0, rows);
    let from = 0;
    for (const [run, index] of this.#indexes.entries()) {
      const end = this.#ends[run]!;
      if (end - from > 16) spread.fill(index, from, end);
      else for (let row = from; row < end; row++) spread[row] = index;
      from = end;
    }
    spread.fill(0, from);
    out.push(Buffer.from(buffer, 0, rows * width));
  }

  reset(rows: number): void {
    this.#indexes.length = 0;
    this.#ends.length = 0;
    this.#spread.reset(rows);
    this.texts.reset();
  }
}
