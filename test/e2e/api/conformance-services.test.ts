// The routes of services: the list, and of one service what it is, whom it calls and what it does.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient, problemOf, walk } from "./client.ts";
import type { Client, Page, Query } from "./client.ts";
import { assertFields, listOf, object, orNull, resourceFields } from "./fields.ts";
import type { FieldTable } from "./fields.ts";
import { nowNano, randomId, rfc3339, sendLogs, sendSpans } from "./send-otlp.ts";

interface Service {
  readonly name: string;
  readonly namespace_name: string | null;
  readonly version?: string;
  readonly instance_count: number;
  readonly last_seen: string;
}

let vigil: RunningVigil;
let client: Client;
const minute = 60_000_000_000n;

before(async () => {
  vigil = await startVigil();
  client = createClient(vigil.url);
});
after(() => vigil.stop());

const list = (query: Query = {}) => client.read<Page<Service>>("/api/v1/services", query);
const entry: FieldTable = {
  name: "string",
  namespace_name: orNull("string"),
  "version?": "semver",
  instance_count: "count",
  last_seen: "date-time",
};

/** A span of `ms` milliseconds that began `ago` minutes before now. */
function span(ago: number, ms: number, rest: object = {}) {
  const start = nowNano() - BigInt(ago) * minute;
  const times = { startTimeUnixNano: String(start), endTimeUnixNano: String(start + BigInt(ms) * 1_000_000n) };
  return { traceId: randomId(16), kind: 2, ...times, ...rest };
}

test("a service entry has every field; one per namespace and name; those of metrics alone count", async () => {
  const shop = { "service.name": "cart", "service.namespace": "shop" };
  await sendSpans(client, { ...shop, "service.version": "2.0.0", "service.instance.id": "a" }, [span(9, 1)]);
  await sendSpans(client, { ...shop, "service.version": "1.1.0", "service.instance.id": "b" }, [span(5, 1)]);
  await sendLogs(client, { "service.name": "cart", "service.namespace": "other" }, [{ body: { stringValue: "x" } }]);
  await sendLogs(client, { "service.name": "bare" }, [{ body: { stringValue: "x" } }]);
  const attributes = [{ key: "service.name", value: { stringValue: "meter" } }];
  const dataPoints = [{ asInt: "1", timeUnixNano: String(nowNano()) }];
  const metrics = {
    resourceMetrics: [
      { resource: { attributes }, scopeMetrics: [{ metrics: [{ name: "m", gauge: { dataPoints } }] }] },
    ],
  };
  assert.equal((await client.send("POST", "/v1/metrics", { body: metrics })).status, 200);

  const { items } = await list();
  for (const item of items) assertFields(item, entry);
  // By namespace, then name; those without a namespace first.
  assert.deepEqual(
    items.map(({ namespace_name, name }) => [namespace_name, name]),
    [
      [null, "bare"],
      [null, "meter"],
      ["other", "cart"],
      ["shop", "cart"],
    ],
  );
  const cart = items[3]!;
  // The version last seen, not the greatest.
  assert.deepEqual([cart.version, cart.instance_count], ["1.1.0", 2]);
  assert.ok(Math.abs(Date.parse(cart.last_seen) - (Date.now() - 300_000)) < 60_000, cart.last_seen);
});

test("instance_count counts distinct service.instance.id, else pod, else host and pid, of the last 24 hours", async () => {
  const name = { "service.name": "instances", "service.namespace": "count" };
  const resources = [
    { "service.instance.id": "i1", "k8s.pod.name": "p" },
    { "service.instance.id": "i1", "host.name": "h" },
    { "service.instance.id": "i2" },
    { "k8s.pod.name": "p1", "host.name": "h1" },
    { "k8s.pod.name": "p1", "host.name": "h2" },
    { "host.name": "h1", "process.pid": 1 },
    { "host.name": "h1", "process.pid": 2 },
  ];
  for (const resource of resources) await sendSpans(client, { ...name, ...resource }, [span(1, 1)]);
  await sendSpans(client, { ...name, "service.instance.id": "old" }, [span(1_500, 1)]);
  const [service] = (await list({ namespaceName: "count" })).items;
  assert.equal(service!.instance_count, 5);
});

test("namespaceName filters exactly; limit is 1 to 1000, 100 by default; pages to the end and back", async () => {
  const resourceLogs = Array.from({ length: 1_004 }, (_, i) => ({
    resource: {
      attributes: [
        ["service.name", `s${String(i).padStart(4, "0")}`],
        ["service.namespace", "many"],
      ].map(([key, stringValue]) => ({ key, value: { stringValue } })),
    },
    scopeLogs: [{ logRecords: [{ timeUnixNano: String(nowNano()), body: { stringValue: "x" } }] }],
  }));
  assert.equal((await client.send("POST", "/v1/logs", { body: { resourceLogs } })).status, 200);
  const query = { namespaceName: "many" };
  assert.equal((await list(query)).items.length, 100);
  assert.equal((await list({ ...query, limit: 1 })).items.length, 1);
  assert.equal((await list({ ...query, limit: 1_000 })).items.length, 1_000);
  assert.deepEqual(await client.refusals("GET", "/api/v1/services", { query: { limit: 0 } }), ["minimum limit"]);
  assert.deepEqual(await client.refusals("GET", "/api/v1/services", { query: { limit: 1_001 } }), ["maximum limit"]);
  const services = await walk((cursor) => list({ ...query, limit: 150, cursor }));
  assert.deepEqual(
    services.map(({ name }) => name),
    Array.from({ length: 1_004 }, (_, i) => `s${String(i).padStart(4, "0")}`),
  );
  assert.deepEqual((await list({ namespaceName: "man" })).items, []);
});

