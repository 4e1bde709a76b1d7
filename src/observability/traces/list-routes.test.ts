import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { createLog } from "../../core/log.ts";
import { createApi } from "../http/server.ts";
import { openTables } from "../logs/tables-for-tests.ts";
import type { Tables } from "../logs/tables-for-tests.ts";
import { traceRoutes } from "./routes.ts";

interface TracePage {
  items: { trace_id: string; root_span: { name: string }; [field: string]: unknown }[];
  has_more: boolean;
  next_cursor: string | null;
  prev_cursor: string | null;
}

let tables: Tables;
let app: FastifyInstance;
const noon = 1_763_640_000_000_000_000n;
const [cart, pay, slow] = ["1", "2", "3"].map((digit) => digit.repeat(32)) as [string, string, string];

before(async () => {
  tables = await openTables();
  app = createApi({ log: createLog("silent"), version: "0.0.0", access: { mode: "local" } });
  traceRoutes(app, tables);
  await app.listen({ host: "127.0.0.1", port: 0 });
  let seq = 1;
  const span = (trace_id: string, ms: bigint, durationMs: bigint, more: Record<string, unknown>) => ({
    workspace: "default",
    seq,
    span_id: (seq++).toString(16).padStart(16, "0"),
    trace_id,
    ts: noon + ms * 1_000_000n,
    duration_ns: durationMs * 1_000_000n,
    ...more,
  });
  await tables.insert("spans", [
    span(cart, 0n, 100n, { name: "GET /cart", kind: 2, service_name: "gateway", status_code: 2 }),
    span(cart, 10n, 50n, {
      name: "SELECT carts",
      kind: 3,
      service_name: "cart",
      parent_span_id: "0000000000000001",
      status_code: 2,
      status_message: "Connection refused",
      attributes: { "db.system.name": "postgresql", "server.port": "5432", cached: "false" },
      resource: '{"service.name":"cart","attributes":[{"key":"team","value":"red"}],"dropped_attributes_count":0}',
    }),
    span(cart, 5n, 90n, { name: "load", kind: 1, service_name: "cart", parent_span_id: "0000000000000001" }),
    span(pay, 1_000n, 20n, { name: "POST /pay", kind: 2, service_name: "gateway", status_code: 1 }),
    span(slow, 2_000n, 9_000n, { name: "batch", kind: 1, service_name: "jobs" }),
    { ...span("4".repeat(32), 0n, 1n, { name: "hidden" }), workspace: "other" },
  ]);
});

after(async () => {
  await app.close();
  await tables.close();
});

const headers = { host: "localhost" };
const get = (query: Record<string, string> = {}) =>
  app.inject({ url: `/api/v1/traces?${new URLSearchParams(query)}`, headers });
