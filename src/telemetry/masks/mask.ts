import {
  asterisk,
  at,
  backslash,
  blank,
  closeBracket,
  closeParenthesis,
  colon,
  comma,
  counts,
  digit,
  digitsIn,
  dot,
  equals,
  exclamation,
  greater,
  hexadecimal,
  hexDigitsIn,
  hyphen,
  joiner,
  kinds,
  less,
  letter,
  lettersIn,
  links,
  mark,
  openBracket,
  openParenthesis,
  question,
  slash,
  space,
  tilde,
  underscore,
} from "./characters.ts";
import { isBytes, isDateWord, isHost, isNameWithDigits, longestPacked, unitEnd } from "./known-words.ts";

/** Bytes of a text that are looked at. What follows them is not part of its pattern. */
export const maskedBytes = 1024;
/** Room for the masked form of so many bytes: a digit becomes three bytes. */
export const maskRoom = 3 * maskedBytes + 16;

/** A word that is cut at `maskedBytes` is left out, unless it is longer than this. */
const longestWord = 128;
const mostHexGroups = 24;

/**
 * Masks what varies from one log line to the next: numbers with their units, ids, addresses, hosts, paths, dates, and
 * lists of them. What is left is the same for all lines that one statement of a program writes, give or take a word
 * that only a comparison of many lines can find. One pass without state, since it runs for each record that is stored.
 *
 * Writes the masked form of UTF-8 text to `out`, with `<*>` for what varies and one space for any white space, and
 * returns its length.
 *
 * @param out at least `maskRoom` bytes
 */
export function mask(from: Uint8Array, start: number, end: number, out: Uint8Array): number {
  const stop = lookUntil(from, start, end);
  let length = 0;
  /** White space waits for what comes after it. */
  let hasSpace = false;
  /** Where the last `<*>` ended, while nothing but links came after it; else -1. */
  let variable = -1;
  /** Where a count of bytes ended, which may come again in brackets: `1033 bytes (1.00 KB)`. */
  let measured = -1;
  /** Where the last prefix that was kept stands in the text: `blk_1, blk_2` is a list as well. */
  let kept = start;
  let pos = start;
  while (pos < stop) {
    const byte = from[pos]!;
    const kind = kinds[byte]!;
    if (kind === space) {
      hasSpace = length > 0;
      pos += 1;
      continue;
    }
    if (kind === mark) {
      if (byte === openParenthesis && measured === length) {
        const after = measureEnd(from, pos + 1, stop);
        if (after > 0 && after < stop && from[after] === closeParenthesis) {
          pos = after + 1;
          continue;
        }
      }
      if (byte === less) {
        // "<1 sec" is less than a second; "<0>" is a number in brackets.
        const after = measureEnd(from, pos + 1, stop);
        if (after > 0 && !(after < stop && from[after] === greater)) {
          pos += 1;
          continue;
        }
      }
      // "12:30" is one, "order 12: 30 ms" is not.
      if (links[byte] === 0 || (byte === colon && pos + 1 < stop && kinds[from[pos + 1]!] === space)) variable = -1;
      if (!hasSpace && closesNothing(byte, out, length)) length = writeVariable(out, length);
      if (hasSpace) out[length++] = blank;
      hasSpace = false;
      out[length++] = byte;
      pos += 1;
      continue;
    }

    // A word: its end, and what it is made of.
    let to = pos;
    let counted = 0;
    let slashes = 0;
    let dots = 0;
    let isLink = true;
    let hasBackslash = false;
    let hasAt = false;
    /** Where letters before an underscore end, if the word begins with such. */
    let prefix = 0;
    for (; to < stop; to++) {
      const c = from[to]!;
      const k = kinds[c]!;
      if (k < joiner) break;
      if (k === joiner) {
        if (c === dot) {
          // Dots in a row ("enable......0") are a word of their own.
          if (to + 1 < stop && from[to + 1] === dot) break;
          dots += 1;
        } else if (c === slash) slashes += 1;
        else if (c === backslash) hasBackslash = true;
        else if (c === underscore) {
          if (prefix === 0 && to - pos > 2 && lettersIn(counted) === to - pos) prefix = to + 1;
        } else if (c === at) hasAt = to > pos;
        if (links[c] === 0) isLink = false;
      } else counted = (counted + counts[c]!) | 0;
    }
    if (to === pos) while (to < stop && from[to] === dot) to += 1;
    else {
      // What ends a sentence is not the word's.
      while (to > pos + 1 && isSentenceEnd(from[to - 1]!)) {
        if (from[to - 1] === dot) dots -= 1;
        to -= 1;
      }
    }
    const letters = lettersIn(counted);
    const digits = digitsIn(counted);
    const hex = hexDigitsIn(counted);
    const size = to - pos;
    const next = to < stop ? from[to]! : blank;

    let isVariable = false;
    /** Up to here the word is shown. */
    let keep = pos;
    if (next === colon && letters === size && isAddressAfter(from, to, stop, size)) {
      // A URL keeps its scheme.
      if (size > 1) keep = to + 3;
      to = addressEnd(from, to + 1, stop);
      isVariable = true;
    } else if (next === colon && hex === size && size <= 4 && hexGroupsEnd(from, pos, stop) > to) {
      to = hexGroupsEnd(from, pos, stop);
      isVariable = true;
    } else if (digits > 0) {
      isVariable = !isNameWithDigits(from, pos, to, stop, digits);
      if (isVariable && prefix > 0) keep = prefix;
    } else if (next === openBracket && from[to - 1] === hyphen && rangesEnd(from, to + 1, stop) > 0) {
      to = rangesEnd(from, to + 1, stop);
      isVariable = true;
    } else if (letters > 0) {
      isVariable =
        (letters === size && size <= longestPacked && isDateWord(from, pos, to, stop, variable >= 0)) ||
        (hasAt && from[to - 1] !== at) ||
        hasBackslash ||
        slashes > 1 ||
        (slashes === 1 && (byte === slash || byte === dot || byte === tilde)) ||
        (hex === size && size >= 8) ||
        (dots > 0 && slashes === 0 && isHost(from, pos, to, dots));
    }

    if (!isVariable) {
      if (hasSpace) out[length++] = blank;
      hasSpace = false;
      if (letters > 0 || digits > 0 || !isLink) variable = -1;
      for (let p = pos; p < to; p++) out[length++] = from[p]!;
      if (letters === 5 && size === 5 && isBytes(from, pos, to)) measured = length;
      pos = to;
      continue;
    }
    if (keep > pos && !(variable >= 0 && isSame(from, pos, keep, kept))) {
      if (hasSpace) out[length++] = blank;
      hasSpace = false;
      variable = -1;
      for (let p = pos; p < keep; p++) out[length++] = from[p]!;
      kept = pos;
    }
    if (variable >= 0) length = variable;
    else {
      if (hasSpace) out[length++] = blank;
      length = writeVariable(out, length);
    }
    hasSpace = false;
    variable = length;
    if (letters === 0) {
      const after = unitEnd(from, to, stop);
      if (after > to) measured = length;
      to = after;
    }
    pos = to;
  }
  return length;
}

