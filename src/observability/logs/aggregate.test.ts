import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { countBuckets, logFunctions } from "./aggregate.ts";
import type { AggregateResult, LogFunction, TimeBucket } from "./aggregate.ts";
import { openLogApi } from "./api-for-tests.ts";
import type { LogApi } from "./api-for-tests.ts";
import { resourceJson } from "./resource-for-tests.ts";

interface Answer {
  results: AggregateResult[];
  total_count: number;
}

interface Stored {
  readonly ts: bigint;
  readonly service_name: string;
  readonly severity_number: number;
  readonly trace_id: string;
  readonly attributes: Record<string, string>;
  readonly resource: Record<string, string | number>;
}

const second = 1_000_000_000n;
// A Wednesday; the records are of the eleven days around it, many of them in the same seconds.
const noon = 1_763_553_600n * second;
const widths: Record<TimeBucket, bigint> = {
  "1s": second,
  "1m": 60n * second,
  "5m": 300n * second,
  "15m": 900n * second,
  "1h": 3600n * second,
  "1d": 86_400n * second,
  "1w": 604_800n * second,
};

// Sums of these are exact in whatever order they are made.
const anyNumber = fc.constantFrom("0", "1", "2.5", "-3", "100", "1000000", "7.25");
const anyText = fc.constantFrom("", "a", "b", "12px", "nan", "inf");
const anyAttributes = fc.record(
  { size: fc.oneof(anyNumber, anyText), route: fc.constantFrom("/a", "/b", "/c", ""), team: fc.constantFrom("x", "y") },
  { requiredKeys: [], noNullPrototype: true },
);
const anyTime = fc
  .tuple(
    fc.integer({ min: -5, max: 5 }),
    fc.integer({ min: -2, max: 2 }),
    fc.bigInt(-3n, 3n),
    fc.constantFrom(0n, 1n, second - 1n),
  )
  .map(
    ([days, hours, seconds, nanos]) => noon + BigInt(days * 86_400 + hours * 3600) * second + seconds * second + nanos,
  );
const anyRecord: fc.Arbitrary<Stored> = fc.record({
  ts: anyTime,
  service_name: fc.constantFrom("cart", "shop", ""),
  severity_number: fc.constantFrom(0, 9, 17),
  trace_id: fc.constantFrom("", "0af7651916cd43dd8448eb211c80319c"),
  attributes: anyAttributes,
  resource: fc.record(
    { team: fc.constantFrom("y", "z"), region: fc.constantFrom('e"u', "us"), "process.pid": fc.constantFrom(1, 7) },
    { requiredKeys: [], noNullPrototype: true },
  ),
});

let api: LogApi;
let records: readonly Stored[];

before(async () => {
  api = await openLogApi(() => Number(noon / 1_000_000n) + 86_400_000);
  records = fc.sample(anyRecord, { numRuns: 700, seed: 3 });
  await api.tables.insert(
    "logs",
    records.map((record, seq) => ({ ...record, workspace: "default", seq, resource: resourceJson(record.resource) })),
  );
  await api.tables.insert("logs", [{ workspace: "other", seq: 10_000, ts: noon, service_name: "cart" }]);
});

after(() => api.close());

const aggregate = (query: object, aggregation: object) =>
  api.post<Answer>("/logs/aggregate", { query: { ...wholeTime, ...query }, aggregation });
const wholeTime = { time_start: "2025-11-13T00:00:00Z", time_end: "2025-11-26T00:00:00Z" };

function valueOf(record: Stored, name: string): string | null {
  if (name === "service_name" || name === "trace_id") return record[name] || null;
  if (name === "severity_number") return String(record.severity_number);
  const value = record.attributes[name] ?? record.resource[name];
  return value === undefined ? null : String(value);
}

/** What a function makes of the values of records, null where a record has none. */
function compute(name: LogFunction, hasField: boolean, values: readonly (string | null)[]): number | null {
  const texts = values.filter((value) => value !== null);
  if (name === "count") return hasField ? texts.length : values.length;
  if (name === "count_distinct") return new Set(texts).size;
  const numbers = texts.filter((text) => text !== "" && Number.isFinite(Number(text))).map(Number);
  if (numbers.length === 0) return null;
  const sorted = numbers.toSorted((a, b) => a - b);
  const sum = numbers.reduce((a, b) => a + b, 0);
  if (name === "sum") return sum;
  if (name === "avg") return sum / numbers.length;
  if (name === "min") return sorted[0]!;
  if (name === "max") return sorted.at(-1)!;
  const at = (Number(name.slice(1)) / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(at)]!;
  return below + (at - Math.floor(at)) * (sorted[Math.ceil(at)]! - below);
}

