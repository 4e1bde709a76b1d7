/** JSON text being read: `at` is the byte that comes next. */
export interface JsonInput {
  readonly bytes: Buffer;
  at: number;
}

/** What is wrong, and at which byte; the path to it is looked for afterwards. */
export class JsonMismatch extends Error {
  override readonly name = "JsonMismatch";
  readonly at: number;
  /** False where the text is not JSON at all, true where it is, but not what the message asks for. */
  readonly isJson: boolean;
  constructor(message: string, at: number, isJson: boolean) {
    super(message);
    this.at = at;
    this.isJson = isJson;
  }
}

export const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;

/** Deeper nesting than any telemetry has; it keeps hostile input from using up the stack. */
const maxDepth = 200;

export function notJson(input: JsonInput, message: string): JsonMismatch {
  return new JsonMismatch(message, input.at, false);
}

export function misfit(at: number, message: string): JsonMismatch {
  return new JsonMismatch(message, at, true);
}

export function checkDepth(input: JsonInput, depth: number): void {
  if (depth > maxDepth) throw misfit(input.at, `is nested deeper than ${maxDepth} levels`);
}

/** Skips white space; returns the byte that comes next, or -1 at the end. */
export function peek(input: JsonInput): number {
  const bytes = input.bytes;
  let at = input.at;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) {
      input.at = at;
      return byte;
    }
    at++;
  }
  input.at = at;
  return -1;
}

/** Steps over the colon between a key and its value. */
export function expectColon(input: JsonInput): void {
  if (peek(input) !== 0x3a) throw notJson(input, "a colon is missing after the key");
  input.at++;
}

/** After an element: true where another one follows, false where `close` has ended the list; steps over either. */
export function another(input: JsonInput, close: number): boolean {
  const byte = peek(input);
  if (byte !== comma && byte !== close) throw notJson(input, "a comma or a closing bracket is missing");
  input.at++;
  return byte === comma;
}

/**
 * Steps over the string whose opening quote comes next. Returns where its closing quote is, negative (bitwise not)
 * where there are escapes in between.
 */
export function scanString(input: JsonInput): number {
  const bytes = input.bytes;
  const length = bytes.length;
  let escaped = false;
  let at = input.at + 1;
  for (; at < length; at++) {
    const byte = bytes[at]!;
    if (byte === quote) {
      input.at = at + 1;
      return escaped ? ~at : at;
    }
    if (byte === backslash) {
      escaped = true;
      at++;
    } else if (byte < 0x20) {
      input.at = at;
      throw notJson(input, "a control character in a string must be escaped");
    }
  }
  input.at = length;
  throw notJson(input, "the closing quote of a string is missing");
}

/** Steps over the string whose opening quote comes next and returns its text. */
export function readText(input: JsonInput): string {
  const start = input.at;
  const end = scanString(input);
  if (end >= 0) return input.bytes.toString("utf8", start + 1, end);
  try {
    return JSON.parse(input.bytes.toString("utf8", start, ~end + 1)) as string;
  } catch {
    throw new JsonMismatch("an escape in a string is not valid", start, false);
  }
}

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export const isNumberText = (text: string) => numberPattern.test(text);

/** Whether a number may go on with this byte. */
export const continuesNumber = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) || byte === 0x2e || byte === 0x65 || byte === 0x45 || byte === 0x2b || byte === 0x2d;

/** Steps over the number that comes next and returns its text. */
export function readNumberText(input: JsonInput): string {
  const start = input.at;
  while (input.at < input.bytes.length && continuesNumber(input.bytes[input.at]!)) input.at++;
  const text = input.bytes.toString("latin1", start, input.at);
  if (isNumberText(text)) return text;
  input.at = start;
  throw notJson(input, "this is not a JSON value");
}

const words = new Map(["true", "false", "null"].map((word) => [word.charCodeAt(0), Buffer.from(word)]));

/** Steps over `true`, `false` or `null`, whichever starts with `first`; throws where the word is another one. */
export function skipWord(input: JsonInput, first: number): void {
  const word = words.get(first);
  const end = input.at + (word?.length ?? 0);
  if (
    word === undefined ||
    end > input.bytes.length ||
    input.bytes.compare(word, 0, word.length, input.at, end) !== 0
  ) {
    throw notJson(input, "this is not a JSON value");
  }
  input.at = end;
}

/** Steps over `null` if it comes next. */
export function skipNull(input: JsonInput): boolean {
  if (peek(input) !== 0x6e) return false;
  skipWord(input, 0x6e);
  return true;
}

/** Steps over any one value. */
export function skipValue(input: JsonInput, depth: number): void {
  checkDepth(input, depth);
  const first = peek(input);
  if (first === quote) {
    // An escape is checked even where nobody reads the text: what is refused must not depend on what is known.
    readText(input);
  } else if (first === openBrace || first === openBracket) {
    const close = first === openBrace ? closeBrace : closeBracket;
    input.at++;
    if (peek(input) === close) {
      input.at++;
      return;
    }
    do {
      if (first === openBrace) {
        if (peek(input) !== quote) throw notJson(input, "a key in double quotes is missing");
        readText(input);
        expectColon(input);
      }
      skipValue(input, depth + 1);
    } while (another(input, close));
  } else if (first === 0x2d || (first >= 0x30 && first <= 0x39)) {
    readNumberText(input);
  } else {
    skipWord(input, first);
  }
}
