import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreOverloaded, StoreUnavailable } from "../core/errors.ts";
import { seqStep } from "./sequence.ts";
import { bench, outcome } from "./writer-for-tests.ts";

test("rows of several requests are inserted together, and each is answered when the insert has returned", async (t) => {
  const { add, pass, inserts } = bench(t);
  const first = add("spans", "a");
  await pass(19);
  const second = add("spans", "b", "c");
  assert.equal(inserts.length, 0);
  await pass(1);
  assert.deepEqual(
    inserts.map((i) => [i.table, i.words]),
    [["spans", ["a", "b", "c"]]],
  );
  assert.deepEqual(await Promise.all([first, second].map(outcome)), ["waits", "waits"]);
  inserts[0]!.resolve();
  assert.deepEqual(await Promise.all([first, second].map(outcome)), ["stored", "stored"]);
});

test("a block carries its time of arrival in whole seconds and its share of the sequence", async (t) => {
  const { add, pass, inserts } = bench(t);
  add("spans", "a", "b", "c");
  add("logs", "d");
  await pass(20);
  assert.deepEqual(
    inserts.map((i) => i.received),
    [1_700_000_000, 1_700_000_000],
  );
  assert.deepEqual(
    inserts.map((i) => i.seq),
    [1_000n << 22n, (1_000n << 22n) + 3n * BigInt(seqStep)],
  );
});

test("what arrives during an insert makes the next one, which waits for the first and for the pause between inserts", async (t) => {
  const { add, pass, inserts } = bench(t, { lingerMs: 20, minIntervalMs: 100 });
  add("spans", "a");
  await pass(20);
  add("spans", "b");
  await pass(200);
  assert.equal(inserts.length, 1, "one insert of a table at a time");
  inserts[0]!.resolve();
  await pass(0);
  assert.deepEqual(inserts[1]?.words, ["b"], "due already, so it follows at once");
  inserts[1]!.resolve();
  await pass(0);
  add("spans", "c");
  await pass(99);
  assert.equal(inserts.length, 2, "its linger is over, the pause is not");
  await pass(1);
  assert.deepEqual(inserts[2]?.words, ["c"]);
});

test("a block waits its own linger, whatever ended before", async (t) => {
  const { add, pass, inserts } = bench(t, { lingerMs: 20, minIntervalMs: 30, maxRows: 3 });
  add("spans", "a");
  await pass(20);
  inserts[0]!.resolve();
  await pass(15);
  add("spans", "b");
  await pass(15);
  assert.equal(inserts.length, 1, "the pause is over, its linger is not");
  await pass(5);
  assert.deepEqual(inserts[1]?.words, ["b"]);
  inserts[1]!.resolve();
  await pass(30);
  add("spans", "c");
  await pass(10);
  add("spans", "d", "e");
  await pass(0);
  assert.deepEqual(inserts[2]?.words, ["c", "d", "e"]);
  inserts[2]!.resolve();
  await pass(0);
  add("spans", "f");
  await pass(29);
  add("spans", "g");
  await pass(1);
  assert.deepEqual(inserts[3]?.words, ["f", "g"]);
});

test("a block that filled up takes its linger with it", async (t) => {
  const { add, pass, inserts } = bench(t, { lingerMs: 20, minIntervalMs: 0, maxRows: 2 });
  add("spans", "a");
  await pass(15);
  add("spans", "b");
  await pass(0);
  inserts[0]!.resolve();
  await pass(0);
  add("spans", "c");
  await pass(5);
  assert.equal(inserts.length, 1);
  await pass(15);
  assert.deepEqual(inserts[1]?.words, ["c"]);
});

test("tables do not wait for each other", async (t) => {
  const { add, pass, inserts } = bench(t);
  add("spans", "a");
  await pass(20);
  add("logs", "b");
  await pass(20);
  assert.deepEqual(
    inserts.map((i) => i.table),
    ["spans", "logs"],
  );
});

test("a full block is inserted at once, by rows or by bytes; full ones queue in order", async (t) => {
  const { add, pass, inserts } = bench(t, { maxRows: 3, maxBytes: 100 });
  add("spans", "a", "b", "c", "d");
  await pass(0);
  assert.deepEqual(inserts[0]?.words, ["a", "b", "c", "d"]);
  const large = "x".repeat(100);
  add("spans", large);
  add("spans", "e", "f", "g");
  add("spans", "h");
  await pass(20);
  assert.equal(inserts.length, 1);
  for (const expected of [[large], ["e", "f", "g"]]) {
    inserts.at(-1)!.resolve();
    await pass(0);
    assert.deepEqual(inserts.at(-1)!.words, expected);
  }
  inserts.at(-1)!.resolve();
  await pass(99);
  assert.equal(inserts.length, 3, "the open block keeps the pause");
  await pass(1);
  assert.deepEqual(inserts[3]?.words, ["h"]);
});

test("a throw in the callback takes its rows out and passes on", async (t) => {
  const { writer, add, pass, inserts } = bench(t);
  add("spans", "a");
  assert.throws(
    () =>
      writer.append("spans", (block) => {
        block.words.push("half", "done");
        throw new RangeError("malformed");
      }),
    RangeError,
  );
  add("spans", "b");
  await pass(20);
  assert.deepEqual(
    inserts.map((i) => i.words),
    [["a", "b"]],
  );
});

