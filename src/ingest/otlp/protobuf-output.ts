/** A growing buffer of protobuf. `bytes` past `length` is free room; writers ask for room before they write. */
export interface ProtobufOutput {
  bytes: Buffer;
  length: number;
}

export function createOutput(room: number): ProtobufOutput {
  return { bytes: Buffer.allocUnsafe(Math.max(room, 256)), length: 0 };
}

/** Makes sure that `count` more bytes fit. */
export function reserve(out: ProtobufOutput, count: number): void {
  const wanted = out.length + count;
  if (wanted <= out.bytes.length) return;
  const grown = Buffer.allocUnsafe(Math.max(wanted, Math.ceil(out.bytes.length * 1.5)));
  out.bytes.copy(grown, 0, 0, out.length);
  out.bytes = grown;
}

/** Writes an unsigned 32-bit varint. The caller has reserved five bytes. */
export function writeVarint32(out: ProtobufOutput, value: number): void {
  const bytes = out.bytes;
  let at = out.length;
  while (value > 127) {
    bytes[at++] = (value & 127) | 128;
    value >>>= 7;
  }
  bytes[at++] = value;
  out.length = at;
}

/** Writes a 64-bit varint from its halves. The caller has reserved ten bytes. */
export function writeVarint64(out: ProtobufOutput, high: number, low: number): void {
  const bytes = out.bytes;
  let at = out.length;
  while (high !== 0) {
    bytes[at++] = (low & 127) | 128;
    low = ((low >>> 7) | (high << 25)) >>> 0;
    high >>>= 7;
  }
  out.length = at;
  writeVarint32(out, low);
}

/** Writes 32 bits, little end first. The caller has reserved four bytes. */
export function writeFixed32(out: ProtobufOutput, value: number): void {
  const bytes = out.bytes;
  const at = out.length;
  bytes[at] = value & 255;
  bytes[at + 1] = (value >>> 8) & 255;
  bytes[at + 2] = (value >>> 16) & 255;
  bytes[at + 3] = value >>> 24;
  out.length = at + 4;
}

/** Starts something whose length is not known yet; `endSized` takes what this returns. */
export function beginSized(out: ProtobufOutput): number {
  reserve(out, 1);
  return out.length++;
}

/**
 * Fills in the length of what was written since `beginSized`. One byte was left for it; where it needs more, the
 * content moves: a short memory move costs less than measuring everything beforehand.
 */
export function endSized(out: ProtobufOutput, start: number): void {
  const size = out.length - start - 1;
  if (size < 128) {
    out.bytes[start] = size;
    return;
  }
  const extra = size < 0x4000 ? 1 : size < 0x20_0000 ? 2 : size < 0x1000_0000 ? 3 : 4;
  reserve(out, extra);
  out.bytes.copyWithin(start + 1 + extra, start + 1, out.length);
  const end = out.length + extra;
  out.length = start;
  writeVarint32(out, size);
  out.length = end;
}

/** Writes a string field whose number is below 16. */
export function writeStringField(out: ProtobufOutput, number: number, text: string): void {
  const content = Buffer.from(text);
  reserve(out, content.length + 6);
  writeVarint32(out, (number << 3) | 2);
  writeVarint32(out, content.length);
  out.length += content.copy(out.bytes, out.length);
}

/** Writes a varint field of up to 32 bits whose number is below 16. */
export function writeVarintField(out: ProtobufOutput, number: number, value: number): void {
  reserve(out, 6);
  writeVarint32(out, number << 3);
  writeVarint32(out, value);
}

/** Writes a message field whose number is below 16; `write` writes its content. */
export function writeMessageField(out: ProtobufOutput, number: number, write: () => void): void {
  reserve(out, 1);
  writeVarint32(out, (number << 3) | 2);
  const start = beginSized(out);
  write();
  endSized(out, start);
}

/** What was written. */
export function written(out: ProtobufOutput): Buffer {
  return out.bytes.subarray(0, out.length);
}
