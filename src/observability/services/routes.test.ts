import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { createLog } from "../../core/log.ts";
import { createActivityView } from "../../telemetry/ddl.ts";
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
  for (const table of ["logs", "spans"] as const)
    await tables.command(createActivityView({ database: "vigil" }, table));
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
