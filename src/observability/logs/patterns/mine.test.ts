import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { minePatterns, patternId } from "./mine.ts";

const templates = (texts: readonly string[]) =>
  minePatterns(texts)
    .map(({ template }) => template)
    .toSorted();
const users = ["ann", "bob", "cleo", "dora", "emil"];
const letters = [..."abcdefghijklmnopqrstuvwxyz"];

test("texts of different words stay apart", () => {
  const texts = ["started", "stopped", "VM Paused (event)", "VM Resumed (event)", "cache is full", "queue is full"];
  assert.deepEqual(templates(texts), [...texts].toSorted());
});

test("a word of which there are many kinds is a variable, one with few kinds is not", () => {
  assert.deepEqual(templates(users.map((user) => `hello ${user} there`)), ["hello <*> there"]);
  assert.deepEqual(templates(users.slice(1).map((user) => `hello ${user} there`)).length, 4);
  assert.deepEqual(templates(users.slice(2).map((user) => `login of user ${user} failed`)), [
    "login of user <*> failed",
  ]);
  assert.deepEqual(templates(letters.slice(0, 11).map((service) => `${service} is up`)).length, 11);
  assert.deepEqual(templates(letters.slice(0, 12).map((service) => `${service} is up`)), ["<*> is up"]);
});

test("states in capitals are patterns of their own", () => {
  const states = ["NEW", "READY", "RUNNING", "DONE", "FAILED", "KILLED", "LOST"];
  assert.equal(templates(states.map((state) => `task is now ${state} after <*>`)).length, states.length);
});

test("names, what is quoted, and what is masked elsewhere are variables from two kinds on", () => {
  assert.deepEqual(templates(["load a.b.Cart now", "load a.b.Order now"]), ["load <*> now"]);
  assert.deepEqual(templates(['service "cart" is up', 'service "order" is up']), ['service "<*>" is up']);
  assert.deepEqual(templates(["chdir(<*>) failed", "chdir(pwd) failed"]), ["chdir(<*>) failed"]);
  assert.equal(templates(['{"level":"info","msg":"up"}', '{"level":"warn","msg":"up"}']).length, 2);
});

test("several variables in one text are found, also where no two texts differ in one word alone", () => {
  const things = ["lamp", "desk", "sofa", "vase", "book"];
  const all = users.flatMap((user) => things.map((thing) => `customer ${user} bought ${thing} and paid`));
  assert.deepEqual(templates(all), ["customer <*> bought <*> and paid"]);
  const pairs = letters.map((letter, i) => `customer x${letter} bought y${letters[25 - i]!} and paid`);
  assert.deepEqual(templates(pairs), ["customer <*> bought <*> and paid"]);
});

test("a group that a choice divides becomes a pattern for each", () => {
  const texts = letters.flatMap((letter, i) => [
    `order of x${letter} for y${letters[25 - i]!} was accepted`,
    `order of x${letter} for z${letters[25 - i]!} was refused`,
  ]);
  assert.deepEqual(templates(texts), ["order of <*> for <*> was accepted", "order of <*> for <*> was refused"]);
});

test("a text of variables alone, an empty one and a single word are patterns", () => {
  assert.deepEqual(templates(["<*>", "", "<*>: <*>", "ready"]), ["", "<*>", "<*>: <*>", "ready"]);
  assert.equal(templates(letters).length, 26);
});

test("five thousand texts without any pattern are all kept", () => {
  const texts = Array.from({ length: 5_000 }, (_, n) =>
    [1, 7, 11, 17, 23]
      .map(
        (by) => letters[(n * by) % 26]! + letters[Math.floor((n * by) / 26) % 26]! + letters[Math.floor(n / 676) % 26]!,
      )
      .join(" "),
  );
  const mined = minePatterns(texts);
  assert.equal(mined.flatMap(({ texts: members }) => members).length, new Set(texts).size);
});

const word = fc.constantFrom(
  "a",
  "b",
  "read",
  "write",
  "GET",
  "PUT",
  "x.y",
  "u.v",
  "<*>",
  "k=",
  "(z)",
  '"q"',
  "...",
  "blk_<*>",
);
const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(" "));

test("every text is in exactly one pattern, in whatever order they come", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 60 }), fc.infiniteStream(fc.nat()), (texts, random) => {
      const mined = minePatterns(texts);
      assert.deepEqual(mined.flatMap(({ texts: members }) => members).toSorted(), [...new Set(texts)].toSorted());
      assert.equal(new Set(mined.map(({ template }) => template)).size, mined.length);
      const shuffled = texts
        .map((each) => ({ each, key: random.next().value as number }))
        .toSorted((a, b) => a.key - b.key)
        .map(({ each }) => each);
      assert.deepEqual(minePatterns([...shuffled, ...texts.slice(0, 3)]), mined);
    }),
  );
});

test("a template's id is always the same", () => {
  assert.equal(patternId("took <*>"), patternId("took <*>"));
  assert.match(patternId(""), /^[0-9a-f]{16}$/);
  assert.notEqual(patternId("took <*>"), patternId("took <*> "));
});
