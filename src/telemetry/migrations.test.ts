import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { OperatorError, StoreUnavailable } from "../core/errors.ts";
import { createLog } from "../core/log.ts";
import type { Query } from "./contract.ts";
import type { Layout } from "./ddl.ts";
import { migrate, pendingMigrations } from "./migrations.ts";
import type { Lock, Migration, Sql } from "./migrations.ts";

const layout: Layout = { database: "vigil" };
const log = createLog("silent");

const first: Migration = { id: 1, name: "first", statements: () => ["CREATE a", "CREATE b"] };
const second: Migration = { id: 2, name: "second", statements: () => ["ALTER a"] };

/** Remembers what it was told; `refuse` makes a statement fail. */
class FakeDatabase implements Sql {
  readonly run: string[] = [];
  readonly recorded: { id: number; checksum: string }[] = [];
  hasTable = false;
  refuse: (sql: string) => Error | undefined = () => undefined;

  async command(sql: string, params: Query["params"] = {}): Promise<void> {
    await turn();
    const error = this.refuse(sql);
    if (error) throw error;
    if (sql.startsWith("INSERT INTO vigil_migrations")) {
      this.recorded.push({ id: Number(params.id), checksum: String(params.checksum) });
    } else if (sql.startsWith("CREATE TABLE IF NOT EXISTS vigil_migrations")) {
      this.hasTable = true;
    } else {
      this.run.push(sql);
    }
  }

  async rows<T>({ sql }: Query): Promise<T[]> {
    await turn();
    if (sql.includes("system.tables")) return (this.hasTable ? [{}] : []) as T[];
    assert.ok(this.hasTable);
    return [...this.recorded] as T[];
  }
}

/** Lets one in at a time, as the lock of the state store does for all nodes. */
function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve();
  return (fn) => {
    const result = last.then(fn);
    last = result.catch(() => {});
    return result;
  };
}

function setUp(migrations: readonly Migration[]) {
  const database = new FakeDatabase();
  const options = { lock: createLock(), log, migrations };
  return { database, start: (known = migrations) => migrate(database, layout, { ...options, migrations: known }) };
}

test("steps run in order, once, and only what is new later", async () => {
  const { database, start } = setUp([first]);
  assert.deepEqual(await start(), [first]);
  assert.deepEqual(await start(), []);
  assert.deepEqual(await start([first, second]), [second]);
  assert.deepEqual(database.run, ["CREATE a", "CREATE b", "ALTER a"]);
});

test("nodes that start together run each step once", async () => {
  const { database, start } = setUp([first, second]);
  const applied = await Promise.all(Array.from({ length: 5 }, () => start()));
  assert.deepEqual(applied.flat(), [first, second]);
  assert.deepEqual(database.run, ["CREATE a", "CREATE b", "ALTER a"]);
});

test("a crash between two statements is made good by the next start", async () => {
  const { database, start } = setUp([first, second]);
  database.refuse = (sql) => (sql === "CREATE b" ? new StoreUnavailable("killed") : undefined);
  await assert.rejects(start(), StoreUnavailable);
  assert.equal(database.recorded.length, 0);
  database.refuse = () => undefined;
  await start();
  assert.deepEqual(database.run, ["CREATE a", "CREATE a", "CREATE b", "ALTER a"]);
  assert.deepEqual(
    database.recorded.map((r) => r.id),
    [1, 2],
  );
});

test("a statement that the engine refuses is a sentence that names the step and the reason", async () => {
  const { database, start } = setUp([first]);
  database.refuse = (sql) => (sql === "CREATE b" ? new Error("Not enough privileges") : undefined);
  await assert.rejects(start(), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /step 1 \(first\).*Not enough privileges/);
    return true;
  });
});

test("a database that is newer than the code is refused, and left alone", async () => {
  const { database, start } = setUp([first, second]);
  await start();
  await assert.rejects(start([first]), {
    name: "OperatorError",
    message: /made by a newer Vigil \(it has schema step 2, this one knows 1\)/,
  });
  assert.equal(database.run.length, 3);
});

test("a step that differs from what was applied is refused", async () => {
  const { start } = setUp([first, second]);
  await start();
  const edited: Migration = { ...first, statements: () => ["CREATE a", "CREATE c"] };
  await assert.rejects(start([edited, second]), { name: "OperatorError", message: /step 1 \(first\).*differs/ });
});

test("a new name or new surroundings of a step do not make it differ", async () => {
  const { start } = setUp([first]);
  await start();
  assert.deepEqual(await start([{ ...first, name: "renamed" }]), []);
});

test("looking at what is pending changes nothing", async () => {
  const { database, start } = setUp([first]);
  assert.deepEqual(await pendingMigrations(database, layout, [first, second]), [first, second]);
  assert.equal(database.hasTable, false);
  await start();
  assert.deepEqual(await pendingMigrations(database, layout, [first, second]), [second]);
  assert.deepEqual(database.run, ["CREATE a", "CREATE b"]);
});
