import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { OperatorError } from "../../../src/core/errors.ts";
import { migrate } from "../../../src/state/migrate.ts";
import type { Migration } from "../../../src/state/migrate.ts";
import { migrations } from "../../../src/state/migrations/all.ts";
import { isUniqueViolation } from "../../../src/state/store.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { run } from "./child.ts";
import { openAt } from "./drivers.ts";
import type { TestDriver } from "./drivers.ts";

/** What every home of the state store must hold. */
export function storeSuite(driver: () => TestDriver): void {
  async function withStore(work: (store: StateStore) => Promise<void>): Promise<void> {
    const store = await openAt(await driver().fresh());
    try {
      await work(store);
    } finally {
      await store.close();
    }
  }

  const schedule = (name: string, next_at = 0) => ({ name, every_ms: 1, next_at });

  test("a store is ready, and what is written is there after it was closed and opened again", async () => {
    const place = await driver().fresh();
    const first = await openAt(place);
    assert.equal(first.driver, driver().name);
    assert.deepEqual(first.state(), { status: "ready" });
    await first.db.insertInto("schedules").values(schedule("kept")).execute();
    await first.close();
    const second = await openAt(place);
    assert.deepEqual(await second.db.selectFrom("schedules").selectAll().execute(), [schedule("kept")]);
    await second.close();
  });

  test("64-bit integers are numbers where those are exact, and bigints where not", () =>
    withStore(async ({ db }) => {
      const values = await sql<Record<string, unknown>>`
        select cast(9007199254740991 as bigint) as safe, cast(-9007199254740993 as bigint) as large, count(*) as count,
          sum(n) as sum from (select cast(9007199254740993 as bigint) as n) as numbers`.execute(db);
      assert.deepEqual(values.rows[0], {
        safe: 9007199254740991,
        large: -9007199254740993n,
        count: 1,
        sum: 9007199254740993n,
      });
    }));

  test("a transaction that throws leaves nothing behind, and the next one works", () =>
    withStore(async ({ db }) => {
      await assert.rejects(
        db.transaction().execute(async (trx) => {
          await trx.insertInto("schedules").values(schedule("undone")).execute();
          throw new Error("no");
        }),
        /^Error: no$/,
      );
      await db.transaction().execute((trx) => trx.insertInto("schedules").values(schedule("done")).execute());
      assert.deepEqual(await db.selectFrom("schedules").select("name").execute(), [{ name: "done" }]);
    }));

  test("a broken key is told from other errors, and ends its transaction alone", () =>
    withStore(async ({ db }) => {
      await db.insertInto("schedules").values(schedule("one")).execute();
      const again = db.transaction().execute((trx) => trx.insertInto("schedules").values(schedule("one")).execute());
      await assert.rejects(again, isUniqueViolation);
      await assert.rejects(sql`select nothing from nowhere`.execute(db), (error) => !isUniqueViolation(error));
      assert.equal((await db.selectFrom("schedules").select("name").execute()).length, 1);
    }));

  test("transactions that read and then write lose no update, and nobody is told that the database is busy", () =>
    withStore(async ({ db }) => {
      await db.insertInto("schedules").values(schedule("counter")).execute();
      const add = () =>
        db.transaction().execute(async (trx) => {
          const locked = trx.selectFrom("schedules").select("next_at").where("name", "=", "counter");
          const row = await (driver().name === "postgres" ? locked.forUpdate() : locked).executeTakeFirstOrThrow();
          await new Promise(setImmediate);
          await trx
            .updateTable("schedules")
            .set({ next_at: row.next_at + 1 })
            .where("name", "=", "counter")
            .execute();
        });
      await Promise.all(Array.from({ length: 40 }, add));
      assert.equal((await db.selectFrom("schedules").select("next_at").executeTakeFirstOrThrow()).next_at, 40);
    }));

  test("statements from outside never come between those of a transaction", () =>
    withStore(async ({ db }) => {
      const { promise: outside, resolve: reachOut } = Promise.withResolvers<void>();
      const reader = outside.then(() => db.selectFrom("schedules").select("name").execute());
      await db.transaction().execute(async (trx) => {
        await trx.insertInto("schedules").values(schedule("first")).execute();
        reachOut();
        await new Promise(setImmediate);
        await trx.deleteFrom("schedules").execute();
      });
      assert.deepEqual(await reader, [], "the uncommitted row was never seen");
    }));

  test("a lock is held by one at a time, in all stores of a database, and freed by a throw", async () => {
    const place = await driver().fresh();
    const one = await openAt(place);
    // In SQLite's home another process has no business, so there the other node is the same one.
    const two = driver().name === "postgres" ? await openAt(place) : one;
    let inside = 0;
    let most = 0;
    const visit = (store: StateStore) =>
      store.withLock("visit", async (lost) => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 1));
        inside--;
        assert.equal(lost.aborted, false);
        throw new Error("out");
      });
    const visits = await Promise.allSettled(Array.from({ length: 12 }, (_, i) => visit(i % 2 === 0 ? one : two)));
    assert.ok(visits.every((visited) => visited.status === "rejected" && /out/.test(String(visited.reason))));
    assert.equal(most, 1);
    assert.equal(await one.withLock("a", () => one.withLock("b", async () => "both")), "both");
    await Promise.all([...new Set([one, two])].map((store) => store.close()));
  });

  test("four processes that start together migrate once", async () => {
    const place = await driver().fresh();
    const children = await Promise.all(Array.from({ length: 4 }, () => run("open", place)));
    assert.deepEqual(
      children.map(({ code }) => code),
      [0, 0, 0, 0],
      children.map(({ output }) => output).join("\n"),
    );
    const store = await openAt(place);
    const rows = await store.db.selectFrom("schema_migrations").select("name").orderBy("name").execute();
    assert.deepEqual(
      rows.map(({ name }) => name),
      migrations.map(({ name }) => name),
    );
    await store.close();
  });

  test("migrations run in order, once, however many callers there are", () =>
    withStore(async ({ db }) => {
      const ran: string[] = [];
      const make = (name: string): Migration => ({
        name,
        async up(trx) {
          ran.push(name);
          await trx.schema
            .createTable(`table_${name.slice(5)}`)
            .addColumn("id", "text")
            .execute();
        },
      });
      const next = [...migrations, make("9001-first"), make("9002-second")];
      const results = await Promise.all(Array.from({ length: 5 }, () => migrate(db, driver().name, next)));
      assert.deepEqual(ran, ["9001-first", "9002-second"]);
      assert.deepEqual(results.flat(), ran);
    }));

  test("of migrations of which one fails, none has happened", () =>
    withStore(async ({ db }) => {
      const good: Migration = {
        name: "9001-good",
        up: (trx) => trx.schema.createTable("half").addColumn("id", "text").execute(),
      };
      const bad: Migration = { name: "9002-bad", up: () => Promise.reject(new Error("bad")) };
      await assert.rejects(migrate(db, driver().name, [...migrations, good, bad]), /^Error: bad$/);
      assert.deepEqual(await migrate(db, driver().name, [...migrations, good]), ["9001-good"]);
    }));

  test("a database of a newer version is refused with a sentence, and left as it is", async () => {
    const place = await driver().fresh();
    const store = await openAt(place);
    await store.db.insertInto("schema_migrations").values({ name: "9999-from-tomorrow", applied_at: 1 }).execute();
    await store.close();
    await assert.rejects(openAt(place), (error) => {
      assert.ok(error instanceof OperatorError);
      assert.match(error.message, /newer Vigil.*9999-from-tomorrow.*Start that version/);
      return true;
    });
  });
}
