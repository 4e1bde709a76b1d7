import assert from "node:assert/strict";
import { test } from "node:test";
import type { DiskSpace } from "../../../src/telemetry/retention.ts";
import type { Telemetry } from "../../../src/telemetry/store.ts";
import { appendLogs, appendSpans, openForTest, temporaryDirectory } from "./fixture.ts";

const dayMs = 86_400_000;
const today = Date.UTC(2026, 10, 21, 12);

/** A store with spans and logs of a service on each of the last `days` days; `now` is then today, `today`. */
async function openWithDays(
  t: Parameters<typeof openForTest>[0],
  days: number,
  options: Partial<Parameters<typeof openForTest>[1]>,
) {
  let now = today - (days - 1) * dayMs;
  const telemetry = await openForTest(t, { directory: temporaryDirectory(t), now: () => now, ...options });
  for (; now <= today; now += dayMs) {
    await Promise.all([
      appendSpans(telemetry.writer, { service: "shop", names: ["a"] }),
      appendLogs(telemetry.writer, "shop", "INFO", ["b"]),
    ]);
  }
  now = today;
  return telemetry;
}

async function daysOf(telemetry: Telemetry, table: string, column = "received"): Promise<number[]> {
  const rows = await telemetry.rows<{ age: number }>({
    sql: `SELECT DISTINCT dateDiff('day', toDate(${column}), toDate('2026-11-21')) AS age FROM ${table} ORDER BY age`,
  });
  return rows.map((row) => row.age);
}

test("each signal keeps its own number of days, what counts logs or spans theirs, service_activity the longest", async (t) => {
  const telemetry = await openWithDays(t, 7, { retention: { traces: 4, logs: 2, metrics: 1, minFreeDisk: "0" } });
  await telemetry.expire();
  assert.deepEqual(await daysOf(telemetry, "spans"), [0, 1, 2, 3, 4]);
  assert.deepEqual(await daysOf(telemetry, "logs"), [0, 1, 2]);
  assert.deepEqual(await daysOf(telemetry, "log_stats", "day"), [0, 1, 2]);
  assert.deepEqual(await daysOf(telemetry, "span_stats", "day"), [0, 1, 2, 3, 4]);
  assert.deepEqual(await daysOf(telemetry, "service_activity", "hour"), [0, 1, 2, 3, 4]);
  assert.deepEqual(await telemetry.expire(), [], "and nothing is left to do");
});

test("while the disk is too full the oldest days go, of all tables, never today's", async (t) => {
  const disk = { freeBytes: 50, totalBytes: 100 };
  const diskSpace = async (): Promise<DiskSpace> => ({ ...disk, freeBytes: disk.freeBytes++ });
  const retention = { traces: 30, logs: 30, metrics: 30, minFreeDisk: "4%" };
  const telemetry = await openWithDays(t, 4, { retention, diskSpace });
  disk.freeBytes = 2;
  assert.deepEqual(
    (await telemetry.expire()).map(({ table, day, why }) => `${why} ${day} ${table}`),
    ["2026-11-18", "2026-11-19"].flatMap((day) =>
      ["log_stats", "logs", "span_stats", "spans"].map((table) => `disk ${day} ${table}`),
    ),
  );
  assert.deepEqual(await daysOf(telemetry, "spans"), [0, 1]);
  assert.deepEqual(await daysOf(telemetry, "log_stats", "day"), [0, 1]);
  assert.deepEqual(await daysOf(telemetry, "service_activity", "hour"), [0, 1, 2, 3]);
  disk.freeBytes = -1_000;
  await telemetry.expire();
  assert.deepEqual(await daysOf(telemetry, "spans"), [0]);
  assert.deepEqual(await daysOf(telemetry, "logs"), [0]);
});

test("the engine knows the disk that the telemetry lies on", async (t) => {
  const telemetry = await openWithDays(t, 2, {
    retention: { traces: 30, logs: 30, metrics: 30, minFreeDisk: "99.999%" },
  });
  await telemetry.expire();
  assert.deepEqual(await daysOf(telemetry, "spans"), [0], "no disk is that empty, so that yesterday went");
});
