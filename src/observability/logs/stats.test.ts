import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { rebuildRollups } from "../../telemetry/rollups.ts";
import { openLogApi } from "./api-for-tests.ts";
import type { LogApi } from "./api-for-tests.ts";
import { severities } from "./stats.ts";
import type { LogStats } from "./stats.ts";

interface Stored {
  readonly ts: bigint;
  readonly received: number;
  readonly service_name: string;
  readonly severity_text: (typeof severities)[number];
}

const second = 1_000_000_000n;
const minute = 60n * second;
const day = 1440n * minute;
const noon = 1_763_553_600n * second;

// Times at and around the edges of minutes, and odd ones; arrivals of three days, whatever the times.
const anyEdge = fc
  .tuple(fc.bigInt(-4n, 4n), fc.constantFrom(-1n, 0n, 1n, second, minute / 2n))
  .map(([minutes, nanos]) => minutes * minute + nanos);
const anyTime = fc.oneof(
  { weight: 6, arbitrary: anyEdge.map((edge) => noon + edge) },
  { weight: 1, arbitrary: anyEdge.map((edge) => noon - 3n * day + edge) },
  { weight: 1, arbitrary: anyEdge },
  { weight: 1, arbitrary: anyEdge.map((edge) => 130n * 365n * day + edge) },
  { weight: 1, arbitrary: fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 62n, -(2n ** 62n)) },
);
const anyRecord: fc.Arbitrary<Stored> = fc.record({
  ts: anyTime,
  received: fc.integer({ min: -2, max: 0 }).map((days) => Number(noon / second) + days * 86_400),
  service_name: fc.constantFrom("cart", "shop", ""),
  severity_text: fc.constantFrom(...severities),
});

let api: LogApi;
let records: readonly Stored[];
let seq = 0;

before(async () => {
  api = await openLogApi(() => Number(noon / 1_000_000n));
  records = fc.sample(anyRecord, { numRuns: 900, seed: 13 });
  // Several inserts, so that what belongs together is summed up across them.
  for (let at = 0; at < records.length; at += 150) await insert(records.slice(at, at + 150));
  await api.tables.insert("logs", [{ ...stored(records[0]!), workspace: "other" }]);
});

after(() => api.close());

function stored(record: Stored) {
  return { ...record, workspace: "default", seq: seq++ };
}

function insert(some: readonly Stored[]): Promise<void> {
  return api.tables.insert("logs", some.map(stored));
}

function recount(some: readonly Stored[], start: bigint, end: bigint, serviceName?: string): LogStats {
  const inside = some.filter(
    ({ ts, service_name }) => ts >= start && ts < end && (serviceName === undefined || service_name === serviceName),
  );
  const isError = ({ severity_text }: Stored) => severity_text === "ERROR" || severity_text === "FATAL";
  const total = inside.length;
  return {
    total_count: total,
    by_severity: severities
      .map((severity) => ({ severity, count: inside.filter((one) => one.severity_text === severity).length }))
      .filter(({ count }) => count > 0)
      .map((one) => ({ ...one, percentage: (one.count / total) * 100 })),
    by_service: [...Map.groupBy(inside, (one) => one.service_name)]
      .map(([dimension, of]) => ({ dimension, count: of.length, error_count: of.filter(isError).length }))
      .toSorted((a, b) => b.count - a.count || (a.dimension < b.dimension ? -1 : 1)),
    logs_per_second: total / (Number(end - start) / 1e9),
    error_rate: total === 0 ? 0 : inside.filter(isError).length / total,
  };
}

function rfc3339(nanos: bigint): string {
  const fraction = ((nanos % second) + second) % second;
  const date = new Date(Number((nanos - fraction) / 1_000_000n)).toISOString();
  return `${date.slice(0, 19)}.${String(fraction).padStart(9, "0")}Z`;
}

function stats(query: Record<string, string>): Promise<LogStats> {
  return api.get(`/logs/stats?${new URLSearchParams(query).toString()}`);
}

const anyWindow = fc
  .tuple(anyTime, anyTime)
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => (a < b ? { start: a, end: b } : { start: b, end: a }));

test("statistics are those of a recount, to the nanosecond", async () => {
  let counted = 0;
  await fc.assert(
    fc.asyncProperty(anyWindow, fc.constantFrom(undefined, "cart", "", "none"), async ({ start, end }, serviceName) => {
      const query = {
        startTime: rfc3339(start),
        endTime: rfc3339(end),
        ...(serviceName !== undefined && { serviceName }),
      };
      const expected = recount(records, start, end, serviceName);
      counted += expected.total_count > 0 ? 1 : 0;
      assert.deepEqual(await stats(query), expected);
    }),
    { numRuns: 200, seed: 31 },
  );
  assert.ok(counted > 80, `only ${counted} windows had records`);
});

test("without times it is the last 24 hours, and the 24 hours before an end", async () => {
  assert.deepEqual(await stats({}), recount(records, noon - day, noon));
  assert.deepEqual(await stats({ endTime: rfc3339(noon + 90n) }), recount(records, noon + 90n - day, noon + 90n));
  const since = noon - 61n * second;
  assert.deepEqual(await stats({ startTime: rfc3339(since) }), recount(records, since, noon));
});

test("a window that begins after now is empty, and so is one beyond all times", async () => {
  const empty = { total_count: 0, by_severity: [], by_service: [], logs_per_second: 0, error_rate: 0 };
  assert.deepEqual(await stats({ startTime: rfc3339(noon + day) }), empty);
  assert.deepEqual(await stats({ startTime: "0001-01-01T00:00:00Z", endTime: "0002-01-01T00:00:00Z" }), empty);
  const { total_count } = await stats({ startTime: "0001-01-01T00:00:00Z", endTime: "9999-12-31T23:59:59Z" });
  assert.equal(total_count, records.filter(({ ts }) => ts < 2n ** 63n - 1n).length);
});

test("built again the rollup is what it was", async () => {
  const { tables } = api;
  const sums = () =>
    tables.rows({
      sql: `
        SELECT workspace, toString(day) AS day, minute, service_name, severity_text, sum(logs) AS logs FROM log_stats
        GROUP BY ALL ORDER BY ALL`,
    });
  const summed = await sums();
  assert.ok(summed.length > 300);
  await tables.command("TRUNCATE TABLE log_stats");
  assert.equal((await stats({})).total_count, 0);
  const days = await rebuildRollups({ sql: tables, layout: { database: "vigil" }, hold: (work) => work() });
  assert.deepEqual(days, ["2025-11-17", "2025-11-18", "2025-11-19"]);
  assert.deepEqual(await sums(), summed);
  // And goes on from there.
  await rebuildRollups({ sql: tables, layout: { database: "vigil" }, hold: (work) => work() });
  await insert(records.slice(0, 50));
  const all = [...records, ...records.slice(0, 50)];
  assert.deepEqual(await stats({}), recount(all, noon - day, noon));
});

test("what is wrong with a request is said at once", async () => {
  const answer = await api.get<{ errors: { field: string; code: string }[] }>(
    "/logs/stats?service=a&startTime=yesterday&endTime=2025-01-01T00:00:00",
    400,
  );
  assert.deepEqual(answer.errors.map(({ field, code }) => `${field} ${code}`).toSorted(), [
    "endTime format",
    "service unknown_parameter",
    "startTime format",
  ]);
});
