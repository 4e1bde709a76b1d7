import assert from "node:assert/strict";
import { test } from "node:test";
import { namedLocks } from "./named-locks.ts";

test("those of one name go one after the other in order, those of another do not wait", async () => {
  const lock = namedLocks();
  const seen: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const first = lock("a", async () => {
    await gate;
    seen.push("first");
    throw new Error("no");
  });
  const second = lock("a", async () => void seen.push("second"));
  const third = lock("a", async () => void seen.push("third"));
  await lock("b", async () => void seen.push("other"));
  open();
  await assert.rejects(first, /no/);
  await Promise.all([second, third]);
  assert.deepEqual(seen, ["other", "first", "second", "third"]);
});
