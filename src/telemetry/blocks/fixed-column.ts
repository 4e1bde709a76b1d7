import type { Column } from "./column.ts";
import { GrowingBytes } from "./growing-bytes.ts";

const widths: Readonly<Record<string, number>> = {
  UInt8: 1,
  UInt32: 4,
  Int32: 4,
  "DateTime('UTC')": 4,
  UInt64: 8,
  Int64: 8,
  Float64: 8,
  "DateTime64(9, 'UTC')": 8,
};

function widthOf(type: string): number {
  const width = widths[type] ?? Number(/^FixedString\((\d+)\)$/.exec(type)?.[1]);
  if (!(width > 0)) throw new Error(`${type} is not a type of fixed width.`);
  return width;
}

/**
 * A column whose values all take the same number of bytes. One class for all widths, and a setter for each way in
 * which a value comes, since code that meets a single shape of object runs fastest. Memory beyond the rows is zero.
 */
export class FixedColumn implements Column {
  readonly name: string;
  readonly type: string;
  readonly #width: number;
  readonly #memory = new GrowingBytes();

  constructor(name: string, type: string) {
    this.name = name;
    this.type = type;
    this.#width = widthOf(type);
  }

  /** UInt8 */
  set8(row: number, value: number): void {
    this.#memory.reach(row + 1);
    this.#memory.view.setUint8(row, value);
  }

  /** UInt32, Int32: the value's low 32 bits. */
  set32(row: number, value: number): void {
    this.#memory.reach((row + 1) * 4);
    this.#memory.view.setInt32(row * 4, value, true);
  }

  /** UInt64, Int64, DateTime64: two halves of 32 bits. */
  set64(row: number, hi: number, lo: number): void {
    this.#memory.reach((row + 1) * 8);
    const { view } = this.#memory;
    view.setInt32(row * 8, lo, true);
    view.setInt32(row * 8 + 4, hi, true);
  }

  setFloat64(row: number, value: number): void {
    this.#memory.reach((row + 1) * 8);
    this.#memory.view.setFloat64(row * 8, value, true);
  }

  /** A FixedString whose width is a multiple of four. */
  setBytes(row: number, from: DataView, start: number): void {
    const width = this.#width;
    this.#memory.reach((row + 1) * width);
    const { view } = this.#memory;
    const at = row * width;
    for (let i = 0; i < width; i += 4) view.setInt32(at + i, from.getInt32(start + i, true), true);
  }

  byteLength(rows: number): number {
    return rows * this.#width;
  }

  mark(): undefined {
    return undefined;
  }

  rollback(rows: number, until: number): void {
    this.#memory.bytes.fill(0, rows * this.#width, until * this.#width);
  }

  seal(rows: number, out: Buffer[]): void {
    const size = rows * this.#width;
    this.#memory.reach(size);
    out.push(Buffer.from(this.#memory.bytes.buffer, 0, size));
  }

  reset(rows: number): void {
    const size = rows * this.#width;
    this.#memory.bytes.fill(0, 0, size);
    this.#memory.reset(size);
  }
}
