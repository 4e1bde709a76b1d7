import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { createLog } from "../../core/log.ts";
import { createApi } from "../http/server.ts";
import { openTables } from "../logs/tables-for-tests.ts";
import type { Tables } from "../logs/tables-for-tests.ts";
import { serviceRoutes } from "./routes.ts";

interface ServicePage {
  items: { name: string; namespace_name: string | null; instance_count: number; [field: string]: unknown }[];
  has_more: boolean;
  next_cursor: string | null;
  prev_cursor: string | null;
}

let tables: Tables;
let app: FastifyInstance;
const hour = 3_600_000_000_000n;
const now = 1_763_640_000_000_000_000n;

before(async () => {
  tables = await openTables();
  app = createApi({ log: createLog("silent"), version: "0.0.0", access: { mode: "local" } });
  serviceRoutes(app, tables, () => Number(now / 1_000_000n));
  await app.ready();
  await tables.insert("spans", [
    seen("shop", "cart", { service_version: "1.9.0", service_instance: "a", ago: 50n }),
    seen("shop", "cart", { service_version: "1.10.0", service_instance: "b", ago: 30n }),
    seen("shop", "cart", { service_version: "1.9.1", service_instance: "c", ago: 2n }),
    seen("shop", "cart", { service_instance: "c", ago: 1n }),
    seen("shop", "pay", { ago: 25n }),
    seen("", "gateway", {}),
    seen("bank", "pay", { service_instance: "x" }),
  ]);
  await tables.insert("logs", [
    seen("shop", "cart", { service_version: "1.9.1", service_instance: "d", ago: 3n }),
    seen("shop", "Zeta", { service_instance: "z" }),
    { ...seen("shop", "hidden", {}), workspace: "other" },
  ]);
});

after(async () => {
  await app.close();
  await tables.close();
});

let seq = 1;
function seen(
  service_namespace: string,
  service_name: string,
  { ago = 0n, ...more }: { ago?: bigint; service_version?: string; service_instance?: string },
) {
  return {
    workspace: "default",
    seq: seq++,
    service_namespace,
    service_name,
    service_version: more.service_version ?? "",
    service_instance: more.service_instance ?? "",
    ts: now - ago * hour,
    received: Number(now / 1_000_000_000n),
  };
}

async function get(query: Record<string, string> = {}) {
  return app.inject({ url: `/api/v1/services?${new URLSearchParams(query)}`, headers: { host: "localhost" } });
}

async function list(query: Record<string, string> = {}): Promise<ServicePage> {
  const answer = await get(query);
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json<ServicePage>();
}

const names = ({ items }: ServicePage) => items.map(({ namespace_name, name }) => `${namespace_name ?? ""}/${name}`);

test("one entry per namespace and name, in this order, of the caller's workspace", async () => {
  const page = await list();
  assert.deepEqual(names(page), ["/gateway", "bank/pay", "shop/Zeta", "shop/cart", "shop/pay"]);
  assert.deepEqual({ ...page, items: [] }, { items: [], has_more: false, next_cursor: null, prev_cursor: null });
});

test("an entry has the version last seen, and counts the instances of the last 24 hours", async () => {
  const { items } = await list();
  const at = (agoHours: number) => new Date(Number(now / 1_000_000n) - agoHours * 3_600_000).toISOString();
  assert.deepEqual(items, [
    { name: "gateway", namespace_name: null, instance_count: 1, last_seen: at(0) },
    { name: "pay", namespace_name: "bank", instance_count: 1, last_seen: at(0) },
    { name: "Zeta", namespace_name: "shop", instance_count: 1, last_seen: at(0) },
    { name: "cart", namespace_name: "shop", version: "1.9.1", instance_count: 2, last_seen: at(1) },
    { name: "pay", namespace_name: "shop", instance_count: 0, last_seen: at(25) },
  ]);
});

