import assert from "node:assert/strict";
import { test } from "node:test";
import { trendBuckets, trendOf } from "./trend.ts";

const buckets = (count: (bucket: number) => number) =>
  Array.from({ length: trendBuckets }, (_, bucket) => count(bucket));
const trend = (count: (bucket: number) => number, isNew = false) => trendOf({ buckets: buckets(count), isNew });

test("as many in both halves is stable, half as many again is not", () => {
  assert.equal(
    trend(() => 10),
    "stable",
  );
  assert.equal(
    trend((b) => (b < 12 ? 100 : 149)),
    "stable",
  );
  assert.equal(
    trend((b) => (b < 12 ? 100 : 150)),
    "increasing",
  );
  assert.equal(
    trend((b) => (b < 12 ? 149 : 100)),
    "stable",
  );
  assert.equal(
    trend((b) => (b < 12 ? 150 : 100)),
    "decreasing",
  );
  assert.equal(
    trend((b) => (b < 12 ? 5 : 0)),
    "decreasing",
  );
  assert.equal(
    trend((b) => (b >= 12 && b < 23 ? 5 : 0)),
    "increasing",
  );
});

test("a spike is in the last bucket, three times the mean and three standard deviations over the others", () => {
  assert.equal(
    trend((b) => (b === 23 ? 30 : 10)),
    "spike",
  );
  assert.equal(
    trend((b) => (b === 23 ? 29 : 10)),
    "stable",
  );
  assert.equal(
    trend((b) => (b === 22 ? 300 : 10)),
    "increasing",
  );
  // The others scatter: their mean is 240 / 23, their standard deviation 10 and a bit.
  assert.equal(
    trend((b) => (b === 23 ? 35 : b % 2 === 0 ? 20 : 0)),
    "stable",
  );
  assert.equal(
    trend((b) => (b === 23 ? 42 : b % 2 === 0 ? 20 : 0)),
    "spike",
  );
  assert.equal(
    trend((b) => (b === 23 ? 1 : 0)),
    "spike",
  );
});

test("new comes before spike, and spike before increasing", () => {
  assert.equal(
    trend((b) => (b === 23 ? 30 : 0), true),
    "new",
  );
  assert.equal(
    trend((b) => (b === 23 ? 900 : b < 12 ? 1 : 2)),
    "spike",
  );
});
