import type { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";

/** Appends a whole number from 0 to 2^53 in decimal digits. */
export function appendDigits(out: GrowingBytes, value: number): void {
  let width = 1;
  for (let power = 10; value >= power; power *= 10) width++;
  appendPadded(out, value, width);
}

/** Appends exactly `width` digits, zeros in front. */
function appendPadded(out: GrowingBytes, value: number, width: number): void {
  out.reserve(width);
  const { view } = out;
  let at = out.length + width;
  out.length = at;
  let rest = value;
  // Integer division is far cheaper on 32 bits.
  while (rest > 0x7fffffff) {
    const tenth = Math.floor(rest / 10);
    view.setUint8(--at, 0x30 + (rest - tenth * 10));
    rest = tenth;
  }
  const first = out.length - width;
  let small = rest | 0;
  while (at > first) {
    const tenth = (small / 10) | 0;
    view.setUint8(--at, 0x30 + (small - tenth * 10));
    small = tenth;
  }
}

/** Appends an unsigned 64-bit number, given in two halves, with all its digits. */
export function appendUint64(out: GrowingBytes, hi: number, lo: number): void {
  const high = hi >>> 0;
  if (high < 0x200000) {
    appendDigits(out, high * 0x100000000 + (lo >>> 0));
    return;
  }
  // Division by 10^9, sixteen bits at a time: each step stays below 2^46, so a double holds it exactly.
  let quotient = 0;
  let rest = 0;
  for (const limb of [high >>> 16, high & 0xffff, lo >>> 16, lo & 0xffff]) {
    const value = rest * 0x10000 + limb;
    const part = Math.floor(value / 1e9);
    quotient = quotient * 0x10000 + part;
    rest = value - part * 1e9;
  }
  appendDigits(out, quotient);
  appendPadded(out, rest, 9);
}

/** Appends a signed 64-bit number, given in two halves, with all its digits. */
export function appendInt64(out: GrowingBytes, hi: number, lo: number): void {
  if (hi >= 0) {
    appendUint64(out, hi, lo);
    return;
  }
  out.appendByte(0x2d);
  // The absolute value: complement and one, with its carry.
  const low = -lo | 0;
  appendUint64(out, low === 0 ? -hi | 0 : ~hi, low);
}

/** Appends the shortest decimal text that reads back as the same double; NaN, Infinity and -Infinity by their names. */
export function appendDouble(out: GrowingBytes, value: number): void {
  out.appendAscii(Object.is(value, -0) ? "-0" : String(value));
}
