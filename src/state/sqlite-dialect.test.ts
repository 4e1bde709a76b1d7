import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Kysely, sql } from "kysely";
import { StoreUnavailable } from "../core/errors.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";

function open(patience: number) {
  const database = new DatabaseSync(":memory:");
  const options = { translate: (error: unknown) => error, onWritten() {}, patience };
  return new Kysely<{ t: { a: number } }>({ dialect: sqliteDialect(database, options) });
}

test("a query beside its own transaction is told so in the end, and the connection is free again", async () => {
  const db = open(10);
  await sql`create table t (a integer)`.execute(db);
  const stuck = db.transaction().execute(() => db.selectFrom("t").selectAll().execute());
  await assert.rejects(stuck, (error) => error instanceof StoreUnavailable && /own handle/.test(error.message));
  assert.deepEqual(await db.selectFrom("t").selectAll().execute(), []);
  await db.destroy();
});

test("statements say how many rows they changed, or give the rows that they return", async () => {
  const db = open(1000);
  await sql`create table t (a integer)`.execute(db);
  const returned = await db
    .insertInto("t")
    .values([{ a: 1 }, { a: 2 }])
    .returningAll()
    .execute();
  assert.deepEqual(returned, [{ a: 1 }, { a: 2 }]);
  const { numUpdatedRows } = await db.updateTable("t").set({ a: 3 }).executeTakeFirstOrThrow();
  assert.equal(numUpdatedRows, 2n);
  await db.destroy();
});