/** The masked form of a text, as `mask` writes it. */
export function maskText(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const out = new Uint8Array(maskRoom);
  return Buffer.from(out.buffer, 0, mask(bytes, 0, bytes.length, out)).toString();
}

/** The end of what is looked at: not within a character, nor within a word. */
function lookUntil(from: Uint8Array, start: number, end: number): number {
  let stop = start + maskedBytes;
  if (stop >= end) return end;
  for (let p = stop; p > stop - longestWord; p--) if (kinds[from[p]!] === space) return p;
  while ((from[stop]! & 0xc0) === 0x80 && stop > start) stop -= 1;
  return stop;
}

function writeVariable(out: Uint8Array, length: number): number {
  out[length] = less;
  out[length + 1] = asterisk;
  out[length + 2] = greater;
  return length + 3;
}

/** Whether a bracket closes one that holds nothing this time: ` ()` or `=[]`, which are no calls. */
function closesNothing(byte: number, out: Uint8Array, length: number): boolean {
  if (byte !== closeParenthesis && byte !== closeBracket) return false;
  if (length < 2 || out[length - 1] !== (byte === closeBracket ? openBracket : openParenthesis)) return false;
  const before = out[length - 2];
  return before === blank || before === equals || before === colon;
}

function isSentenceEnd(byte: number): boolean {
  return byte === dot || byte === exclamation || byte === question;
}

/** Whether the bytes of a range stand at `other` too. */
function isSame(from: Uint8Array, start: number, end: number, other: number): boolean {
  for (let p = start; p < end; p++) if (from[p] !== from[other + p - start]) return false;
  return true;
}

/** The end of a number and of its unit, if it has one; 0 where there is no number. */
function measureEnd(from: Uint8Array, start: number, stop: number): number {
  let p = start;
  while (p < stop && (kinds[from[p]!] === digit || (from[p] === dot && p > start))) p += 1;
  return p === start ? 0 : unitEnd(from, p, stop);
}

/** The end of ranges of numbers in brackets, as in `node-[1-4,7]`; 0 where they are none. */
function rangesEnd(from: Uint8Array, start: number, stop: number): number {
  let p = start;
  while (
    p < stop &&
    (kinds[from[p]!] === digit || from[p] === hyphen || from[p] === comma || kinds[from[p]!] === space)
  )
    p += 1;
  return p > start && p < stop && from[p] === closeBracket ? p + 1 : 0;
}

/** Whether a colon makes a URL's scheme or a drive's letter of the letters before it. */
function isAddressAfter(from: Uint8Array, colonAt: number, stop: number, letters: number): boolean {
  if (colonAt + 2 >= stop) return false;
  const first = from[colonAt + 1];
  const second = from[colonAt + 2];
  return letters === 1 ? first === backslash || first === slash : first === slash && second === slash;
}

/** The end of a URL or path: white space, or what ends a bracket or a quotation. */
function addressEnd(from: Uint8Array, start: number, stop: number): number {
  let p = start;
  while (p < stop) {
    const kind = kinds[from[p]!]!;
    if (kind === space || (kind === mark && from[p] !== colon && from[p] !== equals)) break;
    p += 1;
  }
  while (p > start + 1 && (isSentenceEnd(from[p - 1]!) || from[p - 1] === colon)) p -= 1;
  return p;
}

/** The end of hexadecimal digits in groups between two colons or more (IPv6, MAC, a time); 0 where they are none. */
function hexGroupsEnd(from: Uint8Array, start: number, stop: number): number {
  let p = start;
  let colons = 0;
  let digits = 0;
  let group = 0;
  for (; p < stop; p++) {
    const byte = from[p]!;
    if (byte === colon) {
      if (++colons > mostHexGroups) return 0;
      group = 0;
    } else if (hexadecimal[byte] === 1) {
      if (++group > 4) return 0;
      if (kinds[byte] === digit) digits += 1;
    } else break;
  }
  if (colons < 2 || digits === 0 || (p < stop && kinds[from[p]!]! >= letter)) return 0;
  return from[p - 1] === colon ? p - 1 : p;
}
