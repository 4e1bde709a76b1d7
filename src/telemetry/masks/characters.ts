/** What each byte of UTF-8 text is to a mask. The kinds are in an order that is compared with. */
export const space = 1;
/** Ends a word, and is shown. */
export const mark = 2;
/** A word is made of these three; a joiner (`-`, `.`, `/`) makes none by itself. */
export const joiner = 3;
export const letter = 4;
export const digit = 5;

export const kinds = new Uint8Array(256).fill(joiner);
/** 1 for a hexadecimal digit. */
export const hexadecimal = new Uint8Array(256);
/** 1 for what makes one list, range or address of two variables that it stands between. */
export const links = new Uint8Array(256);

for (let byte = 0; byte < 256; byte++) {
  if (byte <= 0x20 || byte === 0x7f) kinds[byte] = space;
  else if (byte >= 0x80) kinds[byte] = letter;
}
const each = (characters: string, table: Uint8Array, value: number) => {
  for (const character of characters) table[character.charCodeAt(0)] = value;
};
each("=:,;()[]{}<>\"'|`", kinds, mark);
each("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", kinds, letter);
each("0123456789", kinds, digit);
each("0123456789abcdefABCDEF", hexadecimal, 1);
each(",:;|-./+*#~", links, 1);

/** What a byte of a word adds to its letters, digits and hexadecimal digits, counted in one number at once. */
export const counts = new Int32Array(256);
const bits = 11;
for (let byte = 0; byte < 256; byte++) {
  if (kinds[byte] === letter) counts[byte] = 1;
  if (kinds[byte] === digit) counts[byte] = 1 << bits;
  // Ten bits are left, enough to tell whether a short word has nothing else.
  if (hexadecimal[byte] === 1) counts[byte]! += 1 << (2 * bits);
}

export function lettersIn(counted: number): number {
  return counted & 0x7ff;
}

export function digitsIn(counted: number): number {
  return (counted >>> bits) & 0x7ff;
}

/** Modulo 1,024. */
export function hexDigitsIn(counted: number): number {
  return counted >>> (2 * bits);
}

export const blank = 0x20;
export const exclamation = 0x21;
export const dollar = 0x24;
export const openParenthesis = 0x28;
export const closeParenthesis = 0x29;
export const asterisk = 0x2a;
export const comma = 0x2c;
export const hyphen = 0x2d;
export const dot = 0x2e;
export const slash = 0x2f;
export const colon = 0x3a;
export const less = 0x3c;
export const equals = 0x3d;
export const greater = 0x3e;
export const question = 0x3f;
export const at = 0x40;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const underscore = 0x5f;
export const tilde = 0x7e;
