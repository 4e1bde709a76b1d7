// Cursors, on every route that pages: opaque, bound to the filters and the order that made them, not to the limit.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient } from "./client.ts";
import type { Client, Page, Query } from "./client.ts";
import { attributes, nowNano, randomId, sendLogs, sendSpans } from "./send-otlp.ts";

/** A list with three items at least, and other ways to ask for it under which its cursors mean nothing. */
interface List {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly filters: Query;
  readonly foreign: readonly Query[];
  /** Another list to which its cursors mean nothing. */
  readonly other: string;
}

let vigil: RunningVigil;
let client: Client;
const traceId = randomId(16);
const otherTrace = randomId(16);

before(async () => {
  vigil = await startVigil();
  client = createClient(vigil.url);
  const own = { attributes: attributes({ "session.id": "one", "user.id": "u" }) };
  for (const service of ["a", "b", "c"]) {
    await sendSpans(client, { "service.name": service, "service.namespace": "n" }, [
      { traceId, name: "x" },
      { traceId, name: "y", kind: 2 },
      { traceId, name: "z", ...own },
      { traceId: otherTrace, ...own },
      { traceId: randomId(16), ...own },
      ...["two", "three"].map((id) => ({
        traceId: randomId(16),
        attributes: attributes({ "session.id": id, "user.id": "u" }),
      })),
    ]);
    await sendLogs(client, { "service.name": "l" }, [
      { timeUnixNano: String(nowNano()), severityNumber: 9, body: { stringValue: service } },
    ]);
    const body = { service_name: "d", service_version: "1.0.0", environment: "testing", strategy: "shadow" };
    await client.ask("POST", "/v1/deployments", { body });
  }
});
after(() => vigil.stop());

const start = "2020-01-01T00:00:00Z";
const lists: readonly List[] = [
  {
    method: "GET",
    path: "/api/v1/logs",
    filters: { serviceName: "l" },
    other: "/api/v1/traces",
    foreign: [
      {},
      { serviceName: "m" },
      { serviceName: "l", severityMin: 1 },
      { serviceName: "l", orderBy: "timestamp_asc" },
      { serviceName: "l", startTime: start },
    ],
  },
  {
    method: "POST",
    path: "/api/v1/logs/search",
    filters: { service_name: "l" },
    other: "/api/v1/logs",
    foreign: [{}, { service_name: "l", query: "a" }, { service_name: "l", order_by: "severity_asc" }],
  },
  {
    method: "GET",
    path: "/api/v1/traces",
    filters: { serviceName: "a" },
    other: "/api/v1/services",
    foreign: [{}, { serviceName: "b" }, { serviceName: "a", minDurationMs: 0 }],
  },
  {
    method: "POST",
    path: "/api/v1/traces/search",
    filters: { service_name: "a" },
    other: "/api/v1/traces",
    foreign: [{}, { service_name: "b" }, { service_name: "a", query: "x" }],
  },
  {
    method: "GET",
    path: `/api/v1/traces/${traceId}/spans`,
    filters: {},
    other: `/v1/traces/${otherTrace}/spans`,
    foreign: [],
  },
  {
    method: "GET",
    path: "/api/v1/sessions",
    filters: { userId: "u" },
    other: "/api/v1/sessions/one/traces",
    foreign: [{}, { userId: "v" }, { userId: "u", isActive: true }],
  },
  {
    method: "GET",
    path: "/api/v1/sessions/one/traces",
    filters: {},
    other: "/api/v1/sessions/two/traces",
    foreign: [],
  },
  {
    method: "GET",
    path: "/api/v1/services",
    filters: { namespaceName: "n" },
    other: "/api/v1/logs",
    foreign: [{}, { namespaceName: "m" }],
  },
  {
    method: "GET",
    path: "/api/v1/services/a/operations",
    filters: {},
    other: "/api/v1/services/b/operations",
    foreign: [{ startTime: start }, { namespaceName: "n" }],
  },
  {
    method: "GET",
    path: "/api/v1/deployments",
    filters: { serviceName: "d" },
    other: "/api/v1/services",
    foreign: [{}, { serviceName: "e" }, { serviceName: "d", status: "pending" }],
  },
];

const sendOf = ({ method }: List, fields: Query) => (method === "GET" ? { query: fields } : { body: fields });
const page = (list: List, fields: Query) => client.ask<Page<unknown>>(list.method, list.path, sendOf(list, fields));
const refused = (list: List, fields: Query) => client.refusals(list.method, list.path, sendOf(list, fields));

for (const list of lists) {
  test(`${list.method} ${list.path.replace(traceId, "{traceId}")}: a cursor works with another limit, and with its own filters alone`, async () => {
    const all = await page(list, { ...list.filters, limit: 1_000 });
    assert.ok(all.items.length >= 3, `${all.items.length} items`);
    const first = await page(list, { ...list.filters, limit: 1 });
    assert.deepEqual([first.items, first.has_more, first.prev_cursor], [all.items.slice(0, 1), true, null]);
    const cursor = first.next_cursor!;
    const rest = await page(list, { ...list.filters, limit: 1_000, cursor });
    assert.deepEqual([rest.items, rest.has_more, rest.next_cursor], [all.items.slice(1), false, null]);
    const byDefault = await page(list, { ...list.filters, cursor });
    assert.deepEqual(byDefault.items, rest.items);
    const back = await page(list, { ...list.filters, limit: 1_000, cursor: rest.prev_cursor! });
    assert.deepEqual([back.items, back.prev_cursor], [first.items, null]);

    for (const filters of list.foreign)
      assert.deepEqual(await refused(list, { ...filters, cursor }), ["cursor.invalid cursor"], JSON.stringify(filters));
    assert.deepEqual(await client.refusals("GET", list.other, { query: { cursor } }), ["cursor.invalid cursor"]);
  });

  test(`${list.method} ${list.path.replace(traceId, "{traceId}")}: a malformed or altered cursor is 400 cursor.invalid`, async () => {
    const { next_cursor: cursor } = await page(list, { ...list.filters, limit: 1 });
    const last = cursor!.endsWith("A") ? "B" : "A";
    const forged = Buffer.from(JSON.stringify(["x", "next", "1", "2", "3"])).toString("base64url");
    const altered = [
      cursor!.slice(0, -4),
      `${cursor}AAAA`,
      `${cursor}=`,
      cursor!.slice(0, 8) + last + cursor!.slice(9),
    ];
    for (const wrong of ["", "x", "null", "%00", "W10", "e30", "ünï", forged, ...altered]) {
      assert.deepEqual(await refused(list, { ...list.filters, cursor: wrong }), ["cursor.invalid cursor"], wrong);
    }
  });
}

test("a cursor is the same under both prefixes", async () => {
  const { next_cursor: cursor } = await client.read<Page<unknown>>(`/v1/traces/${traceId}/spans`, { limit: 2 });
  const [short, long] = await Promise.all(
    ["/v1", "/api/v1"].map((prefix) => client.read(`${prefix}/traces/${traceId}/spans`, { cursor: cursor! })),
  );
  assert.deepEqual(short, long);
});
