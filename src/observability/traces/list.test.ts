import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { openTables } from "../logs/tables-for-tests.ts";
import type { Tables } from "../logs/tables-for-tests.ts";
import { readTraces, traceKeys } from "./list.ts";
import { spanStatuses } from "./trace-filter.ts";
import type { TraceFilter } from "./trace-filter.ts";

interface StoredSpan {
  trace: number;
  offset: number;
  duration_ns: number;
  service_name: string;
  name: string;
  status_code: number;
  status_message: string;
  attributes: Record<string, string>;
  resource: string;
}

const noon = 1_763_640_000_000_000_000n;
let tables: Tables;
let spans: StoredSpan[];

const text = fc.constantFrom("cart", "Pay", "pay card", 'say "hi"', "50%", "");
const resources = [
  "",
  '{"service.name":"a","process.pid":17,"attributes":[{"key":"team","value":"red"}],"dropped_attributes_count":0}',
  '{"service.name":"b","attributes":[{"key":"note","value":"\\"team\\":\\"red\\""}],"dropped_attributes_count":0}',
];

/** Starts lie close, so that traces overlap, and many are equal; a trace may have spans at both ends of all time. */
const storedSpan: fc.Arbitrary<StoredSpan> = fc.record({
  trace: fc.oneof(fc.integer({ min: 0, max: 179 }), fc.integer({ min: 0, max: 9 })),
  offset: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 4_000 })),
  duration_ns: fc.integer({ min: -100, max: 2_000 }),
  service_name: fc.constantFrom("a", "a", "a", "b", "rare"),
  name: fc.constantFrom("GET /cart", "get /pay", "other"),
  status_code: fc.constantFrom(0, 0, 0, 0, 1, 2),
  status_message: text,
  attributes: fc.dictionary(fc.constantFrom("team", "http.route", "pid"), text, { maxKeys: 2 }),
  resource: fc.constantFrom(...resources),
});

before(async () => {
  tables = await openTables();
  spans = fc.sample(storedSpan, { numRuns: 900, seed: 11 });
  const rows = spans.map(({ trace, offset, ...rest }, i) => ({
    ...rest,
    workspace: "w",
    seq: i,
    ts: noon + BigInt(offset),
    trace_id: idOf(trace),
    span_id: (i + 1).toString(16).padStart(16, "0"),
    // Half of them arrived a day later: in another partition.
    received: Number(noon / 1_000_000_000n) + (i % 2) * 86_400,
  }));
  await tables.insert("spans", [...rows, { ...rows[0]!, workspace: "other", seq: 10_000 }]);
});

after(() => tables.close());

/** Ids that do not lie in the order of their numbers. */
function idOf(trace: number): string {
  return ((trace * 7919) % 1000).toString(16).padStart(4, "0") + trace.toString(16).padStart(28, "0");
}

/** What the store should answer, counted in JavaScript: in order, as `start id spans errors duration`. */
function expected(filter: TraceFilter): string[] {
  const passes = (span: StoredSpan): boolean => {
    const { attributes, resource, name, status_message } = span;
    const texts = [name, status_message, ...Object.values(attributes)].map((one) => one.toLowerCase());
    const parsed = resource === "" ? { attributes: [] } : (JSON.parse(resource) as Record<string, unknown>);
    const others = parsed["attributes"] as { key: string; value: string }[];
    const known = Object.entries(parsed).filter(([, value]) => typeof value !== "object");
    const pairs = [...Object.entries(attributes), ...others.map(({ key, value }) => [key, value]), ...known];
    return (
      (filter.serviceName ?? span.service_name) === span.service_name &&
      (filter.operationName ?? name) === name &&
      (filter.status === undefined || spanStatuses.indexOf(filter.status) === span.status_code) &&
      (filter.words ?? []).every((word) => texts.some((one) => one.includes(word.toLowerCase()))) &&
      Object.entries(filter.tags ?? {}).every(([key, value]) =>
        pairs.some(([one, is]) => one === key && String(is) === value),
      )
    );
  };
  const traces = [...Map.groupBy(spans, ({ trace }) => trace)].map(([trace, of]) => ({
    id: idOf(trace),
    start: noon + BigInt(Math.min(...of.map(({ offset }) => offset))),
    end: noon + BigInt(Math.max(...of.map(({ offset, duration_ns }) => offset + Math.max(duration_ns, 0)))),
    count: of.length,
    errors: of.filter(({ status_code }) => status_code === 2).length,
    has: of.some(passes),
  }));
  return traces
    .filter(
      ({ start, end, has }) =>
        has &&
        start >= (filter.start ?? start) &&
        (filter.end === undefined || start < filter.end) &&
        end - start >= (filter.minDuration ?? 0n) &&
        end - start <= (filter.maxDuration ?? end),
    )
    .toSorted((a, b) => Number(b.start - a.start) || (a.id < b.id ? 1 : -1))
    .map((trace) => `${trace.start} ${trace.id} ${trace.count} ${trace.errors} ${trace.end - trace.start}`);
}

