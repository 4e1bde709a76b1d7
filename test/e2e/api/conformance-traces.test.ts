// Traces without their spans: the list, the search and one of them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient, walk } from "./client.ts";
import type { Client, Page, Query } from "./client.ts";
import { assertFields, listOf, object, texts } from "./fields.ts";
import type { FieldTable } from "./fields.ts";
import { attributes, nowNano, randomId, rfc3339, sendSpans } from "./send-otlp.ts";

interface Trace {
  readonly trace_id: string;
  readonly start_time: string;
}

let vigil: RunningVigil;
let client: Client;
const ms = 1_000_000n;
const base = (nowNano() / 1_000_000_000n - 3_600n) * 1_000_000_000n;

before(async () => {
  vigil = await startVigil();
  client = createClient(vigil.url);
});
after(() => vigil.stop());

const list = (query: Query) => client.read<Page<Trace>>("/api/v1/traces", query);
const search = (body: object) => client.ask<Page<Trace>>("POST", "/api/v1/traces/search", { body });
const idsOf = (page: Page<Trace>) => page.items.map(({ trace_id }) => trace_id).toSorted();

/** A span from `start` milliseconds after `base` on, for `duration` milliseconds. */
function span(traceId: string, start: number, duration: number, rest: object = {}) {
  const from = base + BigInt(start) * ms;
  return { traceId, startTimeUnixNano: String(from), endTimeUnixNano: String(from + BigInt(duration) * ms), ...rest };
}

const spanSummary: FieldTable = {
  span_id: "span id",
  "parent_span_id?": "span id",
  name: "string",
  kind: [0, 1, 2, 3, 4, 5],
  service_name: "string",
  start_time_unix_nano: "integer",
  duration_ns: "integer",
  status: object({ code: [0, 1, 2], "message?": "string" }),
};
const traceFields: FieldTable = {
  trace_id: "trace id",
  root_span: object(spanSummary),
  start_time: "date-time",
  end_time: "date-time",
  duration_ns: "count",
  span_count: "count",
  error_count: "count",
  has_error: "boolean",
  services: texts,
};

test("traces: filters by service, status, duration and time; the figures are those of the whole trace", async () => {
  const [slow, failed, quick] = [randomId(16), randomId(16), randomId(16)];
  const root = randomId(8);
  await sendSpans(client, { "service.name": "front" }, [
    span(slow, 0, 500, { spanId: root, name: "GET /" }),
    span(failed, 1_000, 100, { name: "POST /" }),
    span(quick, 2_000, 1, { name: "GET /health" }),
  ]);
  await sendSpans(client, { "service.name": "back" }, [
    span(slow, 10, 20, { parentSpanId: root }),
    span(failed, 1_010, 20, { parentSpanId: randomId(8), status: { code: 2 } }),
  ]);
  const all = await list({ serviceName: "front" });
  assert.deepEqual(
    all.items.map(({ trace_id }) => trace_id),
    [quick, failed, slow],
  );
  for (const trace of all.items) assertFields(trace, traceFields);
  assert.deepEqual(all.items[2], {
    trace_id: slow,
    start_time: rfc3339(base),
    end_time: rfc3339(base + 500n * ms),
    duration_ns: 500_000_000,
    span_count: 2,
    error_count: 0,
    has_error: false,
    services: ["back", "front"],
    root_span: {
      span_id: root,
      name: "GET /",
      kind: 1,
      service_name: "front",
      start_time_unix_nano: base,
      duration_ns: 500_000_000,
      status: { code: 0 },
    },
  });
  const found = async (query: Query) => idsOf(await list({ serviceName: "front", ...query }));
  assert.deepEqual(idsOf(await list({ serviceName: "back", status: "error" })), [failed]);
  assert.deepEqual(await found({ minDurationMs: 100 }), [slow, failed].toSorted());
  assert.deepEqual(await found({ minDurationMs: 100.000001 }), [slow]);
  assert.deepEqual(await found({ maxDurationMs: 100 }), [failed, quick].toSorted());
  assert.deepEqual(await found({ startTime: rfc3339(base), endTime: rfc3339(base + 1_000n * ms) }), [slow]);
  assert.deepEqual(await found({ startTime: rfc3339(base + 1n), endTime: rfc3339(base + 1_000n * ms + 1n) }), [failed]);
  assert.deepEqual(
    await client.refusals("GET", "/api/v1/traces", {
      query: { minDurationMs: 2, maxDurationMs: 1, status: "bad", limit: 1001 },
    }),
    ["enum status", "maximum limit", "range.invalid minDurationMs"],
  );
  assert.deepEqual(await client.refusals("GET", "/api/v1/traces", { query: { minDurationMs: -1 } }), [
    "minimum minDurationMs",
  ]);

  const detail = await client.read<object>(`/api/v1/traces/${failed}`);
  assertFields(detail, {
    ...traceFields,
    first_error: object(spanSummary),
    by_service: listOf({
      service_name: "string",
      span_count: "count",
      error_count: "count",
      offset_ns: "integer",
      duration_ns: "integer",
    }),
  });
});

