// What counts log records: patterns, statistics and aggregates.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient } from "./client.ts";
import type { Client } from "./client.ts";
import { assertFields, listOf, orNull, severityTexts } from "./fields.ts";
import { attributes, nowNano, rfc3339, sendLogs } from "./send-otlp.ts";

interface Aggregate {
  readonly results: readonly { key: string | null; value: number | null; count: number; timestamp?: string }[];
  readonly total_count: number;
}
interface Pattern {
  readonly pattern_id: string;
  readonly template: string;
  readonly sample: string;
  readonly count: number;
  readonly trend: string;
  readonly severity_distribution: readonly {
    severity: number;
    severity_text: string;
    count: number;
    percentage: number;
  }[];
}

let vigil: RunningVigil;
let client: Client;
const second = 1_000_000_000n;
const hour = 3_600n * second;
/** The start of the hour before last. */
const base = (nowNano() / hour) * hour - 2n * hour;

before(async () => {
  vigil = await startVigil();
  client = createClient(vigil.url);
});
after(() => vigil.stop());

/** Stores records given as text, severity, attributes and time. */
async function store(
  service: string,
  records: readonly { text: string; severity?: number; own?: object; at?: bigint }[],
) {
  const otlp = records.map(({ text, severity = 9, own = {}, at = base }) => ({
    timeUnixNano: String(at),
    severityNumber: severity,
    body: { stringValue: text },
    attributes: attributes(own as Record<string, unknown>),
  }));
  await sendLogs(client, { "service.name": service, region: "eu" }, otlp);
}

test("logs/stats: every field, exact counts, rates of the window, 24 hours by default", async () => {
  const at = base + 10n * second;
  await store("st", [
    ...Array.from({ length: 6 }, () => ({ text: "i", severity: 9, at })),
    { text: "w", severity: 13, at },
    { text: "e", severity: 17, at },
    { text: "f", severity: 21, at: at + 9n * second },
    { text: "late", severity: 9, at: at + 10n * second },
    { text: "old", severity: 9, at: nowNano() - 25n * hour },
  ]);
  const query = { serviceName: "st", startTime: rfc3339(at), endTime: rfc3339(at + 10n * second) };
  const stats = await client.read<Record<string, unknown>>("/api/v1/logs/stats", query);
  assertFields(stats, {
    total_count: "count",
    by_severity: listOf({ severity: severityTexts, count: "count", percentage: "percentage" }),
    by_service: listOf({ dimension: "string", count: "count", error_count: "count" }),
    logs_per_second: "number",
    error_rate: "ratio",
  });
  assert.equal(stats["total_count"], 9);
  assert.deepEqual(stats["by_service"], [{ dimension: "st", count: 9, error_count: 2 }]);
  assert.equal(stats["logs_per_second"], 0.9);
  assert.equal(stats["error_rate"], 2 / 9);
  const shares = stats["by_severity"] as { severity: string; count: number; percentage: number }[];
  assert.deepEqual(
    shares.map(({ severity, count }) => [severity, count]),
    [
      ["INFO", 6],
      ["WARN", 1],
      ["ERROR", 1],
      ["FATAL", 1],
    ],
  );
  assert.ok(Math.abs(shares.reduce((sum, { percentage }) => sum + percentage, 0) - 100) < 1e-9);
  const lastDay = await client.read<Record<string, number>>("/api/v1/logs/stats", { serviceName: "st" });
  assert.equal(lastDay["total_count"], 10);
  const empty = await client.read("/api/v1/logs/stats", { serviceName: "nobody" });
  assert.deepEqual(empty, { total_count: 0, by_severity: [], by_service: [], logs_per_second: 0, error_rate: 0 });
  const dayBefore = { serviceName: "st", endTime: rfc3339(nowNano() - 24n * hour) };
  assert.equal((await client.read<Record<string, number>>("/api/v1/logs/stats", dayBefore))["total_count"], 1);
});

test("logs/patterns: a bare array of every field; minCount from 1; counts over the whole window", async () => {
  await store("pat", [
    ...Array.from({ length: 20 }, (_, i) => ({
      text: `user ${i * 37} logged in from 10.0.0.${i}`,
      at: base + BigInt(i) * second,
    })),
    ...Array.from({ length: 5 }, (_, i) => ({
      text: `disk ${i} is full`,
      severity: i === 0 ? 13 : 17,
      at: base + BigInt(i) * second,
    })),
    { text: "unique thing happened" },
  ]);
  const range = { serviceName: "pat", startTime: rfc3339(base), endTime: rfc3339(base + hour) };
  const patterns = await client.read<Pattern[]>("/api/v1/logs/patterns", range);
  assert.ok(Array.isArray(patterns));
  for (const pattern of patterns) {
    assertFields(pattern, {
      pattern_id: "string",
      template: "string",
      sample: "string",
      count: "count",
      first_seen: "date-time",
      last_seen: "date-time",
      trend: ["increasing", "decreasing", "stable", "new", "spike"],
      severity_distribution: listOf({
        severity: "count",
        severity_text: severityTexts,
        count: "count",
        percentage: "percentage",
      }),
    });
  }
  assert.equal(
    patterns.reduce((sum, { count }) => sum + count, 0),
    26,
  );
  const login = patterns.find(({ count }) => count === 20);
  assert.match(login?.template ?? "", /^user <\*> logged in from <\*>$/);
  assert.match(login?.sample ?? "", /^user \d+ logged in from 10\.0\.0\.\d+$/);
  const disk = patterns.find(({ count }) => count === 5);
  assert.deepEqual(
    disk?.severity_distribution.map(({ severity, severity_text, count, percentage }) => [
      severity,
      severity_text,
      count,
      percentage,
    ]),
    [
      [17, "ERROR", 4, 80],
      [13, "WARN", 1, 20],
    ],
  );
  const frequent = await client.read<Pattern[]>("/api/v1/logs/patterns", { ...range, minCount: 5 });
  assert.deepEqual(
    frequent.map(({ count }) => count),
    [20, 5],
  );
  assert.deepEqual(
    frequent.map((pattern) => pattern.pattern_id),
    patterns.slice(0, 2).map((pattern) => pattern.pattern_id),
  );
  assert.deepEqual(await client.refusals("GET", "/api/v1/logs/patterns", { query: { minCount: 0 } }), [
    "minimum minCount",
  ]);
  assert.deepEqual(await client.read("/api/v1/logs/patterns", { serviceName: "nobody" }), []);
  const unbounded = await client.read<Pattern[]>("/api/v1/logs/patterns", { serviceName: "pat" });
  assert.deepEqual(
    unbounded.map(({ pattern_id, count }) => [pattern_id, count]),
    patterns.map(({ pattern_id, count }) => [pattern_id, count]),
  );
});

