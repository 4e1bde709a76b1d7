import assert from "node:assert/strict";
import { test } from "node:test";
import { createDedup } from "./dedup.ts";

const minute = 60_000;

function counting(options: { maxEntries?: number } = {}) {
  let time = 0;
  let runs = 0;
  const dedup = createDedup<number>({ ...options, now: () => time });
  return {
    at: (ms: number) => (time = ms),
    once: (key: string) => dedup.once(key, async () => ++runs),
    runs: () => runs,
  };
}

test("a result is remembered for five minutes after it was reached", async () => {
  const { at, once, runs } = counting();
  assert.equal(await once("a"), 1);
  at(5 * minute - 1);
  assert.equal(await once("a"), 1);
  at(5 * minute);
  assert.equal(await once("a"), 2);
  assert.equal(runs(), 2);
});

test("the window starts at the end of what took long", async () => {
  let time = 0;
  const dedup = createDedup<string>({ now: () => time });
  const slow = Promise.withResolvers<string>();
  const first = dedup.once("a", () => slow.promise);
  time = 10 * minute;
  assert.equal(
    dedup.once("a", () => assert.fail("it is still running")),
    first,
  );
  slow.resolve("done");
  await first;
  time = 14 * minute;
  assert.equal(await dedup.once("a", () => assert.fail("it is remembered")), "done");
});

test("only so many are remembered, the latest ones", async () => {
  const { once, runs } = counting({ maxEntries: 2 });
  for (const key of ["a", "b", "c", "d"]) await once(key);
  assert.equal(runs(), 4);
  assert.equal(await once("d"), 4);
  assert.equal(await once("a"), 5);
});

test("what fails, at once or later, is forgotten", async () => {
  const dedup = createDedup<string>();
  await assert.rejects(
    dedup.once("a", () => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.throws(
    () =>
      dedup.once("a", () => {
        throw new Error("never");
      }),
    /never/,
  );
  assert.equal(await dedup.once("a", async () => "yes"), "yes");
});
