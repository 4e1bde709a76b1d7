import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseSearchText } from "./search-text.ts";

test("words and phrases", () => {
  const cases: [string, string[]][] = [
    ["", []],
    ["  \n", []],
    ["time out", ["time", "out"]],
    ['"timed out" pay', ["timed out", "pay"]],
    ['a"b c"d', ["a", "b c", "d"]],
    ['"say \\"hi\\"" \\n', ['say "hi"', "\\n"]],
    ['"a\\\\"', ["a\\"]],
    ['"" x', ["x"]],
    ["größe=1,5", ["größe=1,5"]],
  ];
  for (const [text, words] of cases) assert.deepEqual(parseSearchText(text), { ok: true, words }, text);
});

test("a quote that is not closed, and too many words, are said", () => {
  for (const [text, place] of [
    ['"', 1],
    ['ab "c d', 4],
    ['"a" "', 5],
    ['x "\\"', 3],
  ] as const) {
    assert.deepEqual(parseSearchText(text), {
      ok: false,
      message: `The quote that opens at character ${place} is not closed.`,
    });
  }
  assert.equal(parseSearchText("a ".repeat(50)).ok, true);
  assert.equal(parseSearchText("a ".repeat(51)).ok, false);
});

test("what is quoted comes back as it was", () => {
  const quote = (word: string) => `"${word.replace(/["\\]/g, "\\$&")}"`;
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, unit: fc.constantFrom(..."ab \\\"\n'*") }), { maxLength: 5 }),
      (words) => {
        assert.deepEqual(parseSearchText(words.map(quote).join(" ")), { ok: true, words });
      },
    ),
  );
});