test("services/{name}: every field, with the rates and latencies of the window", async () => {
  const resource = { "service.name": "detail", "service.version": "3.0.0", "host.name": "h" };
  await sendSpans(client, resource, [span(1, 10), span(2, 30, { status: { code: 2 } }), span(3, 50, { kind: 3 })], {
    name: "lib",
    version: "1.0.0",
  });
  const window = { startTime: rfc3339(nowNano() - 10n * minute), endTime: rfc3339(nowNano()) };
  const detail = await client.read<Record<string, unknown>>("/api/v1/services/detail", window);
  assertFields(detail, {
    ...entry,
    resource_attributes: object(resourceFields),
    instrumentation_libraries: listOf({ name: "string", "version?": "string" }),
    request_rate: "number",
    error_rate: "ratio",
    avg_latency_ms: "number",
    p99_latency_ms: "number",
  });
  assert.deepEqual(
    [detail["error_rate"], detail["avg_latency_ms"], detail["instrumentation_libraries"]],
    [0.5, 20, [{ name: "lib", version: "1.0.0" }]],
  );
  assert.ok(Math.abs((detail["request_rate"] as number) - 2 / 600) < 1e-4);
  assert.ok(Math.abs((detail["p99_latency_ms"] as number) - 30) < 1);
});

test("services/{name}/dependencies: who calls whom, with counts, errors and latency", async () => {
  const traceId = randomId(16);
  const [call, query] = [randomId(8), randomId(8)];
  await sendSpans(client, { "service.name": "caller" }, [span(1, 20, { traceId, spanId: call, kind: 3 })]);
  await sendSpans(client, { "service.name": "callee" }, [
    span(1, 10, { traceId, parentSpanId: call, status: { code: 2 } }),
    span(1, 5, {
      traceId,
      spanId: query,
      kind: 3,
      attributes: [{ key: "peer.service", value: { stringValue: "database" } }],
    }),
  ]);
  const found = await client.read<Record<string, unknown>[]>("/api/v1/services/callee/dependencies");
  for (const one of found) {
    assertFields(one, {
      source_service: "string",
      target_service: "string",
      request_count: "count",
      error_rate: "ratio",
      avg_latency_ms: "number",
    });
  }
  assert.deepEqual(
    found.map((one) => [one["source_service"], one["target_service"], one["request_count"], one["error_rate"]]),
    [
      ["callee", "database", 1, 0],
      ["caller", "callee", 1, 1],
    ],
  );
});

test("services/{name}/operations: every field, paged; limit is 1 to 1000, 100 by default", async () => {
  const spans = Array.from({ length: 110 }, (_, i) =>
    span(1, 4, { name: `op ${String(i).padStart(3, "0")}`, ...(i === 0 && { status: { code: 2 } }) }),
  );
  await sendSpans(client, { "service.name": "operator" }, [
    ...spans,
    span(1, 6, { name: "op 000" }),
    span(1, 1, { name: "op 000", kind: 3 }),
  ]);
  const path = "/api/v1/services/operator/operations";
  const page = await client.read<Page<Record<string, unknown>>>(path);
  assert.equal(page.items.length, 100);
  for (const item of page.items) {
    assertFields(item, {
      name: "string",
      span_kind: [0, 1, 2, 3, 4, 5],
      request_count: "count",
      error_count: "count",
      avg_duration_ms: "number",
      p99_duration_ms: "number",
    });
  }
  const { p99_duration_ms: p99, ...first } = page.items[0]!;
  assert.deepEqual(first, { name: "op 000", span_kind: 2, request_count: 2, error_count: 1, avg_duration_ms: 5 });
  assert.ok(Math.abs((p99 as number) - 6) < 0.1);
  assert.deepEqual(await client.refusals("GET", path, { query: { limit: 0 } }), ["minimum limit"]);
  assert.deepEqual(await client.refusals("GET", path, { query: { limit: 1_001 } }), ["maximum limit"]);
  const all = await walk((cursor) => client.read<Page<Record<string, unknown>>>(path, { limit: 40, cursor }));
  assert.equal(all.length, 111);
});

test("a service's name may hold any characters; an unknown one is 404 with resource_type service", async () => {
  const name = "ä b/c?d%e&f";
  await sendLogs(client, { "service.name": name }, [{ body: { stringValue: "x" } }]);
  assert.equal((await client.read<Service>(`/api/v1/services/${encodeURIComponent(name)}`)).name, name);
  for (const suffix of ["", "/dependencies", "/operations"]) {
    const path = `/api/v1/services/no-such${suffix}`;
    const answer = await client.send("GET", path);
    assert.equal(answer.status, 404, path);
    const problem = problemOf(answer, path);
    assert.deepEqual([problem["resource_type"], problem["resource_id"]], ["service", "no-such"]);
    const query = "startTime=2026-01-02T00:00:00Z&endTime=2026-01-01T00:00:00Z&nothing=1";
    assert.deepEqual(await client.refusals("GET", path, { query }), [
      "time_range.invalid startTime",
      "unknown_parameter nothing",
    ]);
  }
});