/** All pages in one direction; what each trace says, in the order of the list. */
async function walk(filter: TraceFilter, limit: number, direction: "next" | "prev"): Promise<string[]> {
  const seen: string[] = [];
  let keys: readonly string[] | undefined;
  for (;;) {
    const page = { limit, direction, keys, continued: keys !== undefined, binding: "" };
    const rows = await readTraces(tables, filter, page);
    assert.ok(rows.length <= limit + 1);
    const items = rows.slice(0, limit);
    const lines = items.map((trace) => {
      assert.equal(trace.has_error, trace.error_count > 0);
      return `${traceKeys(trace).join(" ")} ${trace.span_count} ${trace.error_count} ${trace.duration_ns}`;
    });
    seen.push(...lines);
    if (rows.length <= limit) return direction === "next" ? seen : seen.toReversed();
    keys = traceKeys(items.at(-1)!);
  }
}

const filterParts: { [Name in Exclude<keyof TraceFilter, "workspace">]-?: fc.Arbitrary<TraceFilter[Name]> } = {
  serviceName: fc.constantFrom("a", "b", "rare", "nobody"),
  operationName: fc.constantFrom("GET /cart", "get /pay"),
  status: fc.constantFrom(...spanStatuses),
  words: fc.array(fc.constantFrom("PAY", "cart", '"', "%"), { maxLength: 2 }),
  tags: fc.constantFrom<Record<string, string>[]>(
    { team: "red" },
    { team: "" },
    { "http.route": "50%" },
    { "process.pid": "17" },
    { "process.pid": "1" },
    { team: "cart", "service.name": "a" },
  ),
  start: fc.bigInt(noon, noon + 1_000n),
  end: fc.bigInt(noon, noon + 4_000n),
  minDuration: fc.bigInt(0n, 3_000n),
  maxDuration: fc.bigInt(500n, 5_000n),
};
const filter: fc.Arbitrary<TraceFilter> = fc
  .subarray(Object.keys(filterParts) as (keyof typeof filterParts)[], { minLength: 1, maxLength: 3 })
  .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, filterParts[name]]))))
  .map((parts) => ({ ...parts, workspace: "w" }));

test("without a filter, pages hold each trace once, in order, in both directions", async () => {
  const all = expected({ workspace: "w" });
  assert.ok(all.length > 150);
  for (const limit of [13, 60]) {
    assert.deepEqual(await walk({ workspace: "w" }, limit, "next"), all);
    assert.deepEqual(await walk({ workspace: "w" }, limit, "prev"), all);
  }
});

test("with any filter too, and nothing else is on them", async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(filter, fc.integer({ min: 9, max: 60 }), async (one, limit) => {
      const all = expected(one);
      found += all.length;
      assert.deepEqual(await walk(one, limit, "next"), all);
      assert.deepEqual(await walk(one, limit, "prev"), all);
    }),
    { numRuns: 25, seed: 3 },
  );
  assert.ok(found > 300, `the filters found ${found} traces`);
});

