import { readDouble } from "./double.ts";
import { readInteger, readInteger64 } from "./integer.ts";
import type { Integer64 } from "./integer.ts";
import { isNumberText, misfit, peek, quote, readText, scanString, skipWord } from "./json-input.ts";
import type { JsonInput } from "./json-input.ts";
import type { Field } from "./message-type.ts";
import { reserve, writeFixed32, writeVarint32, writeVarint64 } from "../protobuf-output.ts";
import type { ProtobufOutput } from "../protobuf-output.ts";

/** One pass from JSON to protobuf: where it reads, where it writes, and room for the integer at hand. */
export interface Passage {
  readonly input: JsonInput;
  readonly out: ProtobufOutput;
  readonly integer: Integer64;
}

/** Below this a loop copies faster than a call into the runtime. */
const shortCopy = 24;

function copyBytes(out: ProtobufOutput, from: Buffer, start: number, end: number): void {
  const count = end - start;
  const bytes = out.bytes;
  let at = out.length;
  out.length = at + count;
  if (count > shortCopy) from.copy(bytes, at, start, end);
  else for (let i = start; i < end; i++) bytes[at++] = from[i]!;
}

/** Writes a string with its length. Lone surrogates become U+FFFD; bytes that are not UTF-8 pass as they are. */
function writeString({ input, out }: Passage): void {
  const start = input.at;
  if (input.bytes[start] !== quote) throw misfit(start, "must be a string");
  const end = scanString(input);
  if (end >= 0) {
    const count = end - start - 1;
    reserve(out, count + 5);
    writeVarint32(out, count);
    copyBytes(out, input.bytes, start + 1, end);
    return;
  }
  input.at = start;
  const text = readText(input);
  const count = Buffer.byteLength(text);
  reserve(out, count + 5);
  writeVarint32(out, count);
  out.length += out.bytes.write(text, out.length);
}

/** Value of a hex digit by its byte; 16 for all other bytes. */
const hexDigits = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? 16 : digit;
});

/**
 * Writes an id from hex text. What is not hex becomes one zero byte: an id of a wrong length, so that the one
 * span or record that it belongs to is rejected rather than the whole payload.
 */
function writeId({ input, out }: Passage): void {
  const start = input.at;
  if (input.bytes[start] !== quote) throw misfit(start, "must be a string of hex digits");
  const end = scanString(input);
  let from = input.bytes;
  let digitsAt = start + 1;
  let digitsEnd = end;
  if (end < 0) {
    input.at = start;
    from = Buffer.from(readText(input));
    digitsAt = 0;
    digitsEnd = from.length;
  }
  const count = (digitsEnd - digitsAt) >> 1;
  reserve(out, count + 5);
  const lengthAt = out.length;
  writeVarint32(out, count);
  const bytes = out.bytes;
  let at = out.length;
  let wrong = (digitsEnd - digitsAt) & 1;
  for (let i = digitsAt; i + 1 < digitsEnd; i += 2) {
    const high = hexDigits[from[i]!]!;
    const low = hexDigits[from[i + 1]!]!;
    wrong |= (high | low) >> 4;
    bytes[at++] = (high << 4) | low;
  }
  if (wrong !== 0) {
    bytes[lengthAt] = 1;
    bytes[lengthAt + 1] = 0;
    at = lengthAt + 2;
  }
  out.length = at;
}

const base64Pattern = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Writes bytes from base64 of either alphabet, padded or not. */
function writeBytes({ input, out }: Passage): void {
  const start = input.at;
  if (input.bytes[start] !== quote) throw misfit(start, "must be a string of base64");
  const text = readText(input);
  if (!base64Pattern.test(text) || text.replace(/=+$/, "").length % 4 === 1) {
    throw misfit(start, "must be a string of base64");
  }
  const content = Buffer.from(text, "base64");
  reserve(out, content.length + 5);
  writeVarint32(out, content.length);
  copyBytes(out, content, 0, content.length);
}

function writeBool({ input, out }: Passage): void {
  const first = input.bytes[input.at]!;
  if (first !== 0x74 && first !== 0x66) throw misfit(input.at, "must be true or false");
  skipWord(input, first);
  reserve(out, 1);
  out.bytes[out.length++] = first === 0x74 ? 1 : 0;
}

function writeDouble({ input, out }: Passage): void {
  const value = readDouble(input);
  reserve(out, 8);
  out.length = out.bytes.writeDoubleLE(value, out.length);
}

/** Reads an enum's number, known or not; or one of its names. */
function readEnum(input: JsonInput, integer: Integer64, names: readonly string[]): number {
  const start = input.at;
  if (input.bytes[start] === quote) {
    const text = readText(input);
    const value = names.indexOf(text);
    if (value >= 0) return value;
    if (!isNumberText(text)) throw misfit(start, `must be an integer or a name such as ${names[1]}`);
    input.at = start;
  }
  return readInteger(input, integer, -0x8000_0000, 0x7fff_ffff);
}

function writeEnum({ input, out, integer }: Passage, names: readonly string[]): void {
  const value = readEnum(input, integer, names);
  reserve(out, 10);
  writeVarint64(out, value < 0 ? 0xffff_ffff : 0, value >>> 0);
}

/** Writes the scalar that comes next, without its tag. */
export function writeScalar(passage: Passage, field: Field): void {
  const { input, out, integer } = passage;
  peek(input);
  switch (field.kind) {
    case "string":
      return writeString(passage);
    case "id":
      return writeId(passage);
    case "bytes":
      return writeBytes(passage);
    case "bool":
      return writeBool(passage);
    case "double":
      return writeDouble(passage);
    case "enum":
      return writeEnum(passage, field.names);
    case "fixed64":
    case "sfixed64":
      readInteger64(input, integer, field.kind === "sfixed64");
      reserve(out, 8);
      writeFixed32(out, integer.low);
      return writeFixed32(out, integer.high);
    case "int64":
    case "uint64":
      readInteger64(input, integer, field.kind === "int64");
      reserve(out, 10);
      return writeVarint64(out, integer.high, integer.low);
    case "uint32":
      reserve(out, 5);
      return writeVarint32(out, readInteger(input, integer, 0, 0xffff_ffff));
    case "fixed32":
      reserve(out, 4);
      return writeFixed32(out, readInteger(input, integer, 0, 0xffff_ffff));
    case "sint32": {
      const value = readInteger(input, integer, -0x8000_0000, 0x7fff_ffff);
      reserve(out, 5);
      return writeVarint32(out, ((value << 1) ^ (value >> 31)) >>> 0);
    }
    case "message":
      throw new Error("a message is no scalar");
  }
}
