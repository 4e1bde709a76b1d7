import { isNumberText, misfit, peek, quote, readNumberText, readText } from "./json-input.ts";
import type { JsonInput } from "./json-input.ts";

/** A 64-bit integer as two unsigned halves; a negative one is in two's complement. */
export interface Integer64 {
  high: number;
  low: number;
  negative: boolean;
}

const two32 = 0x1_0000_0000;

/** Splits `head` × 10⁹ + `tail` (both whole, `tail` < 10⁹, `head` ≤ 10¹¹) into halves; false where it is over 64 bits. */
function splitDigits(into: Integer64, head: number, tail: number): boolean {
  // head × 10⁹ has more bits than a double: it is multiplied in two parts of which each stays exact.
  const upper = Math.floor(head / 0x1_0000) * 1e9;
  const rest = (head % 0x1_0000) * 1e9 + tail;
  const lowSum = (upper % 0x1_0000) * 0x1_0000 + (rest % two32);
  const high = Math.floor(upper / 0x1_0000) + Math.floor(rest / two32) + Math.floor(lowSum / two32);
  into.low = lowSum % two32;
  into.high = high;
  return high < two32;
}

/** The same for unsigned text with a fraction or an exponent, such as `1.5e3`; false where it is not whole or over 64 bits. */
function splitText(into: Integer64, text: string): boolean {
  const [mantissa = "", exponent = "0"] = text.split(/[eE]/);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return splitDigits(into, 0, 0);
  const zeros = digits.length - significant.length - fraction.length + Number(exponent);
  if (zeros < 0 || significant.length + zeros > 20) return false;
  const all = significant + "0".repeat(zeros);
  return splitDigits(into, Number(all.slice(0, -9)), Number(all.slice(-9)));
}

/** Reads what is not plain digits: exponents, fractions, escapes. */
function readSlowly(input: JsonInput, into: Integer64): void {
  const start = input.at;
  const text = input.bytes[start] === quote ? readText(input) : readNumberText(input);
  if (!isNumberText(text)) throw misfit(start, "must be an integer");
  into.negative = text.startsWith("-");
  if (!splitText(into, into.negative ? text.slice(1) : text))
    throw misfit(start, "must be an integer of at most 64 bits");
}

/** Reads digits into `into` as a magnitude with a sign. */
function readMagnitude(input: JsonInput, into: Integer64): void {
  const first = peek(input);
  const bytes = input.bytes;
  const quoted = first === quote;
  let at = quoted ? input.at + 1 : input.at;
  into.negative = bytes[at] === 0x2d;
  if (into.negative) at++;
  const digitsAt = at;
  // The last nine digits are kept apart from those before them: either part fits a double exactly.
  let digit = bytes[at]! - 0x30;
  while (digit >= 0 && digit <= 9) digit = bytes[++at]! - 0x30;
  const count = at - digitsAt;
  const next = bytes[at];
  const plain = quoted ? next === quote : next !== 0x2e && next !== 0x65 && next !== 0x45;
  if (!plain || count === 0 || count > 20 || (count > 1 && bytes[digitsAt] === 0x30)) {
    const isNumber = first === 0x2d || (first >= 0x30 && first <= 0x39);
    if (!isNumber && !quoted) throw misfit(input.at, "must be an integer");
    readSlowly(input, into);
    return;
  }
  let head = 0;
  let tail = 0;
  const tailAt = at - 9;
  let i = digitsAt;
  for (; i < tailAt; i++) head = head * 10 + (bytes[i]! - 0x30);
  for (; i < at; i++) tail = tail * 10 + (bytes[i]! - 0x30);
  if (head === 0) {
    into.high = 0;
    into.low = tail;
  } else if (!splitDigits(into, head, tail)) {
    throw misfit(input.at, "must be an integer of at most 64 bits");
  }
  input.at = quoted ? at + 1 : at;
}

/**
 * Reads an integer, written as a number or as a string of one, into `into`: all 64 bits are kept. `signed` says
 * which range it must be in.
 */
export function readInteger64(input: JsonInput, into: Integer64, signed: boolean): void {
  peek(input);
  const start = input.at;
  readMagnitude(input, into);
  if (into.negative && (into.high !== 0 || into.low !== 0)) {
    if (!signed) throw misfit(start, "must not be negative");
    if (into.high > 0x8000_0000 || (into.high === 0x8000_0000 && into.low !== 0)) {
      throw misfit(start, "must be an integer of at most 64 bits");
    }
    into.low = -into.low >>> 0;
    into.high = (~into.high + (into.low === 0 ? 1 : 0)) >>> 0;
  } else {
    into.negative = false;
    if (signed && into.high > 0x7fff_ffff) throw misfit(start, "must be an integer of at most 64 bits with its sign");
  }
}

/** Reads an integer between `least` and `most`, both within the safe range. */
export function readInteger(input: JsonInput, into: Integer64, least: number, most: number): number {
  peek(input);
  const start = input.at;
  readInteger64(input, into, true);
  const value = into.negative ? -((~into.high >>> 0) * two32 + (~into.low >>> 0) + 1) : into.high * two32 + into.low;
  if (value < least || value > most) throw misfit(start, `must be an integer from ${least} to ${most}`);
  return value;
}
