import { sql } from "kysely";
import type { JobKind, ScheduleTick } from "../core/job.ts";
import { insertJob } from "./jobs.ts";
import type { JobStore } from "./jobs.ts";
import { databaseNow } from "./store.ts";

/** Work to be done again and again, by one of all nodes each time. */
export interface Schedule {
  /** Unique, and the same in every node. */
  readonly name: string;
  readonly kind: JobKind<ScheduleTick>;
  readonly everyMs: number;
}

/** Makes the schedules known, due at once where they are new; a changed interval holds from now on. */
export async function declareSchedules(store: JobStore, schedules: readonly Schedule[]): Promise<void> {
  const now = databaseNow(store.driver);
  for (const { name, everyMs } of schedules) {
    const every = Math.max(1, Math.round(everyMs));
    await store.db
      .insertInto("schedules")
      .values({ name, every_ms: every, next_at: now })
      .onConflict((conflict) =>
        conflict
          .column("name")
          .doUpdateSet({
            every_ms: every,
            next_at: sql<number>`case when schedules.next_at > ${now} + ${sql.lit(every)} then ${now} + ${sql.lit(every)} else schedules.next_at end`,
          })
          .where("schedules.every_ms", "!=", every),
      )
      .execute();
  }
}

/**
 * Enqueues a job for each schedule that is due. One that was due several times, because nobody was there or its last
 * job has not ended yet, gets one job for all of them. Resolves to how many jobs this call made.
 */
export async function tickSchedules(store: JobStore, schedules: readonly Schedule[]): Promise<number> {
  const { db, driver } = store;
  let made = 0;
  for (const { name, kind } of schedules) {
    const due = await db
      .selectFrom("schedules")
      .select("name")
      .where("name", "=", name)
      .where("next_at", "<=", databaseNow(driver))
      .executeTakeFirst();
    if (due === undefined) continue;
    made += await db.transaction().execute(async (transaction) => {
      // The row's lock makes one of many nodes decide; the others find it no longer due.
      const row = await transaction
        .selectFrom("schedules")
        .select(["every_ms", "next_at", databaseNow(driver).as("now")])
        .where("name", "=", name)
        .$if(driver === "postgres", (query) => query.forUpdate())
        .executeTakeFirst();
      if (row === undefined || row.next_at > row.now) return 0;
      const missed = Math.floor((row.now - row.next_at) / row.every_ms);
      const at = row.next_at + missed * row.every_ms;
      const tick: ScheduleTick = { schedule: name, at, missed };
      const key = `schedule:${name}`;
      const { created } = await insertJob(store, kind.name, tick, { transaction, key, keyHolds: "until_done" });
      // The last job still runs: the schedule stays due, and is made up for as soon as that has ended.
      if (!created) return 0;
      const next_at = at + row.every_ms;
      await transaction.updateTable("schedules").set({ next_at }).where("name", "=", name).execute();
      return 1;
    });
  }
  return made;
}
