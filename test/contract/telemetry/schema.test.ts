import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { OperatorError } from "../../../src/core/errors.ts";
import { createLog } from "../../../src/core/log.ts";
import { migrate, pendingMigrations, telemetryMigrations } from "../../../src/telemetry/migrations.ts";
import type { Migration } from "../../../src/telemetry/migrations.ts";
import { createLock, openForTest, openServer } from "./fixture.ts";

const layout = { database: "vigil" };
const log = createLog("silent");

/** A server with an empty database, and a connection to it. */
async function openDatabase(t: TestContext) {
  const server = await openServer(t);
  await server.sql("default").command("CREATE DATABASE vigil");
  return { sql: server.sql("vigil"), address: server.address };
}

test("the schema is made once by nodes that start together, and not again by later ones", async (t) => {
  const server = await openServer(t);
  const sql = server.sql("default");
  assert.deepEqual(await pendingMigrations(sql, layout), telemetryMigrations);
  const lock = createLock();
  const open = () => openForTest(t, { directory: "", clickhouseUrl: server.address, lock });
  await Promise.all([open(), open(), open(), open()]);
  await open();
  const applied = await sql.rows<{ id: number; name: string }>({
    sql: "SELECT id, name FROM vigil.vigil_migrations ORDER BY id",
  });
  assert.deepEqual(
    applied,
    telemetryMigrations.map(({ id, name }) => ({ id, name })),
  );
  assert.deepEqual(await pendingMigrations(sql, layout), []);
});

test("the engine takes every statement twice", async (t) => {
  const { sql } = await openDatabase(t);
  for (const _ of [1, 2]) {
    for (const { statements } of telemetryMigrations)
      for (const statement of statements(layout)) await sql.command(statement);
  }
  const tables = await sql.rows<{ name: string }>({
    sql: "SELECT name FROM system.tables WHERE database = 'vigil' ORDER BY name",
  });
  assert.deepEqual(
    tables.map((table) => table.name),
    [
      "log_stats",
      "log_stats_from_logs",
      "logs",
      "metric_points",
      "service_activity",
      "service_activity_from_logs",
      "service_activity_from_metric_points",
      "service_activity_from_spans",
      "session_activity",
      "session_activity_from_logs",
      "session_activity_from_spans",
      "span_stats",
      "span_stats_from_spans",
      "spans",
    ],
  );
});

test("a step that failed half-way goes on at the next start, and what it holds by then is kept", async (t) => {
  const { sql } = await openDatabase(t);
  const broken: Migration = {
    id: 1,
    name: "half",
    statements: () => [
      "CREATE TABLE IF NOT EXISTS a (x UInt8) ENGINE = MergeTree ORDER BY x",
      "CREATE TABLE IF NOT EXISTS b (x Nonsense) ENGINE = Memory",
    ],
  };
  await assert.rejects(migrate(sql, layout, { lock: createLock(), log, migrations: [broken] }), OperatorError);
  await sql.command("INSERT INTO a SELECT 7");
  const whole: Migration = {
    ...broken,
    statements: () => [broken.statements(layout)[0]!, "CREATE TABLE IF NOT EXISTS b (x UInt8) ENGINE = Memory"],
  };
  assert.equal((await migrate(sql, layout, { lock: createLock(), log, migrations: [whole] })).length, 1);
  assert.deepEqual(await sql.rows({ sql: "SELECT x FROM a" }), [{ x: 7 }]);
});

test("a database of a newer version, or one that was changed, is refused with a sentence", async (t) => {
  const { sql, address } = await openDatabase(t);
  await (await openForTest(t, { directory: "", clickhouseUrl: address })).close();
  await sql.command("INSERT INTO vigil_migrations SELECT 999, 'from the future', 'x', now64(3)");
  const open = () => openForTest(t, { directory: "", clickhouseUrl: address });
  await assert.rejects(
    open(),
    (error) => error instanceof OperatorError && /newer Vigil .*step 999/.test(error.message),
  );
  await sql.command("ALTER TABLE vigil_migrations DELETE WHERE id = 999 SETTINGS mutations_sync = 2");
  await sql.command("ALTER TABLE vigil_migrations UPDATE checksum = 'other' WHERE 1 SETTINGS mutations_sync = 2");
  await assert.rejects(open(), (error) => error instanceof OperatorError && /step 1 .*differs/.test(error.message));
});
