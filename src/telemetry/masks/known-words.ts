import {
  comma,
  digit,
  dollar,
  dot,
  equals,
  hexadecimal,
  joiner,
  kinds,
  letter,
  space,
  underscore,
} from "./characters.ts";

/** Most letters that `packed` can tell apart. */
export const longestPacked = 10;

/** The letters of a word, in any case, as one number: a look-up that needs no text to be made. */
function packed(from: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 32 + (from[at]! & 31);
  return value;
}

function packAll(words: string): Set<number> {
  return new Set(words.split(" ").map((word) => packed(Buffer.from(word), 0, word.length)));
}

/** Units that change with the size of what is measured. Those written out (`seconds`) mostly do not. */
const units = packAll("ns us ms msec s sec secs m min mins h hr hrs d b kb mb gb tb kib mib gib tib k");
const longestUnit = 4;
const bytes = packAll("bytes");
const months = packAll(
  "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september " +
    "october november december",
);
const weekdays = packAll(
  "mon tue tues wed thu thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday",
);
const zones = packAll("utc gmt z am pm pst pdt mst mdt cst cdt est edt wet cet cest eet eest bst ist jst");
/** By its first three letters, whether a word may be one of these: it spares most words the look-up. */
const dateStarts = new Uint8Array(32 ** 3);
for (const word of [...months, ...weekdays, ...zones]) {
  let start = word;
  while (start >= dateStarts.length) start = Math.floor(start / 32);
  dateStarts[start] = 1;
}
/** What names of hosts end with; two letters (`.de`) do as well, where there are three parts or more. */
const hostEnds = packAll("com net org edu gov mil int info local internal lan arpa");
/** What names of classes and packages begin with. */
const packageStarts = packAll("com net org edu gov io android java javax sun scala system");
/** Keys and names with digits are not longer; ids are. */
const longestName = 24;

export function isBytes(from: Uint8Array, start: number, end: number): boolean {
  return bytes.has(packed(from, start, end));
}

/** The end of a unit that stands at `start`, or after a space there; `start` where there is none. */
export function unitEnd(from: Uint8Array, start: number, stop: number): number {
  const first = start < stop && kinds[from[start]!] === space ? start + 1 : start;
  let to = first;
  while (to < stop && kinds[from[to]!] === letter) to += 1;
  if (to === first || to - first > longestUnit) return start;
  if (to < stop && kinds[from[to]!]! >= joiner && from[to] !== dot) return start;
  return units.has(packed(from, first, to)) ? to : start;
}

/** Whether a word of letters is the day, the month or the zone of a date. `follows`: a variable stands before it. */
export function isDateWord(from: Uint8Array, start: number, end: number, stop: number, follows: boolean): boolean {
  if (end - start < 3 && !follows) return false;
  if (dateStarts[packed(from, start, Math.min(end, start + 3))] === 0) return false;
  const word = packed(from, start, end);
  if (follows && zones.has(word)) return true;
  const isMonth = months.has(word);
  if (!isMonth && !weekdays.has(word)) return false;
  if (follows && isMonth) return true;
  let next = end;
  while (next < stop && (kinds[from[next]!] === space || from[next] === comma)) next += 1;
  if (next === end || next === stop) return false;
  if (kinds[from[next]!] === digit) return true;
  let nextEnd = next;
  while (nextEnd < stop && kinds[from[nextEnd]!] === letter && nextEnd - next <= longestPacked) nextEnd += 1;
  return !isMonth && months.has(packed(from, next, nextEnd));
}

/** Whether a word with dots and without digits is a host's name, and not a class's or a file's. */
export function isHost(from: Uint8Array, start: number, end: number, dots: number): boolean {
  let last = end;
  while (from[last - 1] !== dot) last -= 1;
  let first = start;
  while (from[first] !== dot) first += 1;
  if (end - last > longestPacked || first === start) return false;
  if (!hostEnds.has(packed(from, last, end)) && !(end - last === 2 && dots > 1)) return false;
  return first - start > longestPacked || !packageStarts.has(packed(from, start, first));
}

/** Whether a word with digits is the program's all the same: a key (`r24=`), or a name such as `jk2_init`. */
export function isNameWithDigits(from: Uint8Array, start: number, end: number, stop: number, digits: number): boolean {
  if (end - start > longestName || kinds[from[start]!] !== letter) return false;
  let first = -1;
  let last = -1;
  let hex = 0;
  for (let p = start; p < end; p++) {
    const byte = from[p]!;
    hex += hexadecimal[byte]!;
    if (kinds[byte] === digit) {
      if (first < 0) first = p;
      last = p;
    } else if (kinds[byte] === joiner && byte !== underscore && byte !== dollar) {
      return false;
    }
  }
  if (end < stop && from[end] === equals) return true;
  // One or two digits, together and within.
  return hex < end - start && digits <= 2 && last - first === digits - 1 && first - start >= 2 && end - last > 2;
}
