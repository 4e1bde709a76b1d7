import {
  another,
  closeBrace,
  closeBracket,
  expectColon,
  openBrace,
  openBracket,
  peek,
  readText,
  skipValue,
} from "./json-input.ts";
import type { JsonInput } from "./json-input.ts";

/** Longer keys are cut: the path is for people. */
const maxKey = 100;

function readKey(input: JsonInput): string {
  peek(input);
  const key = readText(input);
  expectColon(input);
  return key.length > maxKey ? `${key.slice(0, maxKey)}…` : key;
}

/** Keys of objects and indexes of arrays, outermost first. */
type Segments = (string | number)[];

/** After a value: steps to the next one, out of what ends here. */
function stepOn(input: JsonInput, segments: Segments): void {
  for (let last = segments.at(-1); last !== undefined; last = segments.at(-1)) {
    if (another(input, typeof last === "string" ? closeBrace : closeBracket)) {
      segments[segments.length - 1] = typeof last === "string" ? readKey(input) : last + 1;
      return;
    }
    segments.pop();
  }
}

/**
 * The path of the value at byte `at`, such as `resourceSpans[0].scopeSpans[0].spans[3].kind`; empty for the value
 * of the whole text. Everything before `at` must be valid JSON: that is what was read when the value there was
 * refused. Looking for the path only then keeps its bookkeeping out of the reading itself.
 */
export function pathAt(bytes: Buffer, at: number): string {
  const input = { bytes, at: bytes[0] === 0xef ? 3 : 0 };
  const segments: Segments = [];
  for (;;) {
    const first = peek(input);
    if (input.at >= at) break;
    const opens = first === openBrace || first === openBracket;
    if (!opens) {
      skipValue(input, 0);
      stepOn(input, segments);
      continue;
    }
    input.at++;
    if (peek(input) === (first === openBrace ? closeBrace : closeBracket)) {
      input.at++;
      stepOn(input, segments);
    } else {
      segments.push(first === openBrace ? readKey(input) : 0);
    }
  }
  return segments.map((s, i) => (typeof s === "number" ? `[${s}]` : i === 0 ? s : `.${s}`)).join("");
}
