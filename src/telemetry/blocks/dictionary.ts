import { randomInt } from "node:crypto";
import { GrowingBytes } from "./growing-bytes.ts";

/** Differs from process to process, so that nobody can prepare texts that all fall into one slot. */
const seed = randomInt(2 ** 32) | 0;

/**
 * Distinct byte strings, numbered from 1 in the order in which they came; 0 is the empty one. They are found by their
 * bytes: no text is made of them. An open-addressed table of numbers, which never holds more than half its slots.
 */
export class Dictionary {
  /** Every entry as a String of the Native format, the empty one first: what a LowCardinality column sends. */
  readonly encoded = new GrowingBytes();
  #count = 1;
  #starts = new Int32Array(16);
  #ends = new Int32Array(16);
  #hashes = new Int32Array(16);
  /** Entry numbers; 0 is a free slot. */
  #slots = new Int32Array(32);
  /** Of the last bytes looked for, since who does not find them adds them next. */
  #hash = 0;

  constructor() {
    this.encoded.appendByte(0);
  }

  /** The number of entries, the empty one included. */
  get size(): number {
    return this.#count;
  }

  /** The number of an entry, or -1 where there is none. */
  find(from: DataView, start: number, end: number): number {
    if (start === end) return 0;
    const hash = hashOf(from, start, end);
    this.#hash = hash;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const index = slots[slot]!;
      if (index === 0) return -1;
      if (this.#hashes[index] === hash && this.holds(index, from, start, end)) return index;
      slot = (slot + 1) & mask;
    }
  }

  /** Whether entry `index` is the bytes of a range. */
  holds(index: number, from: DataView, start: number, end: number): boolean {
    if (index >= this.#count) return false;
    let at = this.#starts[index]!;
    const stop = this.#ends[index]!;
    if (stop - at !== end - start) return false;
    const view = this.encoded.view;
    if (end - start < 4) {
      for (let p = start; p < end; p++) if (from.getUint8(p) !== view.getUint8(at++)) return false;
      return true;
    }
    const last = end - 4;
    for (let p = start; p < last; p += 4) {
      if (from.getInt32(p, true) !== view.getInt32(at, true)) return false;
      at += 4;
    }
    return from.getInt32(last, true) === view.getInt32(stop - 4, true);
  }

  /** Adds what `find` has just been asked for and has not found. */
  add(from: DataView, start: number, end: number): number {
    const index = this.#count;
    if (index === this.#starts.length) this.#grow();
    this.encoded.appendVarint(end - start);
    this.#starts[index] = this.encoded.length;
    this.encoded.appendBytes(from, start, end);
    this.#ends[index] = this.encoded.length;
    this.#hashes[index] = this.#hash;
    this.#count++;
    this.#place(index);
    return index;
  }

  /** Takes out the entries from number `size` on. */
  truncate(size: number): void {
    // In the reverse of the order of adding, clearing a slot leaves the table as it was before.
    const mask = this.#slots.length - 1;
    for (let index = this.#count - 1; index >= size; index--) {
      let slot = this.#hashes[index]! & mask;
      while (this.#slots[slot] !== index) slot = (slot + 1) & mask;
      this.#slots[slot] = 0;
    }
    if (size < this.#count) {
      this.encoded.length = size === 1 ? 1 : this.#ends[size - 1]!;
      this.#count = size;
    }
  }

  reset(): void {
    const wide = this.#slots.length > 4096 && this.#slots.length > this.#count * 16;
    if (wide) {
      const room = this.#slots.length / 4;
      this.#starts = new Int32Array(room / 2);
      this.#ends = new Int32Array(room / 2);
      this.#hashes = new Int32Array(room / 2);
      this.#slots = new Int32Array(room);
    } else {
      this.#slots.fill(0);
    }
    this.#count = 1;
    this.encoded.reset();
    this.encoded.appendByte(0);
  }

  #place(index: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#hashes[index]! & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = index;
  }

  #grow(): void {
    const room = this.#starts.length * 2;
    const widened = (old: Int32Array) => {
      const wide = new Int32Array(room);
      wide.set(old);
      return wide;
    };
    this.#starts = widened(this.#starts);
    this.#ends = widened(this.#ends);
    this.#hashes = widened(this.#hashes);
    this.#slots = new Int32Array(room * 2);
    for (let index = 1; index < this.#count; index++) this.#place(index);
  }
}

/** A multiplicative hash of four bytes at a time; the last four may overlap those before them. */
function hashOf(from: DataView, start: number, end: number): number {
  let hash = seed ^ (end - start);
  if (end - start < 4) {
    for (let p = start; p < end; p++) hash = Math.imul(hash ^ from.getUint8(p), 0x5bd1e995);
  } else {
    const last = end - 4;
    for (let p = start; p < last; p += 4) {
      hash = Math.imul(hash ^ from.getInt32(p, true), 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash ^ from.getInt32(last, true), 0x5bd1e995);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
