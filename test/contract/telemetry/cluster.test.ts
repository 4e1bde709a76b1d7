import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { Session } from "chdb";
import { createLog } from "../../../src/core/log.ts";
import type { Query } from "../../../src/telemetry/contract.ts";
import { migrate, pendingMigrations } from "../../../src/telemetry/migrations.ts";
import type { Sql } from "../../../src/telemetry/migrations.ts";
import { expire, readDiskSpace } from "../../../src/telemetry/retention.ts";
import { rebuildRollups } from "../../../src/telemetry/rollups.ts";
import { createLock, temporaryDirectory } from "./fixture.ts";

const layout = { database: "vigil", cluster: "main" };
const log = createLog("silent");

/**
 * A cluster of one shard, in this process: the engine takes a shard at its own port for itself, and so runs Distributed
 * tables without a server. It has no Keeper, so that replication and ON CLUSTER are taken off the statements, and with
 * them SYSTEM SYNC REPLICA: those three are what no test here runs.
 */
function openCluster(t: TestContext): Sql {
  const directory = temporaryDirectory(t);
  const config = join(directory, "config.xml");
  writeFileSync(
    config,
    `<clickhouse><tcp_port>9000</tcp_port><remote_servers><main><shard><internal_replication>true</internal_replication>
    <replica><host>localhost</host><port>9000</port></replica></shard></main></remote_servers></clickhouse>`,
  );
  const session = new Session(join(directory, "data"), { connectionArgs: [`--config-file=${config}`] });
  t.after(() => session.cleanup());
  const run = (sql: string, params: Query["params"] = {}) => {
    const alone = sql.replaceAll(" ON CLUSTER `main`", "").replace(/Replicated(\w*MergeTree)\([^)]*\)/, "$1");
    return alone.startsWith("SYSTEM SYNC REPLICA") ? "" : session.queryBind(alone, params, "JSONEachRow");
  };
  run("CREATE DATABASE vigil");
  run("USE vigil");
  return {
    async command(sql, params) {
      run(sql, params);
    },
    async rows<T>({ sql, params }: Query) {
      const lines = run(sql, params).split("\n");
      return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
    },
  };
}

test("a cluster's Distributed tables, views, retention and rebuilding work on one shard", async (t) => {
  const sql = openCluster(t);
  const options = { lock: createLock(), log };
  await migrate(sql, layout, options);
  assert.deepEqual(await migrate(sql, layout, options), []);
  assert.deepEqual(await pendingMigrations(sql, layout), []);

  const insert = (columns: string, values: string) =>
    sql.command(
      `INSERT INTO ${columns} SELECT 'default', 'shop', ${values} FROM numbers(10) SETTINGS distributed_foreground_insert = 1, async_insert = 0`,
    );
  await insert(
    "spans (workspace, service_name, received, ts, attributes)",
    "now() - number * 86400, now64(9), map('n', toString(number))",
  );
  await insert("logs (workspace, service_name, received, body)", "now(), 'text ' || toString(number)");
  await insert(
    "metric_points (workspace, service_name, received, metric_name, attributes)",
    "now(), 'm', map('n', toString(number))",
  );
  const sums = async () => {
    const [row] = await sql.rows({
      sql: "SELECT sum(spans) AS spans, sum(logs) AS logs, sum(metric_points) AS points FROM service_activity SETTINGS output_format_json_quote_64bit_integers = 0",
    });
    return row;
  };
  assert.deepEqual(await sums(), { spans: 10, logs: 10, points: 10 });
  assert.deepEqual(await sql.rows({ sql: "SELECT toUInt8(uniqExact(series)) AS n FROM metric_points" }), [{ n: 10 }]);

  const diskSpace = () => readDiskSpace(sql, layout);
  const { freeBytes = 0, totalBytes = 0 } = (await diskSpace()) ?? {};
  assert.ok(freeBytes > 0 && freeBytes <= totalBytes);
  const retention = { traces: 4, logs: 30, metrics: 30, minFreeDisk: "0" };
  const dropped = await expire({ sql, layout, retention, diskSpace, log });
  assert.deepEqual([...new Set(dropped.map(({ table }) => table))].toSorted(), ["span_stats", "spans"]);
  assert.deepEqual(await sql.rows({ sql: "SELECT toUInt8(count()) AS n FROM spans" }), [{ n: 5 }]);

  await sql.command("TRUNCATE TABLE service_activity_local");
  await rebuildRollups({ sql, layout, hold: (fn) => fn() });
  assert.deepEqual(await sums(), { spans: 5, logs: 10, points: 10 });
});