test("a throw in the first callback of a block leaves nothing to insert", async (t) => {
  const { writer, pass, inserts } = bench(t);
  assert.throws(() =>
    writer.append("spans", (block) => {
      block.words.push("half");
      throw new RangeError("malformed");
    }),
  );
  await pass(1_000);
  assert.equal(inserts.length, 0);
});

test("no rows need no insert, and the callback's result is handed out", async (t) => {
  const { writer, pass, inserts } = bench(t);
  const { result, stored } = writer.append("spans", () => "nothing in it");
  await stored;
  await pass(1_000);
  assert.equal(result, "nothing in it");
  assert.equal(inserts.length, 0);
});

test("a failed insert rejects everyone who waited for it, is not repeated, and the next one goes on", async (t) => {
  const { add, pass, inserts } = bench(t);
  const lost = [add("spans", "a"), add("spans", "b")];
  await pass(20);
  const next = add("spans", "c");
  inserts[0]!.reject(new Error("Code: 241. DB::Exception: MEMORY_LIMIT_EXCEEDED"));
  assert.deepEqual(await Promise.all(lost.map(outcome)), ["StoreUnavailable", "StoreUnavailable"]);
  await pass(100);
  assert.deepEqual(
    inserts.map((i) => i.words),
    [["a", "b"], ["c"]],
  );
  inserts[1]!.resolve();
  assert.equal(await outcome(next), "stored");
});

test("a failure's own StoreUnavailable passes on with what it says; any other does not leak", async (t) => {
  const { add, pass, inserts } = bench(t);
  const first = add("spans", "a");
  const second = add("logs", "b");
  await pass(20);
  inserts[0]!.reject(new StoreUnavailable("The telemetry store restarts.", 7));
  inserts[1]!.reject(new Error("INSERT INTO secrets"));
  await assert.rejects(first, { message: "The telemetry store restarts.", retryAfter: 7 });
  await assert.rejects(second, { name: "StoreUnavailable", message: "Telemetry could not be stored." });
});

test("a block that cannot be sealed is a failed insert, and the table goes on", async (t) => {
  const { add, pass, made, inserts } = bench(t);
  const broken = add("spans", "a");
  made[0]!.failSeal = true;
  await pass(20);
  assert.equal(await outcome(broken), "StoreUnavailable");
  made[0]!.failSeal = false;
  add("spans", "b");
  await pass(100);
  assert.deepEqual(
    inserts.map((i) => i.words),
    [["b"]],
  );
});

test("a store that is away refuses before the callback runs", (t) => {
  const self = bench(t);
  self.away = true;
  assert.throws(() => self.writer.append("spans", () => assert.fail("was called")), StoreUnavailable);
});

test("waiting bytes are bounded over all tables, in flight and open, and free again when stored or failed", async (t) => {
  const { writer, add, pass, inserts } = bench(t, { maxWaitingBytes: 10 });
  add("spans", "123456");
  await pass(20);
  add("logs", "7890");
  assert.throws(() => writer.append("spans", () => assert.fail("was called")), StoreOverloaded);
  inserts[0]!.resolve();
  await pass(0);
  add("spans", "1234567");
  assert.throws(() => add("logs", "x"), StoreOverloaded);
  await pass(100);
  inserts[1]!.reject(new Error("no"));
  await pass(0);
  add("logs", "x");
});

test("two blocks a table serve a steady load", async (t) => {
  const { add, pass, inserts, made } = bench(t);
  for (let i = 0; i < 20; i++) {
    add("spans", `row ${i}`);
    await pass(100);
    add("spans", `row ${i} during the insert`);
    inserts.at(-1)!.resolve();
    await pass(0);
  }
  assert.equal(made.length, 2);
});

test("close inserts what waits at once, resolves when it is stored, and refuses what comes later", async (t) => {
  const { writer, add, pass, inserts } = bench(t);
  const first = add("spans", "a");
  await pass(20);
  const second = add("spans", "b");
  const third = add("logs", "c");
  const closing = writer.close();
  assert.throws(() => add("spans", "late"), StoreUnavailable);
  await pass(0);
  assert.equal(await outcome(closing), "waits");
  assert.deepEqual(
    inserts.map((i) => i.words),
    [["a"], ["c"]],
  );
  inserts[0]!.resolve();
  await pass(0);
  assert.deepEqual(inserts[2]?.words, ["b"], "no pause on the way out");
  inserts[1]!.resolve();
  inserts[2]!.reject(new Error("gone"));
  assert.deepEqual(await Promise.all([first, second, third, closing].map(outcome)), [
    "stored",
    "StoreUnavailable",
    "stored",
    "stored",
  ]);
  await writer.close();
});

test("hold waits for inserts under way and lets none start until it is over", async (t) => {
  const { writer, add, pass, inserts } = bench(t);
  add("spans", "a");
  await pass(20);
  const inside = Promise.withResolvers<void>();
  let entered = false;
  const held = writer.hold(() => {
    entered = true;
    return inside.promise;
  });
  const waiting = add("logs", "b");
  await pass(500);
  assert.equal(entered, false);
  inserts[0]!.resolve();
  await pass(500);
  assert.equal(entered, true);
  assert.equal(inserts.length, 1);
  inside.resolve();
  await held;
  await pass(0);
  assert.deepEqual(inserts[1]?.words, ["b"]);
  inserts[1]!.resolve();
  assert.equal(await outcome(waiting), "stored");
  await assert.rejects(
    writer.hold(() => Promise.reject(new Error("inside"))),
    /inside/,
  );
  add("spans", "c");
  await pass(100);
  assert.equal(inserts.length, 3, "a hold that failed is over too");
});