/** Over a socket: an injected request never ends, and what refuses one waits for that. */
async function post(body: object): Promise<Answer> {
  const answer = await fetch(`${app.listeningOrigin}/api/v1/traces/search`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { statusCode: answer.status, body: await answer.text() };
}

interface Answer {
  readonly statusCode: number;
  readonly body: string;
}

const pageIn = ({ body }: Answer) => JSON.parse(body) as TracePage;

async function names(answer: Promise<Answer>): Promise<string[]> {
  const { statusCode, body } = await answer;
  assert.equal(statusCode, 200, body);
  return pageIn({ statusCode, body }).items.map(({ root_span }) => root_span.name);
}

async function violations(answer: Promise<Answer>): Promise<string[]> {
  const { statusCode, body } = await answer;
  assert.equal(statusCode, 400, body);
  const { errors } = JSON.parse(body) as { errors: { field: string; code: string }[] };
  return errors.map(({ field, code }) => `${field} ${code}`).toSorted();
}

test("the list has every trace, the newest first, summed up over its spans", async () => {
  const answer = await get();
  assert.match(answer.body, /"start_time_unix_nano":1763640000000000000,"duration_ns":100000000,/);
  const page = answer.json<TracePage>();
  assert.deepEqual(
    page.items.map(({ root_span }) => root_span.name),
    ["batch", "POST /pay", "GET /cart"],
  );
  assert.deepEqual({ ...page, items: [] }, { items: [], has_more: false, next_cursor: null, prev_cursor: null });
  assert.deepEqual(page.items[2], {
    trace_id: cart,
    root_span: {
      span_id: "0000000000000001",
      name: "GET /cart",
      kind: 2,
      service_name: "gateway",
      start_time_unix_nano: Number(noon),
      duration_ns: 100_000_000,
      status: { code: 2 },
    },
    start_time: "2025-11-20T12:00:00.000000000Z",
    end_time: "2025-11-20T12:00:00.100000000Z",
    duration_ns: 100_000_000,
    span_count: 3,
    error_count: 2,
    has_error: true,
    services: ["cart", "gateway"],
  });
});

test("parameters select by the whole trace's time and by one of its spans", async () => {
  assert.deepEqual(await names(get({ serviceName: "cart" })), ["GET /cart"]);
  assert.deepEqual(await names(get({ serviceName: "gateway", status: "ok" })), ["POST /pay"]);
  assert.deepEqual(await names(get({ serviceName: "jobs", status: "error" })), []);
  assert.deepEqual(await names(get({ minDurationMs: "100" })), ["batch", "GET /cart"]);
  assert.deepEqual(await names(get({ minDurationMs: "20", maxDurationMs: "99.5" })), ["POST /pay"]);
  assert.deepEqual(await names(get({ startTime: "2025-11-20T12:00:00.000000001Z", endTime: "2025-11-20T12:00:02Z" })), [
    "POST /pay",
  ]);
  assert.deepEqual(await names(get({ startTime: "0001-01-01T00:00:00Z", endTime: "9999-01-01T00:00:00Z" })), [
    "batch",
    "POST /pay",
    "GET /cart",
  ]);
  assert.deepEqual(await names(get({ endTime: "0001-01-01T00:00:00Z" })), []);
});

test("pages lead forwards and back, bound to their filters", async () => {
  const first = (await get({ limit: "2" })).json<TracePage>();
  assert.equal(first.has_more, true);
  assert.deepEqual(await names(get({ limit: "2", cursor: first.next_cursor! })), ["GET /cart"]);
  const last = (await get({ limit: "2", cursor: first.next_cursor! })).json<TracePage>();
  assert.equal(last.next_cursor, null);
  assert.deepEqual((await get({ limit: "2", cursor: last.prev_cursor! })).json<TracePage>().items, first.items);
  assert.deepEqual(await violations(get({ limit: "2", cursor: first.next_cursor!, status: "ok" })), [
    "cursor cursor.invalid",
  ]);

  const searched = pageIn(await post({ limit: 1 }));
  assert.deepEqual(await names(post({ limit: 5, cursor: searched.next_cursor })), ["POST /pay", "GET /cart"]);
});

test("a search finds a trace by one span that satisfies all of it", async () => {
  assert.deepEqual(await names(post({})), ["batch", "POST /pay", "GET /cart"]);
  assert.deepEqual(await names(post({ query: "REFUSED select" })), ["GET /cart"]);
  assert.deepEqual(await names(post({ query: '"connection refused" postgres' })), ["GET /cart"]);
  // Each of the two words stands in a span of its own.
  assert.deepEqual(await names(post({ query: "load select" })), []);
  assert.deepEqual(await names(post({ operation_name: "load" })), ["GET /cart"]);
  assert.deepEqual(await names(post({ operation_name: "loa" })), []);
  assert.deepEqual(await names(post({ service_name: "gateway", operation_name: "load" })), []);
  assert.deepEqual(await names(post({ tags: { "server.port": 5432, cached: false } })), ["GET /cart"]);
  assert.deepEqual(await names(post({ tags: { team: "red", "service.name": "cart" }, status: "error" })), [
    "GET /cart",
  ]);
  assert.deepEqual(await names(post({ tags: { team: "re" } })), []);
  assert.deepEqual(await names(post({ min_duration_ms: 50, max_duration_ms: 200 })), ["GET /cart"]);
  assert.deepEqual(await names(post({ start_time: "2025-11-20T12:00:01Z", end_time: "2025-11-20T12:00:02Z" })), [
    "POST /pay",
  ]);
});

test("one trace says which services it went through, and what failed first", async () => {
  const answer = await app.inject({ url: `/api/v1/traces/${cart}`, headers });
  assert.equal(answer.statusCode, 200, answer.body);
  const { first_error, by_service, ...summary } = answer.json<Record<string, unknown>>();
  assert.deepEqual(summary, (await get()).json<TracePage>().items[2]);
  assert.deepEqual(first_error, {
    span_id: "0000000000000002",
    parent_span_id: "0000000000000001",
    name: "SELECT carts",
    kind: 3,
    service_name: "cart",
    start_time_unix_nano: Number(noon + 10_000_000n),
    duration_ns: 50_000_000,
    status: { code: 2, message: "Connection refused" },
  });
  assert.deepEqual(by_service, [
    { service_name: "gateway", span_count: 1, error_count: 1, offset_ns: 0, duration_ns: 100_000_000 },
    { service_name: "cart", span_count: 2, error_count: 1, offset_ns: 5_000_000, duration_ns: 90_000_000 },
  ]);
  const healthy = (await app.inject({ url: `/api/v1/traces/${pay}`, headers })).json<Record<string, unknown>>();
  assert.equal(healthy["first_error"], null);
});

test("a trace that is not there, or only in another workspace, is 404", async () => {
  for (const id of ["4".repeat(32), "f".repeat(32)]) {
    const answer = await app.inject({ url: `/api/v1/traces/${id}`, headers });
    assert.equal(answer.statusCode, 404);
    const { resource_type, resource_id } = answer.json<Record<string, string>>();
    assert.deepEqual({ resource_type, resource_id }, { resource_type: "trace", resource_id: id });
  }
});

test("what is wrong with a request is said at once", async () => {
  const range = { startTime: "2025-11-20T12:00:01Z", endTime: "2025-11-20T12:00:01Z" };
  assert.deepEqual(await violations(get({ ...range, status: "failed", limit: "1001", service: "a" })), [
    "limit maximum",
    "service unknown_parameter",
    "startTime time_range.invalid",
    "status enum",
  ]);
  assert.deepEqual(await violations(get({ minDurationMs: "5", maxDurationMs: "4" })), ["minDurationMs range.invalid"]);
  assert.deepEqual(await violations(get({ minDurationMs: "-1" })), ["minDurationMs minimum"]);
  assert.deepEqual(
    await violations(
      post({
        query: '"open',
        min_duration_ms: 2,
        max_duration_ms: 1,
        start_time: range.startTime,
        end_time: range.endTime,
        tags: { a: ["b"] },
        serviceName: "a",
      }),
    ),
    [
      "min_duration_ms range.invalid",
      "query query.invalid",
      "serviceName unknown_field",
      "start_time time_range.invalid",
      "tags.a type",
    ],
  );
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, "v"]));
  assert.deepEqual(await violations(post({ tags: many })), ["tags max_items"]);
  assert.deepEqual(await violations(app.inject({ url: "/api/v1/traces/search", headers })), ["traceId pattern"]);
});