test("a namespace selects its services, the empty one those without", async () => {
  assert.deepEqual(names(await list({ namespaceName: "shop" })), ["shop/Zeta", "shop/cart", "shop/pay"]);
  assert.deepEqual(names(await list({ namespaceName: "" })), ["/gateway"]);
  assert.deepEqual(names(await list({ namespaceName: "none" })), []);
});

test("pages hold each service once, forwards and backwards", async () => {
  for (const limit of ["1", "2", "3", "5"]) {
    let page = await list({ limit });
    assert.equal(page.prev_cursor, null);
    const forwards = names(page);
    while (page.next_cursor !== null) {
      page = await list({ limit, cursor: page.next_cursor });
      forwards.push(...names(page));
    }
    assert.deepEqual(forwards, ["/gateway", "bank/pay", "shop/Zeta", "shop/cart", "shop/pay"]);
    const backwards = names(page);
    while (page.prev_cursor !== null) {
      page = await list({ limit, cursor: page.prev_cursor });
      backwards.unshift(...names(page));
    }
    assert.deepEqual(backwards, forwards);
  }
});

test("what is wrong with a request is said at once", async () => {
  const answer = await get({ limit: "1001", namespace: "shop" });
  assert.equal(answer.statusCode, 400);
  const { errors } = answer.json<{ errors: { field: string; code: string }[] }>();
  assert.deepEqual(errors.map(({ field, code }) => `${field} ${code}`).toSorted(), [
    "limit maximum",
    "namespace unknown_parameter",
  ]);
});

async function read(path: string, query: Record<string, string> = {}) {
  const url = `/api/v1/services/${path}?${new URLSearchParams(query)}`;
  const answer = await app.inject({ url, headers: { host: "localhost" } });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
}

/** A request of `till`, two hours ago and every `everyMinutes` minutes from there, made by `kiosk`. */
function requests(count: number, everyMinutes: bigint) {
  return Array.from({ length: count }, (_, i) => {
    const made = { ...seen("shop", "kiosk", {}), ts: now - 2n * hour + (BigInt(i) * everyMinutes * hour) / 60n };
    const [trace_id, span_id] = [
      (0xa000 + i).toString(16).padStart(32, "0"),
      (0xb000 + i).toString(16).padStart(16, "0"),
    ];
    const served = { ...seen("shop", "till", { service_version: "3.0.0" }), ts: made.ts + 1_000_000n };
    return [
      {
        ...made,
        trace_id,
        span_id,
        name: "call till",
        kind: 3,
        duration_ns: 9_000_000,
        attributes: { "peer.service": "t" },
      },
      {
        ...served,
        trace_id,
        span_id: (0xc000 + i).toString(16).padStart(16, "0"),
        parent_span_id: span_id,
        name: "POST /sale",
        kind: 2,
        status_code: i === 0 ? 2 : 0,
        duration_ns: 4_000_000,
        scope: '{"name":"http","version":"1.0.0","attributes":[],"dropped_attributes_count":0}',
        resource: '{"service.name":"till","process.pid":7,"attributes":[],"dropped_attributes_count":0}',
      },
    ];
  }).flat();
}

test("one service: what it is and how it fares, who calls it, what it does", async () => {
  await tables.insert("spans", requests(4, 20n));
  const { status, body } = await read("till");
  assert.equal(status, 200, JSON.stringify(body));
  const { p99_latency_ms, ...rest } = body;
  assert.ok(Math.abs((p99_latency_ms as number) / 4 - 1) < 0.004);
  assert.deepEqual(rest, {
    name: "till",
    namespace_name: "shop",
    version: "3.0.0",
    instance_count: 1,
    last_seen: "2025-11-20T11:00:00.001Z",
    resource_attributes: { "service.name": "till", "process.pid": 7, attributes: [], dropped_attributes_count: 0 },
    instrumentation_libraries: [{ name: "http", version: "1.0.0" }],
    request_rate: 4 / 86_400,
    error_rate: 0.25,
    avg_latency_ms: 4,
  });

  const calls = {
    source_service: "kiosk",
    target_service: "till",
    request_count: 4,
    error_rate: 0.25,
    avg_latency_ms: 4,
  };
  assert.deepEqual((await read("till/dependencies")).body, [calls]);
  assert.deepEqual((await read("kiosk/dependencies")).body, [calls]);
  assert.deepEqual((await read("cart/dependencies")).body, []);

  const operations = (await read("till/operations")).body as unknown as { items: Record<string, unknown>[] };
  assert.deepEqual(
    operations.items.map((one) => ({ ...one, p99_duration_ms: 0 })),
    [{ name: "POST /sale", span_kind: 2, request_count: 4, error_count: 1, avg_duration_ms: 4, p99_duration_ms: 0 }],
  );
});