interface Asked {
  readonly function: LogFunction;
  readonly field?: string;
  readonly group_by?: string;
  readonly top_n?: number;
  readonly time_bucket?: TimeBucket;
}

function recount(selected: readonly Stored[], asked: Asked): Answer {
  const value = (some: readonly Stored[]) =>
    compute(
      asked.function,
      asked.field !== undefined,
      some.map((one) => (asked.field ? valueOf(one, asked.field) : "")),
    );
  const groups = Map.groupBy(selected, (one) => (asked.group_by ? valueOf(one, asked.group_by) : null));
  const top = [...groups]
    .map(([key, some]) => ({ key, some, value: value(some) }))
    .toSorted(
      (a, b) =>
        (b.value ?? -Infinity) - (a.value ?? -Infinity) ||
        Number(a.key === null) - Number(b.key === null) ||
        (a.key! < b.key! ? -1 : 1),
    )
    .slice(0, asked.group_by ? (asked.top_n ?? 10) : 1);
  const total_count = selected.length;
  const { time_bucket } = asked;
  if (!time_bucket) return { results: top.map(({ some, ...one }) => ({ ...one, count: some.length })), total_count };
  const width = widths[time_bucket];
  const origin = time_bucket === "1w" ? 4n * widths["1d"] : 0n;
  const startOf = ({ ts }: Stored) => ((ts - origin) / width) * width + origin;
  const buckets = [
    ...Map.groupBy(
      top.flatMap(({ some }) => some),
      startOf,
    ),
  ].toSorted((a, b) => Number(a[0] - b[0]));
  const results = buckets.flatMap(([start, inside]) =>
    top.flatMap(({ key, some }) => {
      const both = some.filter((one) => inside.includes(one));
      const timestamp = new Date(Number(start / 1_000_000n)).toISOString();
      return both.length === 0 ? [] : [{ key, value: value(both), count: both.length, timestamp }];
    }),
  );
  return { results, total_count };
}

/** Values within what the order of additions and interpolation may change. */
function assertSame(actual: Answer, expected: Answer): void {
  const round = ({ results, total_count }: Answer) => ({
    results: results.map((one) => ({ ...one, value: one.value === null ? null : Number(one.value.toPrecision(12)) })),
    total_count,
  });
  assert.deepEqual(round(actual), round(expected));
}

const anyField = fc.constantFrom("size", "team", "region", "process.pid", "severity_number", "trace_id", "absent");
const anyAsked: fc.Arbitrary<Asked> = fc
  .record(
    {
      function: fc.constantFrom(...logFunctions),
      field: anyField,
      group_by: fc.constantFrom("service_name", "route", "team", "region", "process.pid", "severity_number", "absent"),
      top_n: fc.integer({ min: 1, max: 4 }),
      time_bucket: fc.constantFrom("15m", "1h", "1d", "1w"),
    },
    { requiredKeys: ["function"], noNullPrototype: true },
  )
  .map((asked) => (asked.function === "count" || asked.field ? asked : { ...asked, field: "size" }));

test("the engine computes what a recount does", async () => {
  const asked = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyAsked, fc.option(anyTime), fc.constantFrom(undefined, 9), async (one, from, severity_min) => {
      const selected = records.filter(
        (record) =>
          (from === null || record.ts >= from) &&
          (severity_min === undefined || record.severity_number >= severity_min),
      );
      asked.add(one.function).add(one.time_bucket ?? "");
      const query = { severity_min, ...(from !== null && { time_start: rfc3339(from) }) };
      assertSame(await aggregate(query, one), recount(selected, one));
    }),
    { numRuns: 250, seed: 29 },
  );
  assert.equal(asked.size, logFunctions.length + 5);
});

function rfc3339(nanos: bigint): string {
  return `${new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 19)}.${String(nanos % second).padStart(9, "0")}Z`;
}

test("the short buckets too, and the attribute filters of a search", async () => {
  const window = { time_start: rfc3339(noon - 5n * second), time_end: rfc3339(noon + 5n * second) };
  const filters = [{ key: "size", operator: "exists" }];
  const selected = records.filter(
    ({ ts, attributes }) => ts >= noon - 5n * second && ts < noon + 5n * second && attributes["size"] !== undefined,
  );
  assert.ok(selected.length > 5);
  for (const time_bucket of ["1s", "1m", "5m"] as const) {
    const asked = { function: "count", time_bucket, group_by: "route" } as const;
    assertSame(await aggregate({ ...window, attribute_filters: filters }, asked), recount(selected, asked));
  }
});

