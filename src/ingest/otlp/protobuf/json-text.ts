import { isUtf8 } from "node:buffer";
import { type GrowingBytes, repairedText } from "../../../telemetry/blocks/growing-bytes.ts";

const hexDigits = "0123456789abcdef";
const quote = 0x22;
const backslash = 0x5c;

/** The letter behind the backslash, for the characters that have one. */
const shortEscapes: Readonly<Record<number, string>> = {
  0x08: "b",
  0x09: "t",
  0x0a: "n",
  0x0c: "f",
  0x0d: "r",
  [quote]: '"',
  [backslash]: "\\",
};

/** Appends a range of UTF-8 as a JSON string, quotes included. What is not UTF-8 becomes U+FFFD. */
export function appendJsonString(out: GrowingBytes, from: DataView, start: number, end: number): void {
  const at = out.length;
  out.appendByte(quote);
  if (
    appendEscaped(out, from, start, end) >= 0x80 &&
    !isUtf8(new Uint8Array(from.buffer, from.byteOffset + start, end - start))
  ) {
    out.length = at;
    const repaired = repairedText(from, start, end);
    out.appendByte(quote);
    appendEscaped(out, repaired, 0, repaired.byteLength);
  }
  out.appendByte(quote);
}

/** Appends bytes with what JSON wants escaped. Returns all of them in one "or". */
function appendEscaped(out: GrowingBytes, from: DataView, start: number, end: number): number {
  out.reserve(end - start);
  let { view } = out;
  let at = out.length;
  let seen = 0;
  for (let p = start; p < end; p++) {
    const byte = from.getUint8(p);
    if (byte >= 0x20 && byte !== quote && byte !== backslash) {
      seen |= byte;
      view.setUint8(at++, byte);
      continue;
    }
    out.length = at;
    const letter = shortEscapes[byte];
    out.appendAscii(letter === undefined ? `\\u00${hexDigits[byte >> 4]}${hexDigits[byte & 15]}` : `\\${letter}`);
    out.reserve(end - p);
    ({ view } = out);
    at = out.length;
  }
  out.length = at;
  return seen;
}

/** Appends bytes in lower-case hexadecimal. */
export function appendHex(out: GrowingBytes, from: DataView, start: number, end: number): void {
  out.reserve((end - start) * 2);
  for (let p = start; p < end; p++) {
    const byte = from.getUint8(p);
    out.view.setUint8(out.length++, hexDigits.charCodeAt(byte >> 4));
    out.view.setUint8(out.length++, hexDigits.charCodeAt(byte & 15));
  }
}
