import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import type { FastifyInstance } from "fastify";
import { createLog } from "../../core/log.ts";
import { createApi } from "../http/server.ts";
import { logOrders } from "./read.ts";
import { logRoutes } from "./routes.ts";
import { openTables } from "./tables-for-tests.ts";
import type { Tables } from "./tables-for-tests.ts";

interface LogPage {
  items: { attributes: { key: string; value: string }[]; [field: string]: unknown }[];
  has_more: boolean;
  next_cursor: string | null;
  prev_cursor: string | null;
}

let tables: Tables;
let app: FastifyInstance;
const noon = 1_763_640_000_000_000_000n;

before(async () => {
  tables = await openTables();
  app = createApi({ log: createLog("silent"), version: "0.0.0", access: { mode: "local" } });
  logRoutes(app, tables);
  await app.ready();
  await tables.insert("logs", [fullRecord, emptyRecord, { ...emptyRecord, workspace: "other", seq: 3 }]);
});

after(async () => {
  await app.close();
  await tables.close();
});

const fullRecord = {
  workspace: "default",
  seq: 1,
  ts: noon + 123_456_789n,
  observed_ts: noon + 987_654_321n,
  severity_number: 17,
  severity_text: "ERROR",
  event_name: "checkout.failed",
  body: 'a "quoted"\tline\nof text / \\ \u0001 日本 😀',
  body_type: "s",
  trace_id: "5b8efff798038103d269b633813fc60c",
  span_id: "eee19b7ec3c1b174",
  flags: 4_294_967_295,
  service_namespace: "shop",
  service_name: "full",
  resource: '{"service.name":"full","process.pid":7,"attributes":[],"dropped_attributes_count":0}',
  scope: '{"name":"lib","version":"1.0.0","attributes":[],"dropped_attributes_count":2}',
  attributes: { "http.route": "/cart", 'odd "key"\n': "a/b\\\t" },
  dropped_attributes: 3,
};

const emptyRecord = {
  workspace: "default",
  seq: 2,
  ts: 1n,
  observed_ts: 2n,
  body: "",
  body_type: "n",
  service_name: "empty",
  severity_text: "UNSPECIFIED",
};

async function get(query: Record<string, string | number | undefined>, status = 200) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const answer = await app.inject({ url: `/api/v1/logs?${search}`, headers: { host: "localhost" } });
  assert.equal(answer.statusCode, status, answer.body);
  return answer;
}

async function list(query: Record<string, string | number | undefined>): Promise<LogPage> {
  return (await get(query)).json<LogPage>();
}

async function refused(query: Record<string, string | number>): Promise<string[]> {
  const answer = await get(query, 400);
  assert.match(String(answer.headers["content-type"]), /^application\/problem\+json/);
  return answer
    .json<{ errors: { field: string; code: string }[] }>()
    .errors.map(({ field, code }) => `${field} ${code}`)
    .toSorted();
}

test("a record has every field, with all digits", async () => {
  const answer = await get({ serviceName: "full" });
  assert.match(String(answer.headers["content-type"]), /^application\/json/);
  assert.match(answer.body, /"time_unix_nano":1763640000123456789,"observed_time_unix_nano":1763640000987654321,/);
  const { items, ...rest } = answer.json<LogPage>();
  assert.deepEqual(rest, { has_more: false, next_cursor: null, prev_cursor: null });
  assert.deepEqual(items[0], {
    time_unix_nano: Number(fullRecord.ts),
    observed_time_unix_nano: Number(fullRecord.observed_ts),
    severity_number: 17,
    severity_text: "ERROR",
    body: { string_value: fullRecord.body },
    resource: { "service.name": "full", "process.pid": 7, attributes: [], dropped_attributes_count: 0 },
    attributes: [
      { key: "http.route", value: "/cart" },
      { key: 'odd "key"\n', value: "a/b\\\t" },
    ],
    dropped_attributes_count: 3,
    flags: 4_294_967_295,
    trace_id: "5b8efff798038103d269b633813fc60c",
    span_id: "eee19b7ec3c1b174",
    instrumentation_scope: { name: "lib", version: "1.0.0", attributes: [], dropped_attributes_count: 2 },
  });
});

