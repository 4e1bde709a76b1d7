import { continuesNumber, isNumberText, misfit, quote, readNumberText, readText } from "./json-input.ts";
import type { JsonInput } from "./json-input.ts";

/** The powers of ten that a double holds exactly, as far as they are needed here. */
const powersOfTen = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);
const mostDigits = 15;

/**
 * The number at `input.at` if it is a short decimal such as `-12.375`, stepping over it; NaN where it is anything
 * else, and then nothing has moved. Up to 15 digits are exact in a double, and so is the power of ten that they are
 * divided by; one division of exact numbers is rounded right.
 */
function readShortDecimal(input: JsonInput): number {
  const { bytes } = input;
  let at = input.at;
  const negative = bytes[at] === 0x2d;
  if (negative) at++;
  const start = at;
  let digits = 0;
  let point = -1;
  for (; ; at++) {
    const digit = bytes[at]! - 0x30;
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
    else if (bytes[at] === 0x2e && point < 0) point = at;
    else break;
  }
  const whole = (point < 0 ? at : point) - start;
  const fraction = point < 0 ? 0 : at - point - 1;
  const wellFormed = whole > 0 && (whole === 1 || bytes[start] !== 0x30) && (point < 0 || fraction > 0);
  if (!wellFormed || whole + fraction > mostDigits || at >= bytes.length || continuesNumber(bytes[at]!))
    return Number.NaN;
  input.at = at;
  const value = digits / powersOfTen[fraction]!;
  return negative ? -value : value;
}

/** Reads a double from a number, from a string of one, or from one of ProtoJSON's words for what JSON cannot write. */
export function readDouble(input: JsonInput): number {
  const start = input.at;
  const first = input.bytes[start]!;
  const quoted = first === quote;
  if (!quoted && first !== 0x2d && (first < 0x30 || first > 0x39)) throw misfit(start, "must be a number");
  const short = quoted ? Number.NaN : readShortDecimal(input);
  if (!Number.isNaN(short)) return short;
  const text = quoted ? readText(input) : readNumberText(input);
  if (quoted && (text === "NaN" || text === "Infinity" || text === "-Infinity")) return Number(text);
  const value = isNumberText(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw misfit(start, "must be a number that a double can hold");
  return value;
}