test("logs/patterns: trend is new, spike, increasing, decreasing or stable by the counts of 24 parts of the window", async () => {
  const [start, end] = [base - 22n * hour, base + 2n * hour];
  // How many records each hour of the window has.
  const flat = Array.from({ length: 24 }, () => 1);
  const counts: Readonly<Record<string, readonly number[]>> = {
    stable: flat,
    spike: flat.with(23, 9),
    increasing: flat.map((_, i) => (i < 12 ? 2 : 3)),
    decreasing: flat.map((_, i) => (i < 12 ? 3 : 2)),
    new: flat.map((_, i) => (i < 18 ? 0 : 1)),
  };
  const records = Object.entries(counts).flatMap(([trend, hours]) =>
    hours.flatMap((count, i) =>
      Array.from({ length: count }, () => ({ text: `${trend} happened`, at: start + BigInt(i) * hour })),
    ),
  );
  // Seen late in the window, and once before it: not new.
  const known = [start - hour, end - 5n * hour, end - 3n * hour].map((at) => ({ text: "known of old", at }));
  await store("trends", [...records, ...known]);
  const range = { serviceName: "trends", startTime: rfc3339(start), endTime: rfc3339(end) };
  const found = await client.read<Pattern[]>("/api/v1/logs/patterns", range);
  const trends = Object.fromEntries(found.map(({ template, trend }) => [template.split(" ")[0]!, trend]));
  const expected = Object.fromEntries(Object.keys(counts).map((trend) => [trend, trend]));
  assert.deepEqual(trends, { ...expected, known: "increasing" });
});

test("logs/aggregate: every function, group_by, time_bucket, top_n", async () => {
  const own = [1, 2, 3, 4, 10].map((ms, i) => ({ ms, route: i < 3 ? "/a" : "/b" }));
  await store(
    "agg",
    own.map((one, i) => ({ text: "x", own: one, at: base + BigInt(i) * 60n * second })),
  );
  const aggregate = async (aggregation: object): Promise<Aggregate> =>
    client.ask("POST", "/api/v1/logs/aggregate", { body: { query: { service_name: "agg" }, aggregation } });
  const expected = { count: 5, sum: 20, avg: 4, min: 1, max: 10, p50: 3, count_distinct: 5 };
  for (const [name, value] of Object.entries(expected)) {
    const { results, total_count } = await aggregate({ function: name, field: "ms" });
    assert.deepEqual([results.map((row) => row.value), total_count], [[value], 5], name);
  }
  for (const name of ["p90", "p95", "p99"]) {
    const value = (await aggregate({ function: name, field: "ms" })).results[0]!.value!;
    assert.ok(value > 4 && value <= 10, `${name} ${value}`);
  }
  const grouped = await aggregate({ function: "count", group_by: "route" });
  for (const row of grouped.results) assertFields(row, { key: "string", value: "number", count: "count" });
  assert.deepEqual(
    grouped.results.map(({ key, value }) => [key, value]),
    [
      ["/a", 3],
      ["/b", 2],
    ],
  );
  assert.equal((await aggregate({ function: "count", group_by: "route", top_n: 1 })).results.length, 1);
  for (const bucket of ["1m", "5m", "15m", "1h", "1d", "1w"]) {
    const { results } = await aggregate({ function: "count", time_bucket: bucket });
    for (const row of results)
      assertFields(row, { key: orNull("string"), value: "number", count: "count", timestamp: "date-time" });
    assert.equal(
      results.reduce((sum, { count }) => sum + count, 0),
      5,
      bucket,
    );
  }
  const minutes = await aggregate({ function: "count", time_bucket: "1m" });
  assert.deepEqual(
    minutes.results.map(({ timestamp }) => Date.parse(timestamp!)),
    own.map((_, i) => Number(base / 1_000_000n) + i * 60_000),
  );
  const wrong = { query: { limit: 1 }, aggregation: { function: "median", time_bucket: "2h", top_n: 0 }, extra: 1 };
  assert.deepEqual(await client.refusals("POST", "/api/v1/logs/aggregate", { body: wrong }), [
    "enum aggregation.function",
    "enum aggregation.time_bucket",
    "minimum aggregation.top_n",
    "unknown_field extra",
    "unknown_field query.limit",
  ]);
});