test("what a record does not have is left out", async () => {
  assert.deepEqual((await list({ serviceName: "empty" })).items, [
    {
      time_unix_nano: 1,
      observed_time_unix_nano: 2,
      severity_number: 0,
      severity_text: "UNSPECIFIED",
      body: {},
      resource: {},
      attributes: [],
      dropped_attributes_count: 0,
      flags: 0,
      instrumentation_scope: {},
    },
  ]);
});

test("each kind of body comes in the member of its kind", async () => {
  const bodies = [
    ["s", "text", { string_value: "text" }],
    ["s", "", { string_value: "" }],
    ["b", "true", { string_value: "true" }],
    ["i", "9223372036854775807", { string_value: "9223372036854775807" }],
    ["d", "0.1", { string_value: "0.1" }],
    [
      "m",
      '{"a":"x \\"y\\"","b":9223372036854775807,"a":{"c":[1,2.5]}}',
      {
        kv_list_value: [
          { key: "a", value: 'x "y"' },
          { key: "b", value: "9223372036854775807" },
          { key: "a", value: '{"c":[1,2.5]}' },
        ],
      },
    ],
    ["m", "{}", { kv_list_value: [] }],
    ["a", '["a",1,true,null,{"b":[]}]', { array_value: ["a", "1", "true", "null", '{"b":[]}'] }],
    ["y", "AP8=", { bytes_value: "AP8=" }],
  ] as const;
  await tables.insert(
    "logs",
    bodies.map(([body_type, body], i) => ({
      workspace: "default",
      seq: 100 + i,
      service_name: "bodies",
      body_type,
      body,
    })),
  );
  const { items } = await list({ serviceName: "bodies", orderBy: "timestamp_asc" });
  assert.deepEqual(
    items.map(({ body }) => body),
    bodies.map(([, , body]) => body),
  );
});

