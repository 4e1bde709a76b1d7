import { GrowingBytes } from "./growing-bytes.ts";

/** Numbers of dictionary entries, kept at 32 bits and sent at the width that the dictionary's size asks for. */
export class Indexes {
  readonly #memory = new GrowingBytes();
  readonly #narrowed = new GrowingBytes();

  /** Sets the number at `at`. Those that are never set are 0. */
  set(at: number, index: number): void {
    this.#memory.reach((at + 1) * 4);
    this.#memory.view.setInt32(at * 4, index, true);
  }

  /** Sets those from `from` up to `until` back to 0. */
  clear(from: number, until: number): void {
    this.#memory.bytes.fill(0, from * 4, until * 4);
  }

  seal(count: number, width: 1 | 2 | 4, out: Buffer[]): void {
    this.#memory.reach(count * 4);
    const wide = new Uint32Array(this.#memory.bytes.buffer, 0, count);
    if (width === 4) {
      out.push(Buffer.from(wide.buffer, 0, count * 4));
      return;
    }
    this.#narrowed.reach(count * width);
    const { buffer } = this.#narrowed.bytes;
    const narrow = width === 1 ? new Uint8Array(buffer, 0, count) : new Uint16Array(buffer, 0, count);
    narrow.set(wide);
    out.push(Buffer.from(buffer, 0, count * width));
  }

  /** Empties what held `count` numbers. */
  reset(count: number): void {
    this.clear(0, count);
    this.#memory.reset(count * 4);
    this.#narrowed.reset(count * 2);
  }
}
