import { baseTables, createTable, localTable, onCluster, quoteText, selectActivity } from "./ddl.ts";
import type { Layout } from "./ddl.ts";
import type { Sql } from "./migrations.ts";
import { readDays, utcDay } from "./partitions.ts";

export interface RebuildOptions {
  readonly sql: Sql;
  readonly layout: Layout;
  /** Runs `fn` while nothing is inserted. */
  readonly hold: <T>(fn: () => Promise<T>) => Promise<T>;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** A block that was sealed before midnight is stored by then, so that yesterday does not change any more. */
const longestInsertMs = 600_000;

/**
 * Builds service_activity again from the tables that it sums up, day by day; each day is exchanged as a whole. Days
 * whose telemetry is gone stay as they are. Inserts are held back while the running day is built; those of other nodes
 * are not, and may be missed or counted twice in that day's sums: stop the other nodes, or build again tomorrow.
 *
 * @returns the days, YYYY-MM-DD
 */
export async function rebuildRollups({
  sql,
  layout,
  hold,
  now = Date.now,
}: RebuildOptions): Promise<readonly string[]> {
  const draft = "service_activity_rebuild";
  await dropDraft(sql, layout, draft);
  for (const statement of createTable(layout, "service_activity", draft)) await sql.command(statement);
  const found = await readDays(sql, layout);
  const days = [...new Set(found.filter(({ table }) => table !== "service_activity").map(({ day }) => day))].toSorted();
  for (const day of days) {
    const build = () => rebuildDay(sql, layout, day, draft);
    if (day < utcDay(now() - longestInsertMs)) await build();
    else await hold(build);
  }
  await dropDraft(sql, layout, draft);
  return days;
}

async function rebuildDay(sql: Sql, layout: Layout, day: string, draft: string): Promise<void> {
  for (const table of baseTables) {
    const source = `(SELECT * FROM ${table} WHERE toDate(received) = toDate(${quoteText(day)}))`;
    await sql.command(`INSERT INTO ${draft} ${selectActivity(table, source)}`);
  }
  const from = layout.cluster ? `${draft}_local` : draft;
  await sql.command(
    `ALTER TABLE ${localTable(layout, "service_activity")}${onCluster(layout)} REPLACE PARTITION ${quoteText(day)} FROM ${from} ` +
      // A shard may have no share of the day's new rows, and has to give up its old ones all the same.
      "SETTINGS allow_replace_partition_from_empty_source = 1",
  );
}

async function dropDraft(sql: Sql, layout: Layout, draft: string): Promise<void> {
  const tables = layout.cluster ? [draft, `${draft}_local`] : [draft];
  for (const table of tables) await sql.command(`DROP TABLE IF EXISTS ${table}${onCluster(layout)} SYNC`);
}
