/** Longest query that the API takes, in characters: a longer one is a paste by mistake. */
export const maxQueryLength = 2_000;
/** Most terms of one query: each is a pass over the rows that the terms before it left. */
export const maxQueryTerms = 50;

/**
 * Whole tokens that stand side by side, in this order, without regard to case: one for `timeout`, three for
 * `10.0.7`. `openStart` / `openEnd`: the first token may be the end, the last one the beginning, of a longer one.
 * No tokens at all (`*` alone) matches every row.
 */
export interface WordsTerm {
  readonly kind: "words";
  readonly tokens: readonly string[];
  readonly openStart: boolean;
  readonly openEnd: boolean;
}

/** A substring of the body, case and all. */
export interface TextTerm {
  readonly kind: "text";
  readonly text: string;
}

/**
 * An attribute, or resource attribute, of this key whose value is `pieces` joined by "any characters": one piece is
 * the whole value, `["a", ""]` begins with a, `["", ""]` is any value.
 */
export interface AttributeTerm {
  readonly kind: "attribute";
  readonly key: string;
  readonly pieces: readonly string[];
}

export type QueryTerm = (WordsTerm | TextTerm | AttributeTerm) & { readonly exclude: boolean };

/** `position` counts characters from 0 in the query as sent; `message` is a whole sentence that counts from 1. */
export type ParsedQuery =
  | { readonly ok: true; readonly terms: readonly QueryTerm[] }
  | { readonly ok: false; readonly message: string; readonly position: number };

/**
 * Reads the `query` of logs. Terms are separated by white space, and a row matches when every term does:
 *
 * | Written | Matches |
 * |---|---|
 * | `timeout` | the whole token, in any case; `time*`, `*out`, `*meou*` open its ends |
 * | `10.0.7`, `foo-bar` | these tokens side by side, whatever separates them in the body |
 * | `"a phrase"` | this text as it is; `\"` and `\\` stand for a quote and a backslash |
 * | `=>` | without a letter or digit, as if it were quoted |
 * | `key:value`, `key:"a value"` | an attribute or resource attribute; `*` outside quotes is any characters |
 * | `-` before any of them | rows that do not match it |
 *
 * What only looks like `key:value` is words: a key begins with a letter, `_`, `@` or `$`, and a value is not
 * empty and does not begin with `//` or `:` (`12:30:45`, `Error: refused`, `http://shop/cart`, `std::vector`).
 */
export function parseQuery(query: string): ParsedQuery {
  const terms: QueryTerm[] = [];
  let at = 0;
  while (true) {
    at = skipSpace(query, at);
    if (at === query.length) return { ok: true, terms };
    if (terms.length === maxQueryTerms) return failure(`The query has more than ${maxQueryTerms} terms.`, at);
    const exclude = /^-[^\s-]/.test(query.slice(at, at + 2));
    if (exclude) at++;
    const read = readTerm(query, at);
    if (!read.ok) return read;
    terms.push({ ...read.term, exclude });
    at = read.end;
  }
}

/** Letters and digits of ASCII, and everything beyond ASCII, as the engine's `splitByNonAlpha` has it. */
const separators = /[^0-9A-Za-z\u{80}-\u{10ffff}]+/u;
const attributeStart = /^[\p{L}_@$][^\s":*]*:(?=[^\s:])(?!\/\/)/u;

type Read = { readonly ok: true; readonly term: WordsTerm | TextTerm | AttributeTerm; readonly end: number };
type Failure = { readonly ok: false; readonly message: string; readonly position: number };

function readTerm(query: string, start: number): Read | Failure {
  if (query[start] === '"') {
    const quoted = readQuoted(query, start);
    return quoted.ok ? { ok: true, term: { kind: "text", text: quoted.text }, end: quoted.end } : quoted;
  }
  const prefix = attributeStart.exec(query.slice(start))?.[0];
  if (prefix !== undefined) return readAttribute(query, prefix.slice(0, -1), start + prefix.length);
  const end = bareEnd(query, start);
  return readWords(query.slice(start, end), start, end);
}

function readAttribute(query: string, key: string, start: number): Read | Failure {
  if (query[start] === '"') {
    const quoted = readQuoted(query, start);
    return quoted.ok ? { ok: true, term: { kind: "attribute", key, pieces: [quoted.text] }, end: quoted.end } : quoted;
  }
  const end = bareEnd(query, start);
  return { ok: true, term: { kind: "attribute", key, pieces: query.slice(start, end).split(/\*+/) }, end };
}

function readWords(bare: string, start: number, end: number): Read | Failure {
  const text = bare.replace(/^\*+|\*+$/g, "");
  const star = text.indexOf("*");
  if (star >= 0) {
    const position = start + bare.indexOf(text) + star;
    return failure(
      "`*` stands at the start or at the end of a word, not inside it" +
        `; quote the text to find the character itself (character ${position + 1}).`,
      position,
    );
  }
  const tokens = text.split(separators).filter((token) => token !== "");
  if (tokens.length === 0 && text !== "") return { ok: true, term: { kind: "text", text }, end };
  // Beside a separator a `*` opens nothing: in `foo.*` the token foo is whole.
  const openStart = bare.startsWith("*") && text.startsWith(tokens[0] ?? "");
  const openEnd = bare.endsWith("*") && text.endsWith(tokens.at(-1) ?? "");
  return { ok: true, term: { kind: "words", tokens, openStart, openEnd }, end };
}

/** `start` is at the opening quote. */
function readQuoted(query: string, start: number): { ok: true; text: string; end: number } | Failure {
  let text = "";
  for (let at = start + 1; at < query.length; at++) {
    const character = query[at]!;
    if (character === '"') return { ok: true, text, end: at + 1 };
    const next = query[at + 1];
    if (character === "\\" && (next === '"' || next === "\\")) {
      text += next;
      at++;
    } else {
      text += character;
    }
  }
  return failure(`The quote that opens at character ${start + 1} is not closed.`, start);
}

/** A quote inside a bare word ends it, so that `msg="not found"` is a word and a phrase. */
function bareEnd(query: string, start: number): number {
  const length = query.slice(start).search(/[\s"]/);
  return length < 0 ? query.length : start + length;
}

function skipSpace(query: string, start: number): number {
  const length = query.slice(start).search(/\S/);
  return length < 0 ? query.length : start + length;
}

function failure(message: string, position: number): Failure {
  return { ok: false, message, position };
}
