import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { parseQuery } from "./query-language.ts";
import { queryCondition } from "./query-sql.ts";
import { resourceJson } from "./resource-for-tests.ts";
import { openTables } from "./tables-for-tests.ts";
import type { Tables } from "./tables-for-tests.ts";

interface Stored {
  readonly body: string;
  readonly attributes: Record<string, string>;
  readonly resource: Record<string, string | number>;
}

// ---- Texts out of few pieces, so that they meet. ----

const anyWord = fc.constantFrom(
  ..."time Timeout TIMEOUT out foo FOO bar a b 10 0 7 élan ÉLAN 日本 日本語 ошибка Ошибка x".split(" "),
);
const anySeparator = fc.constantFrom(" ", "  ", "\n", "\t", "\n\n", "=> ", "{x}", "", ..."-._:/\\\"%*'([?");
const anyBody = fc.array(fc.tuple(anyWord, anySeparator), { maxLength: 6 }).map((pairs) => pairs.flat().join(""));
const anyValue = fc.oneof(
  fc.constantFrom(
    "",
    "a b",
    "a\nb",
    "a\tb",
    "a\u0001b",
    ...'a ab Ab a%b a_b a\\b a"b 12 1 /cart a/b } a,b [a] a.b {x:String}'.split(" "),
  ),
  anyWord,
);
const anyKey = fc.constantFrom(..."user.id http.route key value service.name host.name team we'ird a% k\\".split(" "));
const anyAttributes = fc.dictionary(anyKey, anyValue, { maxKeys: 3, noNullPrototype: true });
const anyPid = fc.constantFrom<string | number | undefined>(1, 12, 123, "12", "a", undefined);
const anyRecord: fc.Arbitrary<Stored> = fc.record({
  body: anyBody,
  attributes: anyAttributes,
  resource: fc
    .tuple(anyAttributes, anyPid)
    .map(([others, pid]) => ({ ...others, ...(pid !== undefined && { "process.pid": pid }) })),
});

