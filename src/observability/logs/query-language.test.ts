import assert from "node:assert/strict";
import { test } from "node:test";
import { maxQueryTerms, parseQuery } from "./query-language.ts";
import type { QueryTerm } from "./query-language.ts";

function terms(query: string): readonly QueryTerm[] {
  const parsed = parseQuery(query);
  assert.ok(parsed.ok, `${query} should parse`);
  return parsed.terms;
}
const words = (tokens: string[], more: Partial<QueryTerm> = {}) => ({
  kind: "words",
  tokens,
  openStart: false,
  openEnd: false,
  exclude: false,
  ...more,
});
const text = (value: string, exclude = false) => ({ kind: "text", text: value, exclude });
const attribute = (key: string, pieces: string[], exclude = false) => ({ kind: "attribute", key, pieces, exclude });

test("nothing but blanks has no terms", () => {
  assert.deepEqual(terms(""), []);
  assert.deepEqual(terms(" \t\n "), []);
});

test("words are whole tokens, open where a star stands beside one", () => {
  assert.deepEqual(terms("Timeout"), [words(["Timeout"])]);
  assert.deepEqual(terms("time*  *out"), [words(["time"], { openEnd: true }), words(["out"], { openStart: true })]);
  assert.deepEqual(terms("*meou*"), [words(["meou"], { openStart: true, openEnd: true })]);
  assert.deepEqual(terms("**time**"), [words(["time"], { openStart: true, openEnd: true })]);
  assert.deepEqual(terms("foo.*"), [words(["foo"])]);
  assert.deepEqual(terms("*"), [words([], { openStart: true, openEnd: true })]);
});

test("a word of several tokens keeps them side by side", () => {
  assert.deepEqual(terms("foo-bar 10.0.7 a_b"), [words(["foo", "bar"]), words(["10", "0", "7"]), words(["a", "b"])]);
  assert.deepEqual(terms("*foo-ba*"), [words(["foo", "ba"], { openStart: true, openEnd: true })]);
  assert.deepEqual(terms("élan 日本語"), [words(["élan"]), words(["日本語"])]);
});

test("what has no letter or digit is text", () => {
  assert.deepEqual(terms("=> - --"), [text("=>"), text("-"), text("--")]);
});

test("a phrase is text; a backslash escapes a quote and itself", () => {
  assert.deepEqual(terms('"not found"'), [text("not found")]);
  assert.deepEqual(terms(String.raw`"say \"hi\" C:\temp \\"`), [text(String.raw`say "hi" C:\temp \ `.trimEnd())]);
  assert.deepEqual(terms('""'), [text("")]);
  assert.deepEqual(terms('"a*b"'), [text("a*b")]);
  assert.deepEqual(terms('msg="not found"more'), [words(["msg"]), text("not found"), words(["more"])]);
});

test("key:value is an attribute", () => {
  assert.deepEqual(terms("http.route:/cart"), [attribute("http.route", ["/cart"])]);
  assert.deepEqual(terms("url:a*b*"), [attribute("url", ["a", "b", ""])]);
  assert.deepEqual(terms("user.id:*"), [attribute("user.id", ["", ""])]);
  assert.deepEqual(terms('user.name:"Ada L. *"'), [attribute("user.name", ["Ada L. *"])]);
  assert.deepEqual(terms('empty:""'), [attribute("empty", [""])]);
  assert.deepEqual(terms("host:127.0.0.1:80"), [attribute("host", ["127.0.0.1:80"])]);
});

test("what only looks like key:value is words", () => {
  assert.deepEqual(terms("12:30:45"), [words(["12", "30", "45"])]);
  assert.deepEqual(terms("Error: refused"), [words(["Error"]), words(["refused"])]);
  assert.deepEqual(terms("http://shop/cart"), [words(["http", "shop", "cart"])]);
  assert.deepEqual(terms("std::vector"), [words(["std", "vector"])]);
});

test("a minus excludes, before any kind of term", () => {
  assert.deepEqual(terms('-word -"a phrase" -k:v -*'), [
    words(["word"], { exclude: true }),
    text("a phrase", true),
    attribute("k", ["v"], true),
    words([], { openStart: true, openEnd: true, exclude: true }),
  ]);
  assert.deepEqual(terms("--verbose a-b"), [words(["verbose"]), words(["a", "b"])]);
});

test("an unclosed quote is an error that says where", () => {
  assert.deepEqual(parseQuery('ok "not closed'), {
    ok: false,
    position: 3,
    message: "The quote that opens at character 4 is not closed.",
  });
  const escaped = parseQuery(String.raw`-k:"a\"`);
  assert.ok(!escaped.ok && escaped.position === 3);
});

test("a star inside a word is an error that says where", () => {
  for (const [query, position] of [
    ["ti*me", 2],
    ["a *ti*me", 5],
    ["-a*b", 2],
  ] as const) {
    const parsed = parseQuery(query);
    assert.ok(!parsed.ok, query);
    assert.equal(parsed.position, position);
    assert.match(parsed.message, new RegExp(`character ${position + 1}\\)`));
  }
});

test("the number of terms is limited", () => {
  assert.ok(parseQuery("a ".repeat(maxQueryTerms)).ok);
  const parsed = parseQuery("a ".repeat(maxQueryTerms + 1));
  assert.ok(!parsed.ok && parsed.position === 2 * maxQueryTerms);
});
