import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import type { FastifyInstance } from "fastify";
import { createLog } from "../../core/log.ts";
import { createApi } from "../http/server.ts";
import { openTables } from "../logs/tables-for-tests.ts";
import type { Tables } from "../logs/tables-for-tests.ts";
import { traceRoutes } from "./routes.ts";

interface SpanPage {
  items: { name: string; span_id: string; [field: string]: unknown }[];
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
  traceRoutes(app, tables);
  await app.ready();
});

after(async () => {
  await app.close();
  await tables.close();
});

function traceId(number: number): string {
  return number.toString(16).padStart(32, "0");
}

async function get(trace: string, query: Record<string, string> = {}, prefix = "/api/v1") {
  const url = `${prefix}/traces/${trace}/spans?${new URLSearchParams(query)}`;
  return app.inject({ url, headers: { host: "localhost" } });
}

async function list(trace: string, query: Record<string, string> = {}): Promise<SpanPage> {
  const answer = await get(trace, query);
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json<SpanPage>();
}

test("a span has every field, with all digits; what it does not have is left out", async () => {
  const event =
    '{"name":"exception","time_unix_nano":1763640000123456790,"attributes":[{"key":"exception.type","value":"E"}],"dropped_attributes_count":0}';
  const link = `{"trace_id":"${traceId(2)}","span_id":"00000000000000aa","trace_state":"","attributes":[],"dropped_attributes_count":0,"flags":1}`;
  await tables.insert("spans", [
    {
      workspace: "default",
      seq: 1,
      ts: noon + 123_456_789n,
      duration_ns: 2_000_000_001n,
      trace_id: traceId(1),
      span_id: "00000000000000a1",
      parent_span_id: "00000000000000a0",
      trace_state: 'vendor="x/y"',
      flags: 257,
      name: 'GET /cart "now"',
      kind: 2,
      status_code: 2,
      status_message: "refused\n",
      resource: '{"service.name":"shop","attributes":[],"dropped_attributes_count":0}',
      scope: '{"name":"lib","attributes":[],"dropped_attributes_count":0}',
      attributes: { "http.route": "/cart", "k\t": "v\\" },
      dropped_attributes: 1,
      events: `[${event}]`,
      dropped_events: 2,
      links: `[${link}]`,
      dropped_links: 3,
    },
    {
      workspace: "default",
      seq: 2,
      ts: noon + 123_456_790n,
      duration_ns: -790n,
      trace_id: traceId(1),
      span_id: "00000000000000a2",
    },
    { workspace: "other", seq: 3, ts: noon, trace_id: traceId(1), span_id: "00000000000000a3" },
  ]);
  const answer = await get(traceId(1));
  assert.match(String(answer.headers["content-type"]), /^application\/json/);
  assert.match(answer.body, /"start_time_unix_nano":1763640000123456789,"end_time_unix_nano":1763640002123456790,/);
  assert.match(answer.body, /"start_time_unix_nano":1763640000123456790,"end_time_unix_nano":1763640000123456000,/);
  assert.match(answer.body, /"time_unix_nano":1763640000123456790,"attributes":\[\{"key":"exception.type"/);
  const { items, ...rest } = answer.json<SpanPage>();
  assert.deepEqual(rest, { has_more: false, next_cursor: null, prev_cursor: null });
  assert.deepEqual(items, [
    {
      span_id: "00000000000000a1",
      trace_id: traceId(1),
      parent_span_id: "00000000000000a0",
      name: 'GET /cart "now"',
      kind: 2,
      start_time_unix_nano: Number(noon + 123_456_789n),
      end_time_unix_nano: Number(noon + 2_123_456_790n),
      status: { code: 2, message: "refused\n" },
      trace_state: 'vendor="x/y"',
      resource: { "service.name": "shop", attributes: [], dropped_attributes_count: 0 },
      attributes: [
        { key: "http.route", value: "/cart" },
        { key: "k\t", value: "v\\" },
      ],
      dropped_attributes_count: 1,
      events: [JSON.parse(event)],
      dropped_events_count: 2,
      links: [JSON.parse(link)],
      dropped_links_count: 3,
      flags: 257,
      instrumentation_scope: { name: "lib", attributes: [], dropped_attributes_count: 0 },
    },
    {
      span_id: "00000000000000a2",
      trace_id: traceId(1),
      name: "",
      kind: 0,
      start_time_unix_nano: Number(noon + 123_456_790n),
      end_time_unix_nano: Number(noon + 123_456_000n),
      status: { code: 0 },
      resource: {},
      attributes: [],
      dropped_attributes_count: 0,
      events: [],
      dropped_events_count: 0,
      links: [],
      dropped_links_count: 0,
      flags: 0,
      instrumentation_scope: {},
    },
  ]);
  assert.equal((await get(traceId(1), {}, "/v1")).body, answer.body);
});

test("a trace that is not there, or only in another workspace, is 404", async () => {
  await tables.insert("spans", [
    { workspace: "other", seq: 10, ts: noon, trace_id: traceId(20), span_id: "00000000000000a1" },
  ]);
  for (const trace of [traceId(20), traceId(0xdead)]) {
    const answer = await get(trace);
    assert.equal(answer.statusCode, 404);
    const { resource_type, resource_id, title } = answer.json<Record<string, string>>();
    assert.deepEqual(
      { resource_type, resource_id, title },
      { resource_type: "trace", resource_id: trace, title: "Not Found" },
    );
  }
});

test("what is wrong with a request is said at once", async () => {
  const refused = async (trace: string, query: Record<string, string>) => {
    const answer = await get(trace, query);
    assert.equal(answer.statusCode, 400, answer.body);
    return answer
      .json<{ errors: { field: string; code: string }[] }>()
      .errors.map(({ field, code }) => `${field} ${code}`)
      .toSorted();
  };
  assert.deepEqual(await refused("ABC", { limit: "0" }), ["limit minimum", "traceId pattern"]);
  assert.deepEqual(await refused(traceId(1).toUpperCase().replace("0", "A"), {}), ["traceId pattern"]);
  assert.deepEqual(await refused(traceId(1), { limit: "1001", page: "2" }), [
    "limit maximum",
    "page unknown_parameter",
  ]);
  const { next_cursor } = await list(traceId(1), { limit: "1" });
  assert.deepEqual(await refused(traceId(2), { cursor: next_cursor! }), ["cursor cursor.invalid"]);
});

test("pages hold each span once, in order, forwards and backwards, where starts and ids are equal", async () => {
  let run = 1_000;
  let seq = 1_000;
  const span = fc.record({
    offset: fc.bigInt(0n, 2n),
    id: fc.constantFrom("00000000000000a1", "00000000000000a2", "f0000000000000a1"),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(span, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      async (spans, limit) => {
        const trace = traceId(run++);
        const rows = spans.map(({ offset, id }) => ({ ts: noon + offset, span_id: id, seq: seq++ }));
        await tables.insert(
          "spans",
          rows.map((row) => ({ ...row, workspace: "default", trace_id: trace, name: String(row.seq) })),
        );
        const expected = rows
          .toSorted(
            (a, b) => Number(a.ts - b.ts) || (a.span_id < b.span_id ? -1 : a.span_id > b.span_id ? 1 : a.seq - b.seq),
          )
          .map((row) => String(row.seq));
        const page = async (cursor: string | null) =>
          list(trace, { limit: String(limit), ...(cursor !== null && { cursor }) });

        let at = await page(null);
        assert.equal(at.prev_cursor, null);
        const forwards = at.items.map(({ name }) => name);
        while (at.next_cursor !== null) {
          at = await page(at.next_cursor);
          forwards.push(...at.items.map(({ name }) => name));
        }
        assert.deepEqual(forwards, expected);
        const backwards = at.items.map(({ name }) => name);
        while (at.prev_cursor !== null) {
          at = await page(at.prev_cursor);
          backwards.unshift(...at.items.map(({ name }) => name));
        }
        assert.deepEqual(backwards, expected);
      },
    ),
    { numRuns: 30, seed: 5 },
  );
});

test("a trace of 100,000 spans comes whole", async () => {
  const trace = traceId(0xb16);
  await tables.command(
    "INSERT INTO spans (workspace, seq, ts, trace_id, span_id) SELECT 'default', number, " +
      `fromUnixTimestamp64Nano(toInt64(${noon} + intDiv(number, 7)), 'UTC'), unhex('${trace}'), reinterpretAsFixedString(number) FROM numbers(100000)`,
  );
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const page: SpanPage = await list(trace, { limit: "1000", ...(cursor !== null && { cursor }) });
    assert.ok(page.items.length <= 1000);
    for (const { span_id } of page.items) seen.add(span_id);
    cursor = page.next_cursor;
  } while (cursor !== null);
  assert.equal(seen.size, 100_000);
});
