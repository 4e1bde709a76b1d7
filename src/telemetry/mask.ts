/**
 * Masks what varies from one log line to the next: numbers, ids, addresses, times, sizes, paths, hosts. What is left
 * is the same for all lines that one statement of a program writes, give or take a word, which is what mining
 * patterns starts from. One pass over the bytes, without state, since it runs for each record that is stored.
 */

/** Bytes of a text that are looked at; what follows them is not part of a pattern. */
export const maskedBytes = 1024;

/** Room that the masked form of `maskedBytes` may take: a digit becomes three bytes. */
export const maskRoom = 3 * maskedBytes + 16;

const space = 1;
/** Ends a word and is shown. */
const mark = 2;
/** What a word is made of: `-`, `.`, `/` and so on, letters, digits. */
const joiner = 3;
const letter = 4;
const digit = 5;

const kinds = new Uint8Array(256).fill(joiner);
const hexadecimal = new Uint8Array(256);
/** Between two variables these make a list, a range or an address of them, which is one variable. */
const links = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  if (byte <= 0x20 || byte === 0x7f) kinds[byte] = space;
  else if (byte >= 0x80) kinds[byte] = letter;
}
for (const c of "=:,;()[]{}<>\"'|`") kinds[c.charCodeAt(0)] = mark;
for (const c of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") kinds[c.charCodeAt(0)] = letter;
for (const c of "0123456789") kinds[c.charCodeAt(0)] = digit;
for (const c of "0123456789abcdefABCDEF") hexadecimal[c.charCodeAt(0)] = 1;
for (const c of ",:;|-./+*#~") links[c.charCodeAt(0)] = 1;

/** Letters of a word in a number, five bits each and in any case, exact up to ten of them. */
function pack(word: string): number {
  let packed = 0;
  for (const c of word) packed = packed * 32 + (c.charCodeAt(0) & 31);
  return packed;
}
const packAll = (words: string) => new Set(words.split(" ").map(pack));

/** Units that change with the size of what is measured. Those written out (`seconds`, `bytes`) mostly do not. */
const units = packAll("ns us ms msec s sec secs m min mins h hr hrs d b kb mb gb tb kib mib gib tib k");
const bytesWord = pack("bytes");
/** What stands beside the numbers of a date. */
const months = packAll(
  "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september " +
    "october november december",
);
const weekdays = packAll("mon tue tues wed thu thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday");
const zones = packAll("utc gmt z am pm pst pdt mst mdt cst cdt est edt wet cet cest eet eest bst ist jst");
/** What host names end with; two letters (`.de`) do as well where there are three parts or more. */
const hostEnds = packAll("com net org edu gov mil int info local internal lan arpa");
/** What names of classes and packages begin with. */
const packageStarts = packAll("com net org edu gov io android java javax sun scala system");
const longestPacked = 10;
const longestKey = 24;
const longestWord = 128;

const dot = 0x2e;
const slash = 0x2f;
const backslash = 0x5c;
const colon = 0x3a;
const underscore = 0x5f;
const dollar = 0x24;
const equals = 0x3d;
const less = 0x3c;
const greater = 0x3e;
const open = 0x28;
const close = 0x29;

/**
 * Writes the masked form of UTF-8 text to `out`: `<*>` for what varies, one space for any white space. Returns its
 * length.
 *
 * @param out at least `maskRoom` bytes
 */
export function mask(from: Uint8Array, start: number, end: number, out: Uint8Array): number {
  const stop = lookUntil(from, start, end);
  let length = 0;
  let blank = false;
  /** Where the last `<*>` ended, while nothing but links came after it; else -1. */
  let variable = -1;
  /** Where a count of bytes ended, which may come again in brackets: `1033 bytes (1.00 KB)`. */
  let counted = -1;
  /** Where the last prefix that was kept stands in the text: `blk_1, blk_2` is a list as well. */
  let kept = start;
  let at = start;
  while (at < stop) {
    const byte = from[at]!;
    const kind = kinds[byte]!;
    if (kind === space) {
      blank = length > 0;
      at += 1;
      continue;
    }
    if (kind === mark) {
      if (byte === open && counted === length) {
        const after = measure(from, at + 1, stop);
        if (after !== 0 && from[after] === close && after < stop) {
          at = after + 1;
          continue;
        }
      }
      if (byte === less) {
        // "<1 sec" is less than a second; "<0>" is a number in brackets.
        const after = measure(from, at + 1, stop);
        if (after !== 0 && !(after < stop && from[after] === greater)) {
          at += 1;
          continue;
        }
      }
      if (links[byte] === 0) variable = -1;
      // "()" and "[]", where they are not a call, have no value this time.
      if (!blank && (byte === close || byte === 0x5d) && length > 1 && out[length - 1] === byte - (byte === close ? 1 : 2) && isBeforeValue(out[length - 2]!)) {
        length = writeVariable(out, length);
      }
      if (blank) out[length++] = 0x20;
      blank = false;
      out[length++] = byte;
      at += 1;
      continue;
    }

    // A word: its end, and what it is made of.
    let to = at;
    let letters = 0;
    let digits = 0;
    let slashes = 0;
    let dots = 0;
    let hex = 0;
    let isLinked = true;
    let hasBackslash = false;
    let isAddress = false;
    /** Where the word's first part ends, if that is letters before an underscore. */
    let prefix = 0;
    for (; to < stop; to++) {
      const c = from[to]!;
      const k = kinds[c]!;
      if (k < joiner) break;
      hex += hexadecimal[c]!;
      if (k === digit) digits += 1;
      else if (k === letter) letters += 1;
      else {
        if (links[c] === 0) isLinked = false;
        if (c === dot) {
          // A leader of dots ("enable......0") separates.
          if (to + 1 < stop && from[to + 1] === dot && to > at) break;
          dots += 1;
        } else if (c === slash) slashes += 1;
        else if (c === backslash) hasBackslash = true;
        else if (c === underscore && prefix === 0 && digits === 0 && letters === to - at && letters > 2) prefix = to + 1;
        else if (c === 0x40 && to > at) isAddress = true;
      }
    }
    if (from[at] === dot && to > at + 1 && from[at + 1] === dot) {
      to = at + 1;
      while (to < stop && from[to] === dot) to += 1;
      letters = digits = slashes = 0;
      isAddress = hasBackslash = false;
      isLinked = true;
    } else {
      // A sentence's end is not the word's.
      while (to > at + 1 && isSentenceEnd(from[to - 1]!)) {
        if (from[to - 1] === dot) dots -= 1;
        to -= 1;
      }
    }
    const size = to - at;

    let isVariable = false;
    let keep = at;
    if (from[to] === colon && to + 2 < stop && letters === size && (from[to + 1] === backslash || (from[to + 1] === slash && (size === 1 || from[to + 2] === slash)))) {
      // A URL keeps its scheme; a path on a drive keeps nothing.
      if (size > 1) keep = to + 3;
      to = addressEnd(from, to + 1, stop);
      isVariable = true;
    } else if (digits > 0) {
      isVariable = !isWord(from, at, to, stop, digits);
      if (isVariable && prefix !== 0) keep = prefix;
      if (isVariable && hex === size && size <= 4 && from[to] === colon) to = colonHexEnd(from, at, to, stop);
    } else if (hex === size && size <= 4 && from[to] === colon && colonHexEnd(from, at, to, stop) !== to) {
      to = colonHexEnd(from, at, to, stop);
      isVariable = true;
    } else if (letters > 0) {
      isVariable =
        (letters === size && size <= longestPacked && isDateWord(from, at, to, stop, variable >= 0)) ||
        (isAddress && from[to - 1] !== 0x40) ||
        hasBackslash ||
        slashes > 1 ||
        (slashes === 1 && (from[at] === slash || from[at] === dot || from[at] === 0x7e)) ||
        (hex === size && size >= 8) ||
        (dots > 0 && slashes === 0 && isHost(from, at, to, dots));
    }

    if (!isVariable) {
      if (blank) out[length++] = 0x20;
      blank = false;
      if (letters > 0 || !isLinked) variable = -1;
      for (let p = at; p < to; p++) out[length++] = from[p]!;
      if (letters === 5 && size === 5 && packed(from, at, to) === bytesWord) counted = length;
      at = to;
      continue;
    }
    if (keep > at && !(variable >= 0 && isSame(from, at, keep, kept))) {
      if (blank) out[length++] = 0x20;
      blank = false;
      variable = -1;
      for (let p = at; p < keep; p++) out[length++] = from[p]!;
      kept = at;
    }
    if (variable >= 0) length = variable;
    else {
      if (blank) out[length++] = 0x20;
      length = writeVariable(out, length);
    }
    blank = false;
    variable = length;
    if (letters === 0) {
      const after = unitEnd(from, to, stop);
      if (after !== to) counted = length;
      to = after;
    }
    at = to;
  }
  return length;
}

/** The masked form of a text, as `mask` writes it. */
export function maskText(text: string): string {
  const bytes = Buffer.from(text);
  const out = new Uint8Array(maskRoom);
  return Buffer.from(out.buffer, 0, mask(bytes, 0, bytes.length, out)).toString();
}

/** The end of what is looked at: not within a character, nor within a word unless it is a very long one. */
function lookUntil(from: Uint8Array, start: number, end: number): number {
  let stop = start + maskedBytes;
  if (stop >= end) return end;
  while (stop > start && (from[stop]! & 0xc0) === 0x80) stop -= 1;
  for (let at = stop; at > stop - longestWord; at--) if (kinds[from[at]!] === space) return at;
  return stop;
}

/** Whether a word with digits is one of a few all the same: a key (`r24=`), or a name such as `log4j` and `jk2_init`. */
function isWord(from: Uint8Array, at: number, to: number, stop: number, digits: number): boolean {
  if (to - at > longestKey || kinds[from[at]!] !== letter) return false;
  let first = -1;
  let last = -1;
  let hex = 0;
  for (let p = at; p < to; p++) {
    const c = from[p]!;
    hex += hexadecimal[c]!;
    if (kinds[c] === digit) {
      if (first < 0) first = p;
      last = p;
    } else if (kinds[c] === joiner && c !== underscore && c !== dollar) return false;
  }
  if (to < stop && from[to] === equals) return true;
  return hex < to - at && digits <= 2 && last - first === digits - 1 && first - at >= 2 && to - last > 2;
}

/** Whether a word is the day, the month or the zone of a date that is written out. */
function isDateWord(from: Uint8Array, at: number, to: number, stop: number, follows: boolean): boolean {
  const word = packed(from, at, to);
  if (follows && zones.has(word)) return true;
  const isMonth = months.has(word);
  if (!isMonth && !weekdays.has(word)) return false;
  if (follows && isMonth) return true;
  let next = to;
  while (next < stop && (kinds[from[next]!] === space || from[next] === 0x2c)) next += 1;
  if (next === to || next === stop) return false;
  if (kinds[from[next]!] === digit) return true;
  let end = next;
  while (end < stop && kinds[from[end]!] === letter && end - next <= longestPacked) end += 1;
  return !isMonth && months.has(packed(from, next, end));
}

/** Whether the bytes of a range stand at `other` too. */
function isSame(from: Uint8Array, start: number, end: number, other: number): boolean {
  for (let at = start; at < end; at++) if (from[at] !== from[other + at - start]) return false;
  return true;
}

function writeVariable(out: Uint8Array, length: number): number {
  out[length] = less;
  out[length + 1] = 0x2a;
  out[length + 2] = greater;
  return length + 3;
}

function isBeforeValue(byte: number): boolean {
  return byte === 0x20 || byte === equals || byte === colon;
}

function isSentenceEnd(byte: number): boolean {
  return byte === dot || byte === 0x21 || byte === 0x3f;
}

/** The end of a number with or without its unit, or 0. */
function measure(from: Uint8Array, start: number, stop: number): number {
  let at = start;
  while (at < stop && (kinds[from[at]!] === digit || from[at] === dot)) at += 1;
  if (at === start || kinds[from[start]!] !== digit) return 0;
  return unitEnd(from, at, stop);
}

/** The end of a unit that follows, after a space at the most; `start` where there is none. */
function unitEnd(from: Uint8Array, start: number, stop: number): number {
  const first = start < stop && from[start] === 0x20 ? start + 1 : start;
  let to = first;
  while (to < stop && kinds[from[to]!] === letter) to += 1;
  if (to === first || to - first > 4 || (to < stop && kinds[from[to]!]! >= joiner && !isSentenceEnd(from[to]!))) return start;
  return units.has(packed(from, first, to)) ? to : start;
}

/** The end of groups of hexadecimal digits between colons, of which there are two or more (IPv6, MAC, times); else `to`. */
function colonHexEnd(from: Uint8Array, start: number, to: number, stop: number): number {
  let at = start;
  let colons = 0;
  let digits = 0;
  let group = 0;
  for (; at < stop; at++) {
    const c = from[at]!;
    if (c === colon) {
      colons += 1;
      group = 0;
    } else if (hexadecimal[c] === 1) {
      if (++group > 4) return to;
      if (kinds[c] === digit) digits += 1;
    } else break;
  }
  if (colons < 2 || digits === 0 || (at < stop && kinds[from[at]!]! >= letter)) return to;
  return from[at - 1] === colon ? at - 1 : at;
}

/** The end of a URL or path: a space or what brackets and quotes end. */
function addressEnd(from: Uint8Array, start: number, stop: number): number {
  let at = start;
  while (at < stop) {
    const c = from[at]!;
    const kind = kinds[c]!;
    if (kind === space || (kind === mark && c !== colon && c !== equals)) break;
    at += 1;
  }
  while (at > start + 1 && (isSentenceEnd(from[at - 1]!) || from[at - 1] === colon)) at -= 1;
  return at;
}

/** Whether a word with dots, without digits, is a host's name and not a class's or a file's. */
function isHost(from: Uint8Array, at: number, to: number, dots: number): boolean {
  let last = to;
  while (from[last - 1] !== dot) last -= 1;
  let first = at;
  while (from[first] !== dot) first += 1;
  if (to - last > longestPacked || first - at > longestPacked * 6) return false;
  const isEnd = hostEnds.has(packed(from, last, to)) || (to - last === 2 && dots > 1);
  return isEnd && first > at && !packageStarts.has(packed(from, at, first));
}

function packed(from: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 32 + (from[at]! & 31);
  return value;
}
