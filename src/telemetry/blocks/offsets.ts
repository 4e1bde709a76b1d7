import { GrowingBytes } from "./growing-bytes.ts";

/** For each row, the number of elements up to and including it, as Array and Map columns send them. */
export class Offsets {
  readonly #memory = new GrowingBytes();
  /** Rows that are in memory; those that follow have no elements. */
  #rows = 0;
  /** Elements of all rows. */
  total = 0;

  /** Gives a row that comes after all that were set the elements from `total` up to `end`. */
  set(row: number, end: number): void {
    this.#pad(row);
    this.#memory.append64(0, end);
    this.#rows = row + 1;
    this.total = end;
  }

  byteLength(rows: number): number {
    return rows * 8;
  }

  mark(): { rows: number; total: number } {
    return { rows: this.#rows, total: this.total };
  }

  rollback(mark: ReturnType<Offsets["mark"]>): void {
    this.#rows = mark.rows;
    this.total = mark.total;
    this.#memory.length = mark.rows * 8;
  }

  seal(rows: number, out: Buffer[]): void {
    this.#pad(rows);
    out.push(this.#memory.inUse());
  }

  reset(): void {
    this.#memory.reset();
    this.#rows = 0;
    this.total = 0;
  }

  #pad(row: number): void {
    if (this.#rows === row) return;
    this.#memory.reserve((row - this.#rows) * 8);
    for (; this.#rows < row; this.#rows++) this.#memory.append64(0, this.total);
  }
}
