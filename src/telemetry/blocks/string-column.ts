import type { Column } from "./column.ts";
import { GrowingBytes } from "./growing-bytes.ts";

/** A String column: each value behind its length. */
export class StringColumn implements Column {
  readonly name: string;
  readonly type = "String";
  readonly #memory = new GrowingBytes();
  /** Rows that are in memory; those that follow are empty. */
  #written = 0;
  /** Where the value that was set last begins, its length included. */
  #last = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Sets the value of a row that comes after all that were set. What is not UTF-8 becomes U+FFFD. */
  set(row: number, from: DataView, start: number, end: number): void {
    this.#pad(row);
    this.#last = this.#memory.length;
    this.#memory.appendString(from, start, end);
    this.#written = row + 1;
  }

  /** The memory in which the values stand, up to `lastEnd`. */
  get bytes(): Uint8Array {
    return this.#memory.bytes;
  }

  /** Where the text of a row begins that was the last to be set; -1 where that was another. */
  lastStart(row: number): number {
    if (this.#written !== row + 1) return -1;
    let at = this.#last;
    while (this.#memory.bytes[at]! >= 0x80) at += 1;
    return at + 1;
  }

  get lastEnd(): number {
    return this.#memory.length;
  }

  byteLength(rows: number): number {
    return this.#memory.length + rows - this.#written;
  }

  mark(): { length: number; written: number } {
    return { length: this.#memory.length, written: this.#written };
  }

  rollback(_rows: number, _until: number, mark: ReturnType<StringColumn["mark"]>): void {
    this.#memory.length = mark.length;
    this.#written = mark.written;
  }

  seal(rows: number, out: Buffer[]): void {
    this.#pad(rows);
    out.push(this.#memory.inUse());
  }

  reset(): void {
    this.#memory.reset();
    this.#written = 0;
  }

  #pad(row: number): void {
    const missing = row - this.#written;
    if (missing === 0) return;
    const memory = this.#memory;
    memory.reserve(missing);
    memory.bytes.fill(0, memory.length, memory.length + missing);
    memory.length += missing;
    this.#written = row;
  }
}
