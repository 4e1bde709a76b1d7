// The routes of sessions: their traces, their statistics and the list beside them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient, problemOf, walk } from "./client.ts";
import type { Client, Page } from "./client.ts";
import { assertFields, listOf, object, orNull, spanFields, texts } from "./fields.ts";
import { attributes, nowNano, randomId, rfc3339, sendLogs, sendSpans } from "./send-otlp.ts";

interface SessionTrace {
  readonly trace_id: string;
  readonly spans: readonly object[];
  readonly span_count: number;
  readonly start_time: string;
}
interface Stats {
  readonly [name: string]: unknown;
  readonly by_device_type: readonly { device_type: string; count: number; percentage: number }[];
  readonly by_country: readonly { country_code: string; country_name: string; count: number; percentage: number }[];
}

let vigil: RunningVigil;
let client: Client;
const minute = 60_000_000_000n;

before(async () => {
  vigil = await startVigil();
  client = createClient(vigil.url);
});
after(() => vigil.stop());

/** A span of `seconds` that began `ago` minutes before now. */
function span(ago: number, own: Record<string, unknown>, rest: object = {}, seconds = 1) {
  const start = nowNano() - BigInt(ago) * minute;
  return {
    traceId: randomId(16),
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + BigInt(seconds) * 1_000_000_000n),
    attributes: attributes(own),
    ...rest,
  };
}

const deviceTypes = ["desktop", "mobile", "tablet", "tv", "console", "wearable", "iot", "bot", "unknown"];

test("sessions/stats: zeros without sessions, then every field of those of the last 24 hours", async () => {
  const empty = await client.read<Stats>("/api/v1/sessions/stats");
  assert.deepEqual([empty["total_sessions"], empty["bounce_rate"], empty.by_country], [0, 0, []]);
  const web = { "service.name": "web", "telemetry.sdk.language": "webjs" };
  await sendSpans(client, web, [
    span(1, {
      "session.id": "s1",
      "url.path": "/a",
      "user.id": "u1",
      "device.type": "mobile",
      "geo.country.iso_code": "DE",
    }),
    span(5, { "session.id": "s1", "url.path": "/b", "user.id": "u1" }, { status: { code: 2 } }),
    span(60, { "session.id": "s2", "url.path": "/a", "user.id": "u2", "device.type": "mobile" }),
    span(90, {
      "session.id": "s3",
      "url.path": "/a",
      "user.id": "u2",
      "gen_ai.request.model": "m",
      "geo.country.iso_code": "DE",
    }),
    span(1_500, { "session.id": "s4", "url.path": "/a", "user.id": "u9" }),
  ]);
  const stats = await client.read<Stats>("/api/v1/sessions/stats");
  assertFields(stats, {
    active_sessions: "count",
    total_sessions: "count",
    unique_users: "count",
    avg_duration_ms: "number",
    sessions_with_errors: "count",
    sessions_with_genai: "count",
    bounce_rate: "ratio",
    by_device_type: listOf({ device_type: deviceTypes, count: "count", percentage: "percentage" }),
    by_country: listOf({ country_code: "string", country_name: "string", count: "count", percentage: "percentage" }),
  });
  const { by_device_type: devices, by_country: countries, avg_duration_ms: average, ...counts } = stats;
  assert.deepEqual(counts, {
    active_sessions: 1,
    total_sessions: 3,
    unique_users: 2,
    sessions_with_errors: 1,
    sessions_with_genai: 1,
    bounce_rate: 2 / 3,
  });
  assert.ok((average as number) >= 240_000 / 3);
  assert.deepEqual(
    devices.map(({ device_type, count }) => [device_type, count]),
    [
      ["mobile", 2],
      ["unknown", 1],
    ],
  );
  assert.deepEqual(
    countries.map(({ country_code, country_name, count }) => [country_code, country_name, count]),
    [
      ["DE", "Germany", 2],
      ["ZZ", countries[1]!.country_name, 1],
    ],
  );
  for (const shares of [devices, countries]) {
    assert.ok(Math.abs(shares.reduce((sum, { percentage }) => sum + percentage, 0) - 100) < 1e-9);
  }
  const long = await client.read<Stats>("/api/v1/sessions/stats", { startTime: rfc3339(nowNano() - 2_000n * minute) });
  assert.equal(long["total_sessions"], 4);
  const past = await client.read<Stats>("/api/v1/sessions/stats", { endTime: rfc3339(nowNano() - 1_440n * minute) });
  assert.equal(past["total_sessions"], 1);
  assert.deepEqual(await client.refusals("GET", "/api/v1/sessions/stats", { query: "limit=1" }), [
    "unknown_parameter limit",
  ]);
});

test("a session's trace has every field; it holds all spans of a trace that has one span of the session", async () => {
  const [traceId, rootId] = [randomId(16), randomId(8)];
  const start = nowNano() - minute;
  const at = (from: bigint, to: bigint) => ({
    startTimeUnixNano: String(start + from),
    endTimeUnixNano: String(start + to),
  });
  await sendSpans(client, { "service.name": "page" }, [
    { traceId, spanId: rootId, name: "click", ...at(0n, 5_000n), attributes: attributes({ "session.id": "whole" }) },
  ]);
  await sendSpans(client, { "service.name": "api" }, [
    { traceId, parentSpanId: rootId, name: "GET", ...at(1_000n, 9_001n), status: { code: 2 } },
  ]);
  const page = await client.read<Page<SessionTrace>>("/api/v1/sessions/whole/traces");
  assert.equal(page.items.length, 1);
  assertFields(page.items[0], {
    trace_id: "trace id",
    spans: listOf(spanFields),
    span_count: "count",
    duration_ns: "count",
    start_time: "date-time",
    end_time: "date-time",
    services: texts,
    has_error: "boolean",
    root_span: object(spanFields),
  });
  const { spans, root_span: root, ...rest } = page.items[0] as SessionTrace & { root_span: { span_id: string } };
  assert.deepEqual(rest, {
    trace_id: traceId,
    span_count: 2,
    duration_ns: 9_001,
    start_time: rfc3339(start),
    end_time: rfc3339(start + 9_001n),
    services: ["api", "page"],
    has_error: true,
  });
  assert.equal(root.span_id, rootId);
  const { items } = await client.read<Page<object>>(`/v1/traces/${traceId}/spans`);
  assert.deepEqual(spans, items);
});

