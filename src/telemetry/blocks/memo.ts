import { Dictionary } from "./dictionary.ts";

/**
 * What was worked out from bytes that have come before in the same block: a resource is read once, and then found
 * again by its bytes. It lives as long as the rows of the block, whose dictionaries its values may point into.
 */
export class Memo<T> {
  readonly #keys = new Dictionary();
  /** The values of the entries from number 1 on. */
  readonly #values: T[] = [];

  /** The value that belongs to a range of bytes, which is not empty; `make` works it out where they are new. */
  get(from: DataView, start: number, end: number, make: () => T): T {
    const index = this.#keys.find(from, start, end);
    if (index !== -1) return this.#values[index - 1]!;
    const value = make();
    this.#keys.add(from, start, end);
    this.#values.push(value);
    return value;
  }

  get byteLength(): number {
    return this.#keys.encoded.length;
  }

  mark(): number {
    return this.#keys.size;
  }

  rollback(mark: number): void {
    this.#keys.truncate(mark);
    this.#values.length = mark - 1;
  }

  reset(): void {
    this.#keys.reset();
    this.#values.length = 0;
  }
}
