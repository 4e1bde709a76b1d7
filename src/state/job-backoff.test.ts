import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffMs } from "./job-backoff.ts";

test("waits double from a second to a quarter of an hour, the second half by chance", () => {
  const least = [1, 2, 3, 10, 11, 1000].map((attempt) => backoffMs(attempt, () => 0));
  const most = [1, 2, 3, 10, 11, 1000].map((attempt) => backoffMs(attempt, () => 1));
  assert.deepEqual(least, [500, 1000, 2000, 256_000, 450_000, 450_000]);
  assert.deepEqual(most, [1000, 2000, 4000, 512_000, 900_000, 900_000]);
});
