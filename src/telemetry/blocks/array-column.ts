import type { Column } from "./column.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { Offsets } from "./offsets.ts";

/** An Array column of eight-byte elements. Elements are pushed, and `commit` makes them a row's. */
export class ArrayColumn implements Column {
  readonly name: string;
  readonly type: string;
  readonly #offsets = new Offsets();
  readonly #items = new GrowingBytes();

  constructor(name: string, element: "UInt64" | "Float64") {
    this.name = name;
    this.type = `Array(${element})`;
  }

  push64(hi: number, lo: number): void {
    this.#items.append64(hi, lo);
  }

  pushFloat64(value: number): void {
    this.#items.reserve(8);
    this.#items.view.setFloat64(this.#items.length, value, true);
    this.#items.length += 8;
  }

  /** Elements that are little-endian and lie side by side already. */
  pushAll(from: DataView, start: number, end: number): void {
    this.#items.appendBytes(from, start, end);
  }

  commit(row: number): void {
    const end = this.#items.length / 8;
    if (end !== this.#offsets.total) this.#offsets.set(row, end);
  }

  byteLength(rows: number): number {
    return this.#offsets.byteLength(rows) + this.#items.length;
  }

  mark(): { offsets: ReturnType<Offsets["mark"]>; items: number } {
    return { offsets: this.#offsets.mark(), items: this.#items.length };
  }

  rollback(_rows: number, _until: number, mark: ReturnType<ArrayColumn["mark"]>): void {
    this.#offsets.rollback(mark.offsets);
    this.#items.length = mark.items;
  }

  seal(rows: number, out: Buffer[]): void {
    this.#offsets.seal(rows, out);
    out.push(this.#items.inUse());
  }

  reset(): void {
    this.#offsets.reset();
    this.#items.reset();
  }
}
