// The spans of a trace: every field, their order, paging and what is refused.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient, problemOf, walk } from "./client.ts";
import type { Client, Page, Query } from "./client.ts";
import { assertFields, spanFields } from "./fields.ts";
import { attributes, nowNano, randomId, sendSpans } from "./send-otlp.ts";

interface Span {
  readonly span_id: string;
  readonly start_time_unix_nano: number | bigint;
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

const spansOf = (traceId: string, query: Query = {}) => client.read<Page<Span>>(`/v1/traces/${traceId}/spans`, query);

/** A span from `start` milliseconds after `base` on, for `duration` milliseconds. */
function span(traceId: string, start: number, duration: number, rest: object = {}) {
  const from = base + BigInt(start) * ms;
  return { traceId, startTimeUnixNano: String(from), endTimeUnixNano: String(from + BigInt(duration) * ms), ...rest };
}

test("a span has every field, typed, with all digits of its nanoseconds", async () => {
  const [traceId, spanId, parentSpanId] = [randomId(16), randomId(8), randomId(8)];
  const start = base + 987_654_321n;
  const link = { traceId: randomId(16), spanId: randomId(8) };
  await sendSpans(
    client,
    { "service.name": "full", "process.pid": 12, custom: 1 },
    [
      {
        traceId,
        spanId,
        parentSpanId,
        name: "GET /cart",
        kind: 2,
        traceState: "a=b,c=d",
        flags: 1,
        startTimeUnixNano: String(start),
        endTimeUnixNano: String(start + 3n),
        attributes: [
          ...attributes({ "http.route": "/cart", ok: false }),
          { key: "big", value: { intValue: "-9223372036854775808" } },
        ],
        droppedAttributesCount: 1,
        droppedEventsCount: 2,
        droppedLinksCount: 3,
        events: [
          {
            name: "cache.miss",
            timeUnixNano: String(start + 1n),
            attributes: attributes({ k: "v" }),
            droppedAttributesCount: 4,
          },
        ],
        links: [
          { ...link, traceState: "x=y", attributes: attributes({ why: "batch" }), droppedAttributesCount: 5, flags: 1 },
        ],
        status: { code: 2, message: "refused" },
      },
    ],
    { name: "lib", version: "1.0.0" },
  );
  const { text } = await client.send("GET", `/v1/traces/${traceId}/spans`);
  for (const digits of [
    `"start_time_unix_nano":${start},`,
    `"end_time_unix_nano":${start + 3n},`,
    `"time_unix_nano":${start + 1n},`,
  ]) {
    assert.ok(text.includes(digits), digits);
  }
  const [item] = (await spansOf(traceId)).items;
  assertFields(item, spanFields);
  assert.deepEqual(item, {
    span_id: spanId,
    trace_id: traceId,
    parent_span_id: parentSpanId,
    name: "GET /cart",
    kind: 2,
    start_time_unix_nano: start,
    end_time_unix_nano: start + 3n,
    status: { code: 2, message: "refused" },
    trace_state: "a=b,c=d",
    resource: {
      "service.name": "full",
      "process.pid": 12,
      attributes: [{ key: "custom", value: "1" }],
      dropped_attributes_count: 0,
    },
    attributes: [
      { key: "http.route", value: "/cart" },
      { key: "ok", value: "false" },
      { key: "big", value: "-9223372036854775808" },
    ],
    dropped_attributes_count: 1,
    events: [
      {
        name: "cache.miss",
        time_unix_nano: start + 1n,
        attributes: [{ key: "k", value: "v" }],
        dropped_attributes_count: 4,
      },
    ],
    dropped_events_count: 2,
    links: [
      {
        trace_id: link.traceId,
        span_id: link.spanId,
        trace_state: "x=y",
        attributes: [{ key: "why", value: "batch" }],
        dropped_attributes_count: 5,
        flags: 1,
      },
    ],
    dropped_links_count: 3,
    flags: 1,
    instrumentation_scope: { name: "lib", version: "1.0.0", attributes: [], dropped_attributes_count: 0 },
  });
});

test("a span that says nothing of itself has the fields all the same; kinds 0 to 5 and status 0 to 2 are kept", async () => {
  const traceId = randomId(16);
  const spans = [0, 1, 2, 3, 4, 5].map((kind) =>
    span(traceId, kind, 1, { kind, status: kind < 3 ? { code: kind } : {} }),
  );
  await sendSpans(client, {}, spans);
  const { items } = await spansOf(traceId);
  for (const item of items) assertFields(item, spanFields);
  const seen = items as unknown as { kind: number; status: { code: number }; parent_span_id?: string }[];
  assert.deepEqual(
    seen.map(({ kind }) => kind),
    [0, 1, 2, 3, 4, 5],
  );
  assert.deepEqual(
    seen.map(({ status }) => status.code),
    [0, 1, 2, 0, 0, 0],
  );
  assert.ok(seen.every((item) => !("parent_span_id" in item)));
});

test("spans come by start time, page to the end and back; limit is 1 to 1000, 100 by default", async () => {
  const traceId = randomId(16);
  await sendSpans(
    client,
    { "service.name": "paged" },
    Array.from({ length: 1_050 }, (_, i) => span(traceId, i % 5, 1)),
  );
  assert.equal((await spansOf(traceId)).items.length, 100);
  assert.equal((await spansOf(traceId, { limit: 1 })).items.length, 1);
  assert.equal((await spansOf(traceId, { limit: 1_000 })).items.length, 1_000);
  for (const [limit, code] of [
    [0, "minimum"],
    [1_001, "maximum"],
  ] as const) {
    for (const prefix of ["/v1", "/api/v1"]) {
      assert.deepEqual(await client.refusals("GET", `${prefix}/traces/${traceId}/spans`, { query: { limit } }), [
        `${code} limit`,
      ]);
    }
  }
  const all = await walk((cursor) => spansOf(traceId, { limit: 199, cursor }));
  assert.equal(new Set(all.map(({ span_id }) => span_id)).size, 1_050);
  assert.ok(
    all.every((item, i) => i === 0 || BigInt(all[i - 1]!.start_time_unix_nano) <= BigInt(item.start_time_unix_nano)),
  );
});

test("a trace id is exactly 32 lowercase hexadecimal digits; an unknown trace is 404", async () => {
  const unknown = randomId(16);
  for (const path of [`/v1/traces/${unknown}/spans`, `/api/v1/traces/${unknown}/spans`, `/api/v1/traces/${unknown}`]) {
    const answer = await client.send("GET", path);
    assert.equal(answer.status, 404);
    const problem = problemOf(answer, path);
    assert.deepEqual([problem["resource_type"], problem["resource_id"]], ["trace", unknown]);
  }
  for (const wrong of [
    `A${unknown.slice(1)}`,
    unknown.slice(1),
    `${unknown}0`,
    "x",
    `${unknown.slice(1)}g`,
    "%20".repeat(3),
  ]) {
    for (const path of [`/v1/traces/${wrong}/spans`, `/api/v1/traces/${wrong}`]) {
      assert.deepEqual(await client.refusals("GET", path), ["pattern traceId"], path);
    }
  }
  // All that can be said of the request alone comes before existence.
  assert.deepEqual(await client.refusals("GET", `/v1/traces/${unknown}/spans`, { query: "limit=0&a=1&cursor=!" }), [
    "cursor.invalid cursor",
    "minimum limit",
    "unknown_parameter a",
  ]);
});