test("a session's trace holds at most 1,000 spans, span_count is the true count", async () => {
  const traceId = randomId(16);
  const own = { "session.id": "large" };
  await sendSpans(
    client,
    { "service.name": "large" },
    Array.from({ length: 1_001 }, () => span(1, own, { traceId })),
  );
  const [trace] = (await client.read<Page<SessionTrace>>("/api/v1/sessions/large/traces")).items;
  assert.deepEqual([trace!.spans.length, trace!.span_count], [1_000, 1_001]);
});

test("a session's traces come newest first and page to the end and back; limit is 1 to 1000, 100 by default", async () => {
  // Two traces of each start.
  const own = { "session.id": "paged" };
  const start = nowNano() - 10n * minute;
  const spans = Array.from({ length: 105 }, (_, i) =>
    span(0, own, { startTimeUnixNano: String(start + BigInt(i >> 1)) }),
  );
  await sendSpans(client, { "service.name": "paged" }, spans);
  const path = "/api/v1/sessions/paged/traces";
  assert.equal((await client.read<Page<SessionTrace>>(path)).items.length, 100);
  assert.equal((await client.read<Page<SessionTrace>>(path, { limit: 1_000 })).items.length, 105);
  assert.deepEqual(await client.refusals("GET", path, { query: { limit: 0 } }), ["minimum limit"]);
  assert.deepEqual(await client.refusals("GET", path, { query: { limit: 1_001 } }), ["maximum limit"]);
  const traces = await walk((cursor) => client.read<Page<SessionTrace>>(path, { limit: 25, cursor }));
  assert.equal(new Set(traces.map(({ trace_id }) => trace_id)).size, 105);
  assert.ok(traces.every((trace, i) => i === 0 || traces[i - 1]!.start_time >= trace.start_time));
});

test("an unknown session is 404 with resource_type session", async () => {
  for (const id of ["nobody", "a b/ü", "x".repeat(500)]) {
    for (const suffix of ["", "/traces"]) {
      const path = `/api/v1/sessions/${encodeURIComponent(id)}${suffix}`;
      const answer = await client.send("GET", path);
      assert.equal(answer.status, 404, path);
      const problem = problemOf(answer, path);
      assert.deepEqual([problem["resource_type"], problem["resource_id"]], ["session", id]);
    }
  }
});

test("session.id is taken from a span, from a log record, else from the resource, whatever its characters", async () => {
  await sendSpans(client, { "service.name": "ids", "session.id": "of the resource" }, [
    span(1, {}),
    span(1, { "session.id": "ö/1?&#" }),
  ]);
  await sendLogs(client, { "service.name": "ids" }, [
    { body: { stringValue: "x" }, attributes: attributes({ "session.id": "of a log" }) },
  ]);
  for (const id of ["of the resource", "ö/1?&#", "of a log"]) {
    const session = await client.read<{ session_id: string }>(`/api/v1/sessions/${encodeURIComponent(id)}`);
    assert.equal(session.session_id, id);
    const traces = await client.read<Page<SessionTrace>>(`/api/v1/sessions/${encodeURIComponent(id)}/traces`);
    assert.equal(traces.items.length, id === "of a log" ? 0 : 1, id);
  }
});

test("sessions: every field; filters by user, activity and time; pages to the end and back", async () => {
  const sessions = Array.from({ length: 11 }, (_, i) =>
    span(i < 5 ? 1 : 40, { "session.id": `l${i}`, "user.id": i % 2 ? "odd" : "even" }, {}, 0),
  );
  await sendSpans(client, { "service.name": "list" }, sessions);
  const path = "/api/v1/sessions";
  const all = await walk((cursor) =>
    client.read<Page<{ session_id: string; end_time: string }>>(path, { limit: 3, cursor }),
  );
  for (const session of all) {
    assertFields(session, {
      session_id: "string",
      user_id: orNull("string"),
      start_time: "date-time",
      end_time: "date-time",
      duration_ms: "number",
      is_active: "boolean",
      trace_count: "count",
      span_count: "count",
      log_count: "count",
      error_count: "count",
      page_count: "count",
      device_type: deviceTypes,
      country_code: "string",
      services: texts,
      has_genai: "boolean",
    });
  }
  assert.ok(all.every((session, i) => i === 0 || all[i - 1]!.end_time >= session.end_time));
  const found = async (query: object) =>
    (await client.read<Page<{ session_id: string }>>(path, { limit: 1_000, ...query })).items
      .map((item) => item.session_id)
      .toSorted();
  assert.deepEqual(await found({ userId: "odd", isActive: true }), ["l1", "l3"]);
  assert.deepEqual(await found({ userId: "even", isActive: false }), ["l10", "l6", "l8"]);
  assert.deepEqual(await found({ userId: "odd", endTime: rfc3339(nowNano() - 20n * minute) }), ["l5", "l7", "l9"]);
  const wrong = "isActive=yes&limit=1001&startTime=x&user=1";
  assert.deepEqual(await client.refusals("GET", path, { query: wrong }), [
    "format startTime",
    "maximum limit",
    "type isActive",
    "unknown_parameter user",
  ]);
});
