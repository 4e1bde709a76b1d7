import type { Column } from "./column.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { Indexes } from "./indexes.ts";
import { Offsets } from "./offsets.ts";
import { lowCardinalityPrefix, Texts } from "./texts.ts";

/**
 * A Map(LowCardinality(String), String) column. A pair is a key by `key` and one String that the caller appends to
 * `values`; `commit` makes the pairs a row's, `abandon` takes them out again.
 */
export class MapColumn implements Column {
  readonly name: string;
  readonly type = "Map(LowCardinality(String), String)";
  /** Every value as a String of the Native format. */
  readonly values = new GrowingBytes();
  readonly #keys = new Texts();
  readonly #indexes = new Indexes();
  readonly #offsets = new Offsets();
  /**
   * For each key, the one that came after it the last time (0: the first of a row). Rows of one kind have their keys in
   * one order, so this is mostly the next key, and to see that it is costs less than to look it up.
   */
  readonly #following: number[] = [];
  #lastKey = 0;
  #pairs = 0;
  /** `values.length` at the last commit. */
  #committed = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Starts a pair; its value comes next. */
  key(from: DataView, start: number, end: number): void {
    const before = this.#lastKey;
    let index = this.#following[before] ?? 0;
    if (!this.#keys.isEntry(index, from, start, end)) {
      index = this.#keys.indexOf(from, start, end);
      this.#following[before] = index;
    }
    this.#lastKey = index;
    this.#indexes.set(this.#pairs++, index);
  }

  commit(row: number): void {
    if (this.#pairs !== this.#offsets.total) this.#offsets.set(row, this.#pairs);
    this.#committed = this.values.length;
    this.#lastKey = 0;
  }

  abandon(): void {
    this.#indexes.clear(this.#offsets.total, this.#pairs);
    this.#pairs = this.#offsets.total;
    this.values.length = this.#committed;
    this.#lastKey = 0;
  }

  byteLength(rows: number): number {
    return this.#offsets.byteLength(rows) + this.#pairs * 4 + this.#keys.byteLength + this.values.length;
  }

  mark(): { offsets: ReturnType<Offsets["mark"]>; keys: number; values: number } {
    return { offsets: this.#offsets.mark(), keys: this.#keys.size, values: this.#committed };
  }

  rollback(_rows: number, _until: number, mark: ReturnType<MapColumn["mark"]>): void {
    this.#offsets.rollback(mark.offsets);
    this.#committed = mark.values;
    this.abandon();
    this.#keys.truncate(mark.keys);
  }

  seal(rows: number, out: Buffer[]): void {
    out.push(lowCardinalityPrefix());
    this.#offsets.seal(rows, out);
    // Elements that are not there have no dictionary either.
    if (this.#pairs === 0) return;
    this.#keys.seal(this.#pairs, out);
    this.#indexes.seal(this.#pairs, this.#keys.indexWidth, out);
    out.push(this.values.inUse());
  }

  reset(): void {
    this.#indexes.reset(this.#pairs);
    this.#offsets.reset();
    this.#keys.reset();
    this.values.reset();
    this.#pairs = 0;
    this.#committed = 0;
    this.#following.length = 0;
  }
}
