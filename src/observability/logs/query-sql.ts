import { createBinder } from "./binder.ts";
import type { Bind, Condition } from "./binder.ts";
import type { AttributeTerm, QueryTerm, TextTerm, WordsTerm } from "./query-language.ts";
import { escapePattern, processId, resourcePrefixes } from "./resource-json.ts";

/**
 * The SQL condition of a parsed query; no terms: `1`.
 *
 * The table has a text index on the expression `lower(body)`: whole words, sequences of them and the whole words inside
 * a phrase are looked up there. Written like this the answer is the same with and without the index; what the index
 * cannot answer reads the bodies.
 */
export function queryCondition(terms: readonly QueryTerm[]): Condition {
  const { bind, params } = createBinder("query");
  const conditions = terms.map((term) => {
    const sql = termCondition(term, bind);
    return term.exclude ? `NOT (${sql})` : `(${sql})`;
  });
  return { sql: conditions.join(" AND ") || "1", params };
}

function termCondition(term: QueryTerm, bind: Bind): string {
  switch (term.kind) {
    case "words":
      return wordsCondition(term, bind);
    case "text":
      return textCondition(term, bind);
    case "attribute":
      return attributeCondition(term, bind);
  }
}

/** In a regular expression over lower-cased text: what stands between tokens. */
const separator = "[^0-9a-z\\x{80}-\\x{10ffff}]";

function wordsCondition({ tokens, openStart, openEnd }: WordsTerm, bind: Bind): string {
  if (tokens.length === 0) return "1";
  // The index is in lower case as ASCII has it. Words with other letters that have cases are compared by the engine's
  // own rules for them, over all bodies; script without cases (CJK, Arabic …) takes the index too.
  const beyondAscii = hasCasesBeyondAscii(tokens.join(""));
  const lowered = beyondAscii ? "lowerUTF8(body)" : "lower(body)";
  const bound = (text: string) => (beyondAscii ? `lowerUTF8(${bind(text)})` : bind(lowerAscii(text)));

  if (!openStart && !openEnd) {
    const [only, second] = tokens;
    return second === undefined
      ? `hasAllTokens(${lowered}, [${bound(only!)}])`
      : `hasPhrase(${lowered}, ${bound(tokens.join(" "))})`;
  }
  if (openStart && openEnd && tokens.length === 1) return `position(${lowered}, ${bound(tokens[0]!)}) > 0`;

  const pattern =
    (openStart ? "" : `(?:^|${separator})`) + tokens.join(`${separator}+`) + (openEnd ? "" : `(?:${separator}|$)`);
  const whole = tokens.slice(openStart ? 1 : 0, openEnd ? -1 : undefined);
  return [
    ...whole.map((token) => `hasAllTokens(${lowered}, [${bound(token)}])`),
    `match(${lowered}, ${bound(pattern)})`,
  ].join(" AND ");
}

function textCondition({ text }: TextTerm, bind: Bind): string {
  // What stands between two separators inside the phrase is a whole token of any body that has the phrase.
  const tokens = [
    ...text.matchAll(
      /(?<=[^0-9A-Za-z\u{80}-\u{10ffff}])[0-9A-Za-z\u{80}-\u{10ffff}]+(?=[^0-9A-Za-z\u{80}-\u{10ffff}])/gu,
    ),
  ];
  const whole = [...new Set(tokens.map(([token]) => lowerAscii(token)))];
  const exact = `position(body, ${bind(text)}) > 0`;
  if (whole.length === 0) return exact;
  return `hasAllTokens(lower(body), [${whole.map((token) => bind(token)).join(", ")}]) AND ${exact}`;
}

/** True of a record whose attribute, or resource attribute, of this key has a value like this. */
export function attributeCondition({ key, pieces }: Pick<AttributeTerm, "key" | "pieces">, bind: Bind): string {
  const name = bind(key);
  const value = pieces.length === 1 ? bind(pieces[0]!) : undefined;
  const conditions: string[] = [];
  if (pieces.every((piece) => piece === "")) {
    // Any value, or the empty one: a missing key reads as empty too.
    conditions.push(
      value ? `mapContains(attributes, ${name}) AND attributes[${name}] = ''` : `mapContains(attributes, ${name})`,
    );
  } else if (value) {
    // An alternative that is not about attributes keeps their index from being used. Whether any resource at all has the
    // value is asked first, once; where none has, the alternative is false before the index is looked at.
    const inResource = resourceConditions(key, pieces, bind).join(" OR ");
    const known = `(SELECT count() > 0 FROM (SELECT DISTINCT resource FROM logs) WHERE ${inResource})`;
    return `(attributes[${name}] = ${value}) OR (${known} AND (${inResource}))`;
  } else {
    conditions.push(`attributes[${name}] LIKE ${bind(pieces.map(escapeLike).join("%"))}`);
  }
  return [...conditions, ...resourceConditions(key, pieces, bind)].map((sql) => `(${sql})`).join(" OR ");
}

/** What `attributeCondition` is of the resource alone: alternatives. */
function resourceConditions(key: string, pieces: readonly string[], bind: Bind): string[] {
  const quotedKey = JSON.stringify(key);
  const prefixes = resourcePrefixes(key);
  if (pieces.length === 1) {
    const needles = prefixes.map((prefix) => prefix + JSON.stringify(pieces[0]));
    if (key === processId && /^\d+$/.test(pieces[0]!)) {
      needles.push(`${quotedKey}:${pieces[0]},`, `${quotedKey}:${pieces[0]}}`);
    }
    return [`multiSearchAny(resource, [${needles.map((needle) => bind(needle)).join(", ")}])`];
  }
  const inJson = pieces.map((piece) => escapePattern(JSON.stringify(piece).slice(1, -1)));
  // Any characters of a JSON string, escapes taken whole: in `\u0001` there is no digit.
  const value = inJson.join('(?:[^"\\\\]|\\\\u[0-9a-f]{4}|\\\\[^u])*');
  const quoted = `(?:${prefixes.map(escapePattern).join("|")})"${value}"`;
  if (key !== processId) return [`match(resource, ${bind(quoted)})`];
  return [`match(resource, ${bind(`${quoted}|${escapePattern(`${quotedKey}:`)}${inJson.join("\\d*")}[,}]`)})`];
}

function hasCasesBeyondAscii(text: string): boolean {
  const beyond = text.replace(/[\0-\x7f]/g, "");
  return beyond.toLowerCase() !== beyond.toUpperCase();
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
