// The query language of log records and the filters of POST /logs/search.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient } from "./client.ts";
import type { Client, Page } from "./client.ts";
import { attributes, nowNano, rfc3339, sendLogs } from "./send-otlp.ts";

interface LogRecord {
  readonly body: { readonly string_value: string };
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

const bodiesOf = (page: Page<LogRecord>) => page.items.map(({ body }) => body.string_value).toSorted();

test("query: words are whole tokens in any case, ANDed; * at an end, phrases, exclusion, key:value", async () => {
  await store("q", [
    { text: "Payment timeout after 30ms", own: { "http.route": "/pay", status: 503 } },
    { text: "payment ok", own: { "http.route": "/pay/now" } },
    { text: "timeouts: Payment-Timeout" },
    { text: "user_id=42 nothing" },
  ]);
  const [a, b, c, d] = ["Payment timeout after 30ms", "payment ok", "timeouts: Payment-Timeout", "user_id=42 nothing"];
  const cases: [string, (string | undefined)[]][] = [
    ["payment", [a, b, c]],
    ["PAYMENT timeout", [a, c]],
    ["timeou", []],
    ["timeou*", [a, c]],
    ["*ment", [a, b, c]],
    ["*othin*", [d]],
    ['"Payment timeout"', [a]],
    ['"payment timeout"', []],
    ["payment -ok", [a, c]],
    ['payment -"30ms"', [b, c]],
    ["http.route:/pay", [a]],
    ["http.route:/pay*", [a, b]],
    ["-http.route:*", [c, d]],
    ["status:503", [a]],
    ["region:eu", [a, b, c, d]],
    ["42", [d]],
    ["", [a, b, c, d]],
    ["  ", [a, b, c, d]],
    ["'; DROP TABLE logs --", []],
  ];
  for (const [query, found] of cases) {
    const got = bodiesOf(await client.read("/api/v1/logs", { serviceName: "q", query }));
    assert.deepEqual(got, found.toSorted(), query);
    assert.deepEqual(
      bodiesOf(await client.ask("POST", "/api/v1/logs/search", { body: { service_name: "q", query } })),
      got,
      query,
    );
  }
  for (const query of ['"unclosed', 'a -"b', 'key:"x']) {
    assert.deepEqual(
      await client.refusals("GET", "/api/v1/logs", { query: { query } }),
      ["query.invalid query"],
      query,
    );
    assert.deepEqual(
      await client.refusals("POST", "/api/v1/logs/search", { body: { query } }),
      ["query.invalid query"],
      query,
    );
  }
});

test("logs/search: every operator of attribute_filters", async () => {
  await store("f", [
    { text: "1", own: { n: 5, s: "abc" } },
    { text: "2", own: { n: 10, s: "abd" } },
    { text: "3", own: { n: -1.5, s: "" } },
    { text: "4" },
  ]);
  const cases: [object, string[]][] = [
    [{ key: "s", operator: "eq", value: "abc" }, ["1"]],
    [{ key: "n", operator: "eq", value: 5 }, ["1"]],
    [{ key: "s", operator: "neq", value: "abc" }, ["2", "3", "4"]],
    [{ key: "s", operator: "contains", value: "b" }, ["1", "2"]],
    [{ key: "s", operator: "starts_with", value: "ab" }, ["1", "2"]],
    [{ key: "s", operator: "ends_with", value: "d" }, ["2"]],
    [{ key: "s", operator: "regex", value: "^a.[cd]$" }, ["1", "2"]],
    [{ key: "n", operator: "gt", value: 5 }, ["2"]],
    [{ key: "n", operator: "gte", value: 5 }, ["1", "2"]],
    [{ key: "n", operator: "lt", value: 5 }, ["3"]],
    [{ key: "n", operator: "lte", value: 5 }, ["1", "3"]],
    [{ key: "s", operator: "in", value: ["abc", "abd"] }, ["1", "2"]],
    [{ key: "s", operator: "not_in", value: ["abc", "abd"] }, ["3", "4"]],
    [{ key: "s", operator: "exists" }, ["1", "2", "3"]],
    [{ key: "s", operator: "not_exists" }, ["4"]],
    [{ key: "region", operator: "eq", value: "eu" }, ["1", "2", "3", "4"]],
  ];
  for (const [filter, found] of cases) {
    const body = { service_name: "f", attribute_filters: [filter] };
    assert.deepEqual(
      bodiesOf(await client.ask("POST", "/api/v1/logs/search", { body })),
      found,
      JSON.stringify(filter),
    );
  }
  const both = [
    { key: "n", operator: "gt", value: 0 },
    { key: "s", operator: "neq", value: "abc" },
  ];
  assert.deepEqual(
    bodiesOf(await client.ask("POST", "/api/v1/logs/search", { body: { service_name: "f", attribute_filters: both } })),
    ["2"],
  );
});

test("logs/search: all that is wrong with a body is said at once, nested fields by their path", async () => {
  const body = {
    severity_min: 25,
    trace_id: "ABC",
    span_id: "1",
    time_start: "2026-02-30T00:00:00Z",
    order_by: "newest",
    limit: 0,
    cursor: "?",
    attribute_filters: [
      { key: "a", operator: "like", value: 1 },
      { key: "a", operator: "regex", value: "(" },
      { operator: "eq", value: 1 },
    ],
    service: "x",
  };
  assert.deepEqual(await client.refusals("POST", "/api/v1/logs/search", { body }), [
    "cursor.invalid cursor",
    "enum attribute_filters[0].operator",
    "enum order_by",
    "format attribute_filters[1].value",
    "format time_start",
    "maximum severity_min",
    "minimum limit",
    "pattern span_id",
    "pattern trace_id",
    "required attribute_filters[2].key",
    "unknown_field service",
  ]);
  const range = { time_start: rfc3339(base), time_end: rfc3339(base) };
  assert.deepEqual(await client.refusals("POST", "/api/v1/logs/search", { body: range }), [
    "time_range.invalid time_start",
  ]);
});
