import { isUtf8 } from "node:buffer";

/** From here on a native copy is faster than four bytes at a time, in spite of the view that it needs. */
const nativeCopyFrom = 160;

const emptyView = new DataView(new ArrayBuffer(0));

/** Reads UTF-8 with U+FFFD for what is none; a byte order mark is text like any other. */
const repairing = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Memory that grows as bytes are appended, little-endian. Bytes are taken from a DataView and a range, since a
 * DataView, unlike a typed array, is of one shape whatever it looks at: the engine of the language then compiles
 * each access to a single load.
 */
export class GrowingBytes {
  view: DataView = emptyView;
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(emptyView.buffer as ArrayBuffer);
  /** Bytes in use. */
  length = 0;
  /** A fading maximum of what was in use, so that one burst does not keep its memory for ever. */
  #recent = 0;

  /** Makes room for `count` more bytes. New memory is zero. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed > this.bytes.length) this.#grow(needed);
  }

  /** Makes room up to `size` bytes in all. New memory is zero. */
  reach(size: number): void {
    if (size > this.bytes.length) this.#grow(size);
  }

  appendByte(byte: number): void {
    if (this.length === this.bytes.length) this.#grow(this.length + 1);
    this.view.setUint8(this.length++, byte);
  }

  /** A LEB128 number up to 2^53. */
  appendVarint(value: number): void {
    this.reserve(8);
    while (value >= 0x80) {
      this.view.setUint8(this.length++, (value % 0x80) | 0x80);
      value = Math.floor(value / 0x80);
    }
    this.view.setUint8(this.length++, value);
  }

  append64(hi: number, lo: number): void {
    this.reserve(8);
    this.view.setInt32(this.length, lo, true);
    this.view.setInt32(this.length + 4, hi, true);
    this.length += 8;
  }

  /** Characters up to U+007F alone. */
  appendAscii(text: string): void {
    this.reserve(text.length);
    const { view } = this;
    let at = this.length;
    for (let i = 0; i < text.length; i++) view.setUint8(at++, text.charCodeAt(i));
    this.length = at;
  }

  /** The bytes as they are. Returns a number that is 0 exactly where all of them are ASCII. */
  appendBytes(from: DataView, start: number, end: number): number {
    const count = end - start;
    this.reserve(count);
    const to = this.view;
    let at = this.length;
    this.length = at + count;
    if (count >= nativeCopyFrom) {
      const source = new Uint8Array(from.buffer, from.byteOffset + start, count);
      this.bytes.set(source, at);
      return 1;
    }
    let seen = 0;
    if (count < 4) {
      for (let p = start; p < end; p++) {
        const byte = from.getUint8(p);
        seen |= byte;
        to.setUint8(at++, byte);
      }
      return seen & 0x80;
    }
    const last = end - 4;
    for (let p = start; p < last; p += 4) {
      const word = from.getInt32(p, true);
      seen |= word;
      to.setInt32(at, word, true);
      at += 4;
    }
    // The last four bytes, which may overlap those before them.
    const word = from.getInt32(last, true);
    to.setInt32(this.length - 4, word, true);
    return (seen | word) & 0x80808080;
  }

  /** Text without its length; what is not UTF-8 becomes U+FFFD. */
  appendText(from: DataView, start: number, end: number): void {
    const at = this.length;
    if (this.appendBytes(from, start, end) === 0) return;
    if (isUtf8(new Uint8Array(from.buffer, from.byteOffset + start, end - start))) return;
    this.length = at;
    const repaired = repairedText(from, start, end);
    this.appendBytes(repaired, 0, repaired.byteLength);
  }

  /** A String as the Native format has it: its length in bytes, then its text, repaired as by `appendText`. */
  appendString(from: DataView, start: number, end: number): void {
    const at = this.length;
    const count = end - start;
    if (count < 0x80) {
      this.reserve(count + 1);
      this.view.setUint8(this.length++, count);
    } else {
      this.appendVarint(count);
    }
    if (this.appendBytes(from, start, end) === 0) return;
    if (isUtf8(new Uint8Array(from.buffer, from.byteOffset + start, count))) return;
    this.length = at;
    const repaired = repairedText(from, start, end);
    this.appendVarint(repaired.byteLength);
    this.appendBytes(repaired, 0, repaired.byteLength);
  }

  /** What is in use, as a view of this memory. */
  inUse(): Buffer {
    return Buffer.from(this.bytes.buffer, 0, this.length);
  }

  /** Empties it. Memory far beyond what was lately in use is given back. */
  reset(used = this.length): void {
    this.#recent = Math.max(used, this.#recent / 2);
    if (this.bytes.length > 4096 && this.bytes.length > this.#recent * 4) {
      this.#allocate(Math.ceil(this.#recent * 1.5));
    }
    this.length = 0;
  }

  #grow(needed: number): void {
    const old = this.bytes;
    this.#allocate(Math.max(needed, old.length * 2, 64));
    this.bytes.set(old);
  }

  #allocate(size: number): void {
    this.bytes = new Uint8Array(size);
    this.view = new DataView(this.bytes.buffer);
  }
}

/** The text of a range, with U+FFFD in the place of what is not UTF-8. */
export function repairedText(from: DataView, start: number, end: number): DataView {
  const text = repairing.decode(new Uint8Array(from.buffer, from.byteOffset + start, end - start));
  return textView(text);
}

/** The UTF-8 bytes of a text. Lone surrogates become U+FFFD. */
export function textView(text: string): DataView {
  const bytes = Buffer.from(text, "utf8");
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