test("traces/search: text, operation, tags and times select traces; all violations at once", async () => {
  const [one, two] = [randomId(16), randomId(16)];
  await sendSpans(client, { "service.name": "searched", "deployment.environment.name": "canary" }, [
    span(one, 0, 5, { name: "charge card", attributes: attributes({ "user.id": "u1", retry: 2, vip: true }) }),
    span(two, 10, 50, { name: "refund card", status: { code: 2, message: "bank timed out" } }),
  ]);
  const found = async (body: object) => idsOf(await search({ service_name: "searched", ...body }));
  assert.deepEqual(await found({}), [one, two].toSorted());
  assert.deepEqual(await found({ query: "CARD" }), [one, two].toSorted());
  assert.deepEqual(await found({ query: '"bank timed"' }), [two]);
  assert.deepEqual(await found({ operation_name: "charge card" }), [one]);
  assert.deepEqual(await found({ operation_name: "charge" }), []);
  assert.deepEqual(await found({ tags: { "user.id": "u1", retry: 2, vip: true } }), [one]);
  assert.deepEqual(await found({ tags: { "deployment.environment.name": "canary" } }), [one, two].toSorted());
  assert.deepEqual(await found({ tags: { "user.id": "u2" } }), []);
  assert.deepEqual(await found({ status: "error" }), [two]);
  assert.deepEqual(await found({ min_duration_ms: 5, max_duration_ms: 5 }), [one]);
  assert.deepEqual(await found({ start_time: rfc3339(base + 10n * ms), end_time: rfc3339(base + 10n * ms + 1n) }), [
    two,
  ]);
  const wrong = {
    query: '"open',
    status: 2,
    min_duration_ms: -1,
    start_time: "now",
    tags: { a: [] },
    limit: 1_001,
    cursor: "",
    from: 1,
  };
  assert.deepEqual(await client.refusals("POST", "/api/v1/traces/search", { body: wrong }), [
    "cursor.invalid cursor",
    "enum status",
    "format start_time",
    "maximum limit",
    "minimum min_duration_ms",
    "query.invalid query",
    "type tags.a",
    "unknown_field from",
  ]);
});

test("traces page to the end and back, by start and then id, in lists and searches alike", async () => {
  const ids = Array.from({ length: 23 }, () => randomId(16));
  await sendSpans(
    client,
    { "service.name": "paging" },
    ids.map((id, i) => span(id, 5_000 + (i % 4), 1)),
  );
  const listed = await walk((cursor) => list({ serviceName: "paging", limit: 5, cursor }));
  const searched = await walk((cursor) => search({ service_name: "paging", limit: 4, ...(cursor && { cursor }) }));
  assert.deepEqual(listed.map(({ trace_id }) => trace_id).toSorted(), ids.toSorted());
  assert.ok(listed.every((trace, i) => i === 0 || listed[i - 1]!.start_time >= trace.start_time));
  assert.deepEqual(searched, listed);
});
