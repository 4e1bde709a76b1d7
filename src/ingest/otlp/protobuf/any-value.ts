import type { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";
import { appendJsonString } from "./json-text.ts";
import { MalformedPayload } from "./malformed-payload.ts";
import { appendDouble, appendInt64 } from "./number-text.ts";
import type { Reader } from "./reader.ts";

/** How deep values may lie in values. */
const maxDepth = 32;

/** The fields of AnyValue, of which a value has one or none. */
export const valueKind = { none: 0, string: 1, bool: 2, int: 3, double: 4, array: 5, map: 6, bytes: 7 } as const;

/** The letter (an ASCII code) by which a value's type is stored; see `attribute_types` in `tables/spans.sql`. */
export const typeLetter = {
  string: 0x73,
  bool: 0x62,
  int: 0x69,
  double: 0x64,
  bytes: 0x79,
  map: 0x6d,
  none: 0x6e,
  /** An array of several types, of arrays, or of nothing. An array of one type has that type's letter in capitals. */
  array: 0x61,
} as const;

/**
 * Reads the AnyValue that ends at `end` and returns which field it has (`valueKind`). A string, array, map or bytes
 * is the range in the reader's `from` and `to`; of a double, `from` is where it lies; a bool or int is in `hi` and `lo`.
 */
export function readValue(r: Reader, end: number): number {
  let kind: number = valueKind.none;
  let from = 0;
  let to = 0;
  while (r.pos < end) {
    const tag = r.tag(end);
    switch (tag) {
      case 0x0a:
      case 0x2a:
      case 0x32:
      case 0x3a:
        r.pass(end);
        from = r.from;
        to = r.to;
        kind = tag >>> 3;
        break;
      case 0x10:
      case 0x18:
        r.varint64(end);
        kind = tag >>> 3;
        break;
      case 0x21:
        from = r.pos;
        r.double(end);
        kind = valueKind.double;
        break;
      default:
        r.skip(tag, end, 0b1111_1110);
    }
  }
  r.from = from;
  r.to = to;
  return kind;
}

/**
 * Appends the value that `readValue` has just read, as text: strings and numbers as they are, arrays and maps as JSON,
 * bytes in base64, none as nothing. Returns its `typeLetter`. The reader's position is not kept.
 */
export function appendValueText(r: Reader, kind: number, out: GrowingBytes): number {
  switch (kind) {
    case valueKind.string:
      out.appendText(r.view, r.from, r.to);
      return typeLetter.string;
    case valueKind.bool:
      out.appendAscii((r.hi | r.lo) === 0 ? "false" : "true");
      return typeLetter.bool;
    case valueKind.int:
      appendInt64(out, r.hi, r.lo);
      return typeLetter.int;
    case valueKind.double:
      appendDouble(out, r.view.getFloat64(r.from, true));
      return typeLetter.double;
    case valueKind.array:
      return appendArray(r, out, 1);
    case valueKind.map:
      appendMap(r, out, 1);
      return typeLetter.map;
    case valueKind.bytes:
      appendBase64(out, r);
      return typeLetter.bytes;
    default:
      return typeLetter.none;
  }
}

/** Appends a value inside an array or a map, as JSON, and returns its `typeLetter`. */
function appendNested(r: Reader, end: number, out: GrowingBytes, depth: number): number {
  const kind = readValue(r, end);
  switch (kind) {
    case valueKind.string:
      appendJsonString(out, r.view, r.from, r.to);
      return typeLetter.string;
    case valueKind.double: {
      const value = r.view.getFloat64(r.from, true);
      // JSON has no number for these three.
      if (Number.isFinite(value)) appendDouble(out, value);
      else out.appendAscii(`"${value}"`);
      return typeLetter.double;
    }
    case valueKind.array:
      return appendArray(r, out, depth + 1);
    case valueKind.map:
      appendMap(r, out, depth + 1);
      return typeLetter.map;
    case valueKind.bytes:
      out.appendByte(0x22);
      appendBase64(out, r);
      out.appendByte(0x22);
      return typeLetter.bytes;
    case valueKind.none:
      out.appendAscii("null");
      return typeLetter.none;
    default:
      return appendValueText(r, kind, out);
  }
}

/** Appends the ArrayValue in `from` and `to`. */
function appendArray(r: Reader, out: GrowingBytes, depth: number): number {
  checkDepth(depth);
  const end = r.to;
  r.pos = r.from;
  let letter = 0;
  out.appendByte(0x5b);
  while (r.pos < end) {
    const tag = r.tag(end);
    if (tag !== 0x0a) {
      r.skip(tag, end, 0b10);
      continue;
    }
    const after = r.enter(end);
    if (letter !== 0) out.appendByte(0x2c);
    const element = appendNested(r, after, out, depth);
    r.pos = after;
    if (letter === 0) letter = element;
    else if (letter !== element) letter = typeLetter.array;
  }
  out.appendByte(0x5d);
  const ofOneType = letter >= 0x61 && letter !== typeLetter.array;
  return ofOneType ? letter - 0x20 : typeLetter.array;
}

/** Appends the KeyValueList in `from` and `to` as an object. */
function appendMap(r: Reader, out: GrowingBytes, depth: number): void {
  checkDepth(depth);
  const end = r.to;
  r.pos = r.from;
  appendPairs(r, end, 0x0a, 0b10, out, depth);
}

/**
 * Appends as a JSON object the KeyValues that lie in a message under the tag `pairTag`, from the reader's position up
 * to `end`. A key that is there twice is there twice in the object.
 *
 * @param known all fields of the message, as in `Reader.skip`
 */
export function appendPairs(
  r: Reader,
  end: number,
  pairTag: number,
  known: number,
  out: GrowingBytes,
  depth: number,
): void {
  let separator = 0x7b;
  while (r.pos < end) {
    const tag = r.tag(end);
    if (tag !== pairTag) {
      r.skip(tag, end, known);
      continue;
    }
    const after = r.enter(end);
    const pair = readPair(r, after);
    out.appendByte(separator);
    separator = 0x2c;
    appendJsonString(out, r.view, pair.keyStart, pair.keyEnd);
    out.appendByte(0x3a);
    r.pos = pair.valueStart;
    appendNested(r, pair.valueEnd, out, depth);
    r.pos = after;
  }
  if (separator === 0x7b) out.appendByte(separator);
  out.appendByte(0x7d);
}

/** Where a KeyValue's parts lie. What is not there is an empty range. */
export interface Pair {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** Reads the KeyValue that ends at `end`. */
export function readPair(r: Reader, end: number): Pair {
  let keyStart = 0;
  let keyEnd = 0;
  let valueStart = 0;
  let valueEnd = 0;
  while (r.pos < end) {
    const tag = r.tag(end);
    if (tag === 0x0a) {
      r.pass(end);
      keyStart = r.from;
      keyEnd = r.to;
    } else if (tag === 0x12) {
      r.pass(end);
      valueStart = r.from;
      valueEnd = r.to;
    } else {
      r.skip(tag, end, 0b110);
    }
  }
  return { keyStart, keyEnd, valueStart, valueEnd };
}

function appendBase64(out: GrowingBytes, r: Reader): void {
  out.appendAscii(Buffer.from(r.view.buffer, r.view.byteOffset + r.from, r.to - r.from).toString("base64"));
}

function checkDepth(depth: number): void {
  if (depth > maxDepth) throw new MalformedPayload(`Values are nested more than ${maxDepth} deep.`);
}