test("without times it is the last 24 hours, and without more a count", async () => {
  const inDay = records.filter(({ ts }) => ts >= noon && ts < noon + widths["1d"]).length;
  assert.ok(inDay > 20);
  const expected = { results: [{ key: null, value: inDay, count: inDay }], total_count: inDay };
  assert.deepEqual(await api.post("/logs/aggregate", { aggregation: {} }), expected);
  const until = { time_end: rfc3339(noon + widths["1d"]) };
  assert.deepEqual(await api.post("/logs/aggregate", { query: until, aggregation: {} }), expected);
});

test("nothing selected is no result", async () => {
  const none = { results: [], total_count: 0 };
  for (const more of [{}, { group_by: "team" }, { time_bucket: "1d" }, { group_by: "team", time_bucket: "1d" }]) {
    assert.deepEqual(await aggregate({ service_name: "nobody" }, more), none);
  }
});

test("keys are cut, and odd times have buckets too", async () => {
  const year = 365n * widths["1d"];
  const odd = { workspace: "default", service_name: "odd", attributes: { long: "日".repeat(3_000) } };
  await api.tables.insert("logs", [
    { ...odd, seq: 20_000, ts: 1n },
    { ...odd, seq: 20_001, ts: -1n },
    { ...odd, seq: 20_002, ts: 130n * year },
  ]);
  const always = { service_name: "odd", time_start: "0001-01-01T00:00:00Z", time_end: "9999-12-31T00:00:00Z" };
  assert.deepEqual(await aggregate(always, { group_by: "long" }), {
    results: [{ key: "日".repeat(1_000), value: 3, count: 3 }],
    total_count: 3,
  });
  const first = { service_name: "odd", time_start: "1969-12-01T00:00:00Z", time_end: "1970-01-02T00:00:00Z" };
  const one = { key: null, value: 1, count: 1 };
  assert.deepEqual((await aggregate(first, { time_bucket: "1h" })).results, [
    { ...one, timestamp: "1969-12-31T23:00:00.000Z" },
    { ...one, timestamp: "1970-01-01T00:00:00.000Z" },
  ]);
  const last = { service_name: "odd", time_start: "2099-01-01T00:00:00Z", time_end: "2100-01-01T00:00:00Z" };
  assert.deepEqual((await aggregate(last, { time_bucket: "1w" })).results, [
    { ...one, timestamp: "2099-11-30T00:00:00.000Z" },
  ]);
});

test("what is wrong with a body is said at once", async () => {
  const refused = (body: object) => api.refusal("/logs/aggregate", body);
  assert.deepEqual(await refused({}), ["aggregation required"]);
  assert.deepEqual(
    await refused({ query: "text", aggregation: { function: "p42", time_bucket: "2h", top_n: 0, by: "a" } }),
    [
      "query type",
      "aggregation.by unknown_field",
      "aggregation.function enum",
      "aggregation.top_n minimum",
      "aggregation.time_bucket enum",
    ],
  );
  const query = {
    query: '"open',
    time_start: "2025-01-02T00:00:00Z",
    time_end: "2025-01-01T00:00:00Z",
    attribute_filters: [{ key: "a", operator: "gt", value: "b" }],
  };
  assert.deepEqual(await refused({ query, aggregation: { function: "sum" } }), [
    "query.time_start time_range.invalid",
    "query.query query.invalid",
    "query.attribute_filters[0].value type",
    "aggregation.field required",
  ]);
});

test("more results than are answered are refused beforehand", async () => {
  const hours = (count: number) => ({
    time_start: "2025-11-19T00:00:00Z",
    time_end: rfc3339(noon + BigInt(count - 12) * 3600n * second),
  });
  const refused = (body: object) => api.refusal("/logs/aggregate", body);
  const tooMany = ["aggregation.time_bucket maximum"];
  assert.deepEqual(await refused({ query: hours(6), aggregation: { time_bucket: "1s" } }), tooMany);
  assert.deepEqual(await refused({ aggregation: { time_bucket: "1s" } }), tooMany);
  assert.deepEqual(
    await refused({ query: hours(24), aggregation: { time_bucket: "1m", group_by: "team", top_n: 14 } }),
    tooMany,
  );
  await aggregate(hours(5), { time_bucket: "1s" });
  await aggregate(hours(24), { time_bucket: "1m", group_by: "team", top_n: 13 });
});

test("buckets are counted with the ragged ones at the ends", () => {
  const hour = widths["1h"];
  assert.equal(countBuckets("1h", 0n, hour), 1);
  assert.equal(countBuckets("1h", 0n, hour + 1n), 2);
  assert.equal(countBuckets("1h", hour - 1n, hour + 1n), 2);
  assert.equal(countBuckets("1h", -1n, 1n), 2);
  assert.equal(countBuckets("1h", 5n, 5n), 0);
  assert.equal(countBuckets("1w", 4n * widths["1d"] - 1n, 4n * widths["1d"] + 1n), 2);
  assert.equal(countBuckets("1w", 0n, 1n), 1);
});