test("each single filter finds what it should", async () => {
  const single: Omit<TraceFilter, "workspace">[] = [
    { serviceName: "rare" },
    { operationName: "other" },
    { status: "ok" },
    { words: ["pay card"] },
    { words: ["PAY", "cart"] },
    { tags: { team: "red" } },
    { tags: { team: "" } },
    { tags: { pid: 'say "hi"' } },
    { tags: { "process.pid": "17" } },
    { minDuration: 3_000n },
    { maxDuration: 900n },
    { start: noon + 30n },
    { end: noon + 30n },
    { serviceName: "rare", status: "error", start: noon + 5n, end: noon + 800n },
  ];
  for (const one of single) {
    const all = expected({ workspace: "w", ...one });
    assert.ok(all.length > 0, JSON.stringify(Object.keys(one)));
    assert.deepEqual(await walk({ workspace: "w", ...one }, 25, "next"), all);
  }
});

test("a trace whose spans fill many stretches is one trace", async () => {
  const id = "ab".repeat(16);
  await tables.command(
    "INSERT INTO spans (workspace, seq, ts, trace_id, span_id) SELECT 'long', number, " +
      `fromUnixTimestamp64Nano(toInt64(${noon} + number), 'UTC'), if(number % 5000 = 7, unhex('${"cd".repeat(16)}'), unhex('${id}')), ` +
      "reinterpretAsFixedString(number) FROM numbers(20000)",
  );
  const lines = [`${noon + 7n} ${"cd".repeat(16)} 4 0 15000`, `${noon} ${id} 19996 0 19999`];
  assert.deepEqual(await walk({ workspace: "long" }, 1, "next"), lines);
  assert.deepEqual(await walk({ workspace: "long" }, 1, "prev"), lines);
});

test("traces that began before the range and go on in it are passed over, however many they are", async () => {
  const span = (trace: number, seq: number, offset: number) => ({
    workspace: "crowd",
    seq,
    trace_id: idOf(trace),
    span_id: seq.toString(16).padStart(16, "0"),
    ts: noon + BigInt(offset),
    duration_ns: 50,
  });
  const crowd = Array.from({ length: 100 }, (_, i) => [span(i, 2 * i, -1), span(i, 2 * i + 1, 10 + i)]);
  const late = Array.from({ length: 5 }, (_, i) => span(200 + i, 1_000 + i, 300 + i));
  await tables.insert("spans", [...crowd.flat(), ...late]);
  const lines = late.map(({ ts, trace_id }) => `${ts} ${trace_id} 1 0 50`).toReversed();
  const inRange = { workspace: "crowd", start: noon, minDuration: 50n };
  assert.deepEqual(await walk(inRange, 2, "prev"), lines);
  assert.deepEqual(await walk(inRange, 2, "next"), lines);
});

test("the root is the earliest span without a parent, else the earliest", async () => {
  const span = (trace: string, seq: number, parent: string, at: bigint) => ({
    workspace: "roots",
    seq,
    trace_id: trace.repeat(32),
    span_id: seq.toString(16).padStart(16, "0"),
    parent_span_id: parent,
    ts: noon + at,
    name: `s${seq}`,
  });
  await tables.insert("spans", [
    span("1", 1, "00000000000000ff", 0n),
    span("1", 2, "0000000000000000", 2n),
    span("1", 3, "0000000000000000", 1n),
    span("2", 4, "00000000000000ff", -4n),
    span("2", 5, "00000000000000fe", -5n),
  ]);
  const page = { limit: 5, direction: "next", keys: undefined, continued: false, binding: "" } as const;
  const roots = (await readTraces(tables, { workspace: "roots" }, page)).map(({ root_span }) => root_span);
  assert.deepEqual(
    roots.map(({ name, parent_span_id }) => [name, parent_span_id]),
    [
      ["s3", undefined],
      ["s5", "00000000000000fe"],
    ],
  );
});
