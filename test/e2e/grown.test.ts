// Several Vigils on one PostgreSQL and one ClickHouse. The ClickHouse is the engine behind its HTTP interface, which is
// as much of a server as can be had from npm.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createLog } from "../../src/core/log.ts";
import { startEngine } from "../../src/telemetry/embedded/engine.ts";
import { startPostgres } from "../contract/state/postgres.ts";
import { startVigil } from "./start-vigil.ts";

test("two nodes that start together share the stores: what one takes, the other answers", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "vigil-grown-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const engine = await startEngine({ directory, log: createLog("silent") });
  t.after(() => engine.close());
  const clickhouse = new URL(engine.url);
  clickhouse.username = engine.username;
  clickhouse.password = engine.password;
  const env = {
    VIGIL_CLICKHOUSE_URL: clickhouse.href,
    VIGIL_POSTGRES_URL: await postgres.createDatabase(),
  };

  const nodes = await Promise.all([startVigil({ env }), startVigil({ env })]);
  t.after(() => Promise.all(nodes.map((node) => node.stop())));
  const [one, other] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const migrated = nodes.flatMap((node) => node.log).filter((entry) => entry["msg"] === "telemetry schema migrated");
  assert.equal(new Set(migrated.map((entry) => entry["migration"])).size, migrated.length, "each step ran once");
  assert.ok(migrated.length > 0);

  const sent = await fetch(`${one.url}/v1/logs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      resourceLogs: [
        { scopeLogs: [{ logRecords: [{ timeUnixNano: "1795000000000000001", body: { stringValue: "shared" } }] }] },
      ],
    }),
  });
  assert.equal(sent.status, 200);
  const page = (await (await fetch(`${other.url}/api/v1/logs`)).json()) as { items: { body: unknown }[] };
  assert.deepEqual(
    page.items.map((item) => item.body),
    [{ string_value: "shared" }],
  );
  const health = (await (await fetch(`${other.url}/health`)).json()) as { status: string };
  assert.equal(health.status, "healthy");
});