test("a window counts what began in it; none of it is no latency", async () => {
  const window = { startTime: "2025-11-20T10:20:00Z", endTime: "2025-11-20T11:00:00Z" };
  const { body } = await read("till", window);
  assert.equal(body["request_rate"], 2 / 2400);
  assert.equal(body["error_rate"], 0);
  const [calls] = (await read("till/dependencies", window)).body as unknown as { request_count: number }[];
  assert.equal(calls?.request_count, 2);
  const late = { startTime: "2031-01-01T00:00:00Z" };
  const { request_rate, avg_latency_ms, p99_latency_ms } = (await read("till", late)).body;
  assert.deepEqual([request_rate, avg_latency_ms, p99_latency_ms], [0, null, null]);
  assert.deepEqual((await read("till/dependencies", late)).body, []);
  assert.deepEqual((await read("till/operations", late)).body["items"], []);
  const all = { startTime: "0001-01-01T00:00:00Z", endTime: "9999-12-31T00:00:00Z" };
  assert.equal(((await read("till/dependencies", all)).body as unknown as unknown[]).length, 1);
  assert.equal((await read("till/operations", all)).status, 200);
  assert.equal((await read("till/operations", { endTime: "0001-01-01T00:00:00Z" })).status, 200);
});

test("of services of one name the namespace selects one, by default the first", async () => {
  assert.equal((await read("pay")).body["namespace_name"], "bank");
  assert.equal((await read("pay", { namespaceName: "shop" })).body["namespace_name"], "shop");
  assert.equal((await read("gateway", { namespaceName: "" })).body["namespace_name"], null);
});

test("a service known by its logs alone has its resource too", async () => {
  const resource = '{"service.name":"printer","attributes":[],"dropped_attributes_count":0}';
  await tables.insert("logs", [{ ...seen("shop", "printer", {}), resource }]);
  const { body } = await read("printer");
  assert.deepEqual(body["resource_attributes"], JSON.parse(resource));
  assert.deepEqual([body["request_rate"], body["avg_latency_ms"]], [0, null]);
});

test("a service that never was, is elsewhere or in another workspace is 404", async () => {
  for (const [name, query] of [
    ["nobody", {}],
    ["hidden", {}],
    ["cart", { namespaceName: "bank" }],
  ] as const) {
    for (const path of [name, `${name}/dependencies`, `${name}/operations`]) {
      const { status, body } = await read(path, query);
      assert.equal(status, 404, path);
      assert.deepEqual([body["resource_type"], body["resource_id"]], ["service", name]);
    }
  }
});

test("a name may have any characters", async () => {
  await tables.insert("spans", [seen("", "a/b c?ü", {})]);
  assert.equal((await read(encodeURIComponent("a/b c?ü"))).body["name"], "a/b c?ü");
});

test("a window that is none is refused", async () => {
  const query = { startTime: "2025-11-20T10:00:00Z", endTime: "2025-11-20T10:00:00Z", limit: "0" };
  for (const [path, fields] of [
    ["cart", ["limit", "startTime"]],
    ["cart/dependencies", ["limit", "startTime"]],
    ["cart/operations", ["limit", "startTime"]],
  ] as const) {
    const { status, body } = await read(path, query);
    assert.equal(status, 400);
    assert.deepEqual((body["errors"] as { field: string }[]).map(({ field }) => field).toSorted(), fields);
  }
});