test("filters hold together, and only in the caller's workspace", async () => {
  const rows = [0, 1, 4, 5, 9, 13, 17, 24].map((severity_number, i) => ({
    workspace: "default",
    seq: 200 + i,
    service_name: "filters",
    severity_number,
    ts: noon + BigInt(i),
    body: `record ${i}`,
    trace_id: i === 3 ? "0af7651916cd43dd8448eb211c80319c" : "",
    attributes: { number: String(i) },
  }));
  await tables.insert("logs", [...rows, ...rows.map((row) => ({ ...row, workspace: "other", seq: row.seq + 100 }))]);
  const numbers = async (query: Record<string, string | number>) =>
    (await list({ serviceName: "filters", orderBy: "timestamp_asc", ...query })).items.map(({ attributes }) =>
      Number(attributes[0]?.value),
    );

  assert.deepEqual(await numbers({}), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await numbers({ severityMin: 1 }), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await numbers({ severityMin: 0, severityMax: 1 }), [0, 1]);
  assert.deepEqual(await numbers({ severityMin: 5, severityMax: 13 }), [3, 4, 5]);
  assert.deepEqual(await numbers({ severityMax: 24, severityMin: 24 }), [7]);
  assert.deepEqual(await numbers({ traceId: "0af7651916cd43dd8448eb211c80319c" }), [3]);
  const at = (nanos: number) => `2025-11-20T12:00:00.${String(nanos).padStart(9, "0")}Z`;
  assert.deepEqual(await numbers({ startTime: at(2), endTime: at(5) }), [2, 3, 4]);
  assert.deepEqual(await numbers({ startTime: at(7) }), [7]);
  assert.deepEqual(await numbers({ endTime: "2025-11-20T13:00:00.000000001+01:00" }), [0]);
  assert.deepEqual(
    await numbers({ startTime: "0001-01-01T00:00:00Z", endTime: "9999-12-31T23:59:59Z" }),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
  assert.deepEqual(await numbers({ query: "RECORD -number:3", severityMax: 9 }), [0, 1, 2, 4]);
  assert.deepEqual(await numbers({ query: "-*" }), []);
  assert.deepEqual(await numbers({ query: " " }), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual((await list({ serviceName: "no such service" })).items, []);
});

test("what is wrong with a request is said at once", async () => {
  assert.deepEqual(await refused({ severityMin: 9, severityMax: 8 }), ["severityMin range.invalid"]);
  assert.deepEqual(await refused({ severityMin: 25, severityMax: -1 }), ["severityMax minimum", "severityMin maximum"]);
  assert.deepEqual(await refused({ startTime: "2025-01-01T00:00:00Z", endTime: "2025-01-01T00:00:00Z" }), [
    "startTime time_range.invalid",
  ]);
  assert.deepEqual(await refused({ query: 'a "b', traceId: "ABC", limit: 0 }), [
    "limit minimum",
    "query query.invalid",
    "traceId pattern",
  ]);
  assert.deepEqual(await refused({ limit: 10_001, orderBy: "newest" }), ["limit maximum", "orderBy enum"]);
  assert.deepEqual(await refused({ query: "a".repeat(2_001) }), ["query max_length"]);
  assert.deepEqual(await refused({ service: "x" }), ["service unknown_parameter"]);
  assert.deepEqual(await refused({ cursor: "x" }), ["cursor cursor.invalid"]);
  const { next_cursor } = await list({ limit: 1 });
  assert.deepEqual(await refused({ cursor: next_cursor!, query: "a" }), ["cursor cursor.invalid"]);
  assert.deepEqual(await refused({ cursor: next_cursor!, orderBy: "severity_asc" }), ["cursor cursor.invalid"]);
});

interface Row {
  readonly severity_number: number;
  readonly ts: bigint;
  readonly seq: number;
}

const comparisons: Record<(typeof logOrders)[number], (a: Row, b: Row) => number> = {
  timestamp_asc: (a, b) => Number(a.ts - b.ts) || a.seq - b.seq,
  timestamp_desc: (a, b) => Number(b.ts - a.ts) || b.seq - a.seq,
  severity_asc: (a, b) => a.severity_number - b.severity_number || Number(b.ts - a.ts) || b.seq - a.seq,
  severity_desc: (a, b) => b.severity_number - a.severity_number || Number(b.ts - a.ts) || b.seq - a.seq,
};

test("every page boundary is exact, forwards and backwards, while records arrive", async () => {
  let run = 0;
  let seq = 1_000;
  const row = fc.record({ severity_number: fc.constantFrom(0, 9, 17), offset: fc.bigInt(0n, 3n) });
  const rows = (maxLength: number) => fc.array(row, { maxLength });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...logOrders),
      rows(14),
      rows(6),
      fc.integer({ min: 1, max: 6 }),
      async (orderBy, first, late, limit) => {
        const serviceName = `run-${run++}`;
        const place = (one: (typeof first)[number]): Row => ({
          severity_number: one.severity_number,
          ts: noon + one.offset,
          seq: seq++,
        });
        const store = async (some: readonly Row[]) => {
          if (some.length === 0) return;
          await tables.insert(
            "logs",
            some.map((one) => ({
              ...one,
              ts: one.ts,
              workspace: "default",
              service_name: serviceName,
              attributes: { seq: String(one.seq) },
            })),
          );
        };
        const page = async (cursor: string | null) => {
          const answer = await list({ serviceName, orderBy, limit, cursor: cursor ?? undefined });
          assert.equal(answer.has_more, answer.next_cursor !== null);
          return { ...answer, seqs: answer.items.map(({ attributes }) => Number(attributes[0]!.value)) };
        };

        const early = first.map(place);
        const arriving = late.map(place);
        await store(early);
        const order = (some: readonly Row[]) => some.toSorted(comparisons[orderBy]).map((one) => one.seq);

        const forwards: number[] = [];
        let at = await page(null);
        assert.equal(at.prev_cursor, null);
        forwards.push(...at.seqs);
        await store(arriving);
        while (at.next_cursor !== null) {
          at = await page(at.next_cursor);
          assert.ok(at.seqs.length <= limit);
          forwards.push(...at.seqs);
        }
        const all = order([...early, ...arriving]);
        // In order and none twice; all that was there from the start is there.
        assert.deepEqual(
          forwards,
          all.filter((one) => forwards.includes(one)),
        );
        assert.deepEqual(
          early.filter((one) => !forwards.includes(one.seq)),
          [],
        );

        // A first page has none before it, whatever has come since; it is asked for again without a cursor.
        if (at.prev_cursor === null) return;
        const backwards: number[] = [...at.seqs];
        while (at.prev_cursor !== null) {
          at = await page(at.prev_cursor);
          backwards.unshift(...at.seqs);
        }
        assert.deepEqual(backwards, all.slice(0, all.indexOf(forwards.at(-1)!) + 1));
      },
    ),
    { numRuns: 40, seed: 3 },
  );
});