const anyParts = fc.oneof(
  { weight: 3, arbitrary: fc.array(anyWord, { minLength: 1, maxLength: 1 }) },
  fc.array(anyWord, { minLength: 2, maxLength: 3 }),
);
const anyWordTerm = fc.record({
  kind: fc.constant("word" as const),
  parts: anyParts,
  separator: fc.constantFrom("-", ".", "_", "/"),
  before: fc.boolean(),
  after: fc.boolean(),
});
const anyPhraseTerm = fc.record({ kind: fc.constant("phrase" as const), text: anyBody });
const anyAttributeTerm = fc
  .record({
    kind: fc.constant("attribute" as const),
    key: fc.oneof(anyKey, fc.constant("process.pid")),
    value: fc.oneof(anyValue, fc.constantFrom("1", "12", "2")),
    before: fc.boolean(),
    after: fc.boolean(),
    quoted: fc.boolean(),
  })
  .map((one) => {
    const star = one.before || one.after;
    const bare = !/[\s"*]/.test(one.value) && (star || one.value !== "") && !/^(\/\/|:)/.test(one.value);
    return one.quoted || !bare ? { ...one, quoted: true, before: false, after: false } : one;
  });
const anyTerm: fc.Arbitrary<Term> = fc.oneof(
  { weight: 4, arbitrary: anyWordTerm },
  { weight: 2, arbitrary: anyPhraseTerm },
  { weight: 3, arbitrary: anyAttributeTerm },
);
const anyQuery = fc.array(fc.tuple(anyTerm, fc.boolean()), { minLength: 1, maxLength: 3 });

// ---- What a query means, written anew over single characters and without regular expressions. ----

type Term =
  | { kind: "word"; parts: string[]; separator: string; before: boolean; after: boolean }
  | { kind: "phrase"; text: string }
  | { kind: "attribute"; key: string; value: string; before: boolean; after: boolean; quoted: boolean };

function isTokenCharacter(character: string): boolean {
  const code = character.codePointAt(0)!;
  return code > 127 || (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  let token = "";
  for (const character of [...text, " "]) {
    if (isTokenCharacter(character)) token += character;
    else if (token !== "") {
      tokens.push(token.toLowerCase());
      token = "";
    }
  }
  return tokens;
}

function matches(term: Term, row: Stored): boolean {
  if (term.kind === "phrase") return row.body.split(term.text).length > 1 || term.text === "";
  if (term.kind === "word") {
    const wanted = term.parts.map((part) => part.toLowerCase());
    const tokens = tokensOf(row.body);
    return tokens.some((_, from) =>
      wanted.every((part, i) => {
        const token = tokens[from + i];
        if (token === undefined) return false;
        const openBefore = term.before && i === 0;
        const openAfter = term.after && i === wanted.length - 1;
        if (openBefore && openAfter) return token.includes(part);
        if (openBefore) return token.endsWith(part);
        return openAfter ? token.startsWith(part) : token === part;
      }),
    );
  }
  return [row.attributes[term.key], row.resource[term.key]].some((value) => {
    if (value === undefined) return false;
    const text = String(value);
    if (term.before && term.after) return text.includes(term.value);
    if (term.before) return text.endsWith(term.value);
    return term.after ? text.startsWith(term.value) : text === term.value;
  });
}

function written(term: Term, exclude: boolean): string {
  const minus = exclude ? "-" : "";
  const quote = (text: string) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
  if (term.kind === "phrase") return minus + quote(term.text);
  if (term.kind === "word")
    return minus + (term.before ? "*" : "") + term.parts.join(term.separator) + (term.after ? "*" : "");
  if (term.quoted) return `${minus}${term.key}:${quote(term.value)}`;
  return `${minus}${term.key}:${term.before ? "*" : ""}${term.value}${term.after ? "*" : ""}`;
}

let tables: Tables;
let records: readonly Stored[];

before(async () => {
  tables = await openTables();
  records = fc.sample(anyRecord, { numRuns: 600, seed: 7 });
  await tables.insert("logs", records.map(stored));
});

after(() => tables.close());

function stored({ body, attributes, resource }: Stored, seq: number) {
  return { workspace: "default", seq, body, body_type: "s", attributes, resource: resourceJson(resource) };
}

async function found(query: string): Promise<number[]> {
  const parsed = parseQuery(query);
  assert.ok(parsed.ok, query);
  const { sql, params } = queryCondition(parsed.terms);
  const rows = await tables.rows<{ seq: number }>({
    sql: `SELECT seq FROM logs WHERE workspace = 'default' AND ${sql} ORDER BY seq`,
    params,
  });
  return rows.map(({ seq }) => seq);
}

test("the engine finds what the language means", async () => {
  let hits = 0;
  await fc.assert(
    fc.asyncProperty(anyQuery, async (parts) => {
      const expected = records.flatMap((row, seq) =>
        parts.every(([one, exclude]) => matches(one, row) !== exclude) ? [seq] : [],
      );
      hits += expected.length > 0 && expected.length < records.length ? 1 : 0;
      assert.deepEqual(await found(parts.map(([one, exclude]) => written(one, exclude)).join(" ")), expected);
    }),
    { numRuns: 400, seed: 11 },
  );
  assert.ok(hits > 100, `only ${hits} queries told records apart`);
});

test("whole words are looked up in the body's text index", async () => {
  await tables.command(
    "INSERT INTO logs (workspace, seq, body) SELECT 'large', number, " +
      "if(number = 30000, 'Payment timed-out: RareWord seen', 'GET /cart ' || toString(number)) FROM numbers(40000)",
  );
  for (const query of ["rareword", "timed RAREWORD", "timed-out", '": RareWord s"', "*yment-timed"]) {
    const parsed = parseQuery(query);
    assert.ok(parsed.ok);
    const { sql, params } = queryCondition(parsed.terms);
    const select = `SELECT seq FROM logs WHERE workspace = 'large' AND ${sql}`;
    const plan = (await tables.bytes({ sql: `EXPLAIN indexes = 1 ${select} FORMAT TSVRaw`, params })).toString();
    assert.match(plan, /Description: text[^]*Granules: 1\/\d/, `${query}\n${plan}`);
    assert.deepEqual(await tables.rows({ sql: select, params }), [{ seq: 30_000 }], query);
  }
});

test("no text of a query becomes SQL", async () => {
  for (const text of ["'", "') OR 1=1 --", "{query_0:String}", "\\", "\\'", "\u0000", "\n;\n", "%", "`"]) {
    const quoted = `"${text.replaceAll("\\", "\\\\")}"`;
    const terms = [`k:${quoted}`, quoted, `-${quoted}`, text.replace(/[\s"]/g, "")].join(" ");
    const parsed = parseQuery(terms);
    assert.ok(parsed.ok, terms);
    const condition = queryCondition(parsed.terms);
    assert.doesNotMatch(condition.sql.replace(/\{query_\d+:String\}/g, ""), /[;`\\]|1=1|\{/, condition.sql);
    assert.ok((await found(quoted)).length < records.length || text === "");
    await found(terms);
  }
});
