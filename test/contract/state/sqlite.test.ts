import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { OperatorError } from "../../../src/core/errors.ts";
import { openAt, sqliteDriver } from "./drivers.ts";
import type { TestDriver } from "./drivers.ts";

let driver: TestDriver;
before(async () => {
  driver = await sqliteDriver();
});
after(() => driver.close());

async function refuses(directory: string, says: RegExp): Promise<void> {
  await assert.rejects(openAt({ directory }), (error) => {
    assert.ok(error instanceof OperatorError, String(error));
    assert.match(error.message, says);
    assert.match(error.message, /--data DIR/);
    return true;
  });
}

test("the file and its companions are for their owner alone, also where they were not", async () => {
  const { directory } = await driver.fresh();
  await (await openAt({ directory })).close();
  chmodSync(join(directory, "state.db"), 0o644);
  const store = await openAt({ directory });
  assert.ok(readdirSync(directory).length > 1, "a write-ahead log is there");
  for (const name of readdirSync(directory)) assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
  await store.close();
});

test("a commit is synced to the disk, and references hold", async () => {
  const store = await openAt(await driver.fresh());
  const pragma = async (name: string) =>
    (await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(store.db)).rows[0]![name];
  assert.equal(await pragma("journal_mode"), "wal");
  assert.equal(await pragma("synchronous"), 2);
  assert.equal(await pragma("foreign_keys"), 1);
  await store.close();
});

test("a file that is no database is refused, and left as it is", async () => {
  const { directory } = await driver.fresh();
  const path = join(directory, "state.db");
  writeFileSync(path, "this is not a database, whatever its name says. ".repeat(100));
  await refuses(directory, /damaged; restore it from a backup/);
  assert.equal(statSync(path).size, 4800);
});

test("a database whose pages were overwritten is refused", async () => {
  const { directory } = await driver.fresh();
  const path = join(directory, "state.db");
  await (await openAt({ directory })).close();
  const bytes = readFileSync(path);
  // The first page, with the schema, stays whole.
  writeFileSync(path, bytes.fill(0xee, 4096));
  await refuses(directory, /damaged; restore it from a backup/);
});

test("a place where no file can be made is refused", async () => {
  const { directory } = await driver.fresh();
  await refuses(join(directory, "missing"), /ENOENT/);
  mkdirSync(join(directory, "state.db"));
  await refuses(directory, /EISDIR/);
});

test("a file that another process has taken for itself is refused", async () => {
  const { directory } = await driver.fresh();
  await (await openAt({ directory })).close();
  const other = new DatabaseSync(join(directory, "state.db"));
  other.exec("pragma locking_mode = exclusive; begin exclusive");
  await refuses(directory, /another process holds it/);
  other.close();
  await (await openAt({ directory })).close();
});

test("a write waits for another process's transaction to end, and the event loop goes on meanwhile", async () => {
  const { directory } = await driver.fresh();
  const store = await openAt({ directory });
  const other = new DatabaseSync(join(directory, "state.db"));
  other.exec("begin immediate");
  const write = store.db.insertInto("schedules").values({ name: "a", every_ms: 1, next_at: 0 }).execute();
  await new Promise((resolve) => setTimeout(resolve, 20));
  other.exec("commit");
  await write;
  assert.equal(other.prepare("select count(*) as n from schedules").get()?.n, 1);
  other.close();
  await store.close();
});

test("a full disk makes the store away until a write succeeds", async () => {
  const store = await openAt(await driver.fresh());
  const big = { name: "x".repeat(300_000), every_ms: 1, next_at: 0 };
  const { page_count } = (await sql<{ page_count: number }>`pragma page_count`.execute(store.db)).rows[0]!;
  await sql.raw(`pragma max_page_count = ${page_count}`).execute(store.db);
  await assert.rejects(store.db.insertInto("schedules").values(big).execute(), /its disk is full/);
  assert.deepEqual(store.state(), { status: "away", detail: "The state database cannot be used: its disk is full." });
  await sql.raw("pragma max_page_count = 100000").execute(store.db);
  await store.db.insertInto("schedules").values(big).execute();
  assert.deepEqual(store.state(), { status: "ready" });
  await store.close();
});
