import { createTable, localTable, onCluster, quoteText, rollupNames, rollups, selectRollup } from "./ddl.ts";
import type { Layout, Rollup } from "./ddl.ts";
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
 * Builds the rollups again from the tables that they sum up, day by day; each day is exchanged as a whole. Days whose
 * telemetry is gone stay as they are. Inserts are held back while the running day is built; those of other nodes are
 * not, and may be missed or counted twice in that day's sums: stop the other nodes, or build again tomorrow.
 *
 * @returns the days, YYYY-MM-DD
 */
export async function rebuildRollups({
  sql,
  layout,
  hold,
  now = Date.now,
}: RebuildOptions): Promise<readonly string[]> {
  for (const rollup of rollupNames) {
    await dropDraft(sql, layout, rollup);
    for (const statement of createTable(layout, rollup, draftOf(rollup))) await sql.command(statement);
  }
  const found = await readDays(sql, layout);
  const days = [
    ...new Set(found.filter(({ table }) => !Object.hasOwn(rollups, table)).map(({ day }) => day)),
  ].toSorted();
  for (const day of days) {
    const build = async () => {
      for (const rollup of rollupNames) await rebuildDay(sql, layout, day, rollup);
    };
    if (day < utcDay(now() - longestInsertMs)) await build();
    else await hold(build);
  }
  for (const rollup of rollupNames) await dropDraft(sql, layout, rollup);
  return days;
}

async function rebuildDay(sql: Sql, layout: Layout, day: string, rollup: Rollup): Promise<void> {
  const draft = draftOf(rollup);
  for (const table of rollups[rollup]) {
    const source = `(SELECT * FROM ${table} WHERE toDate(received) = toDate(${quoteText(day)}))`;
    await sql.command(`INSERT INTO ${draft} ${selectRollup(rollup, table, source)}`);
  }
  const from = layout.cluster ? `${draft}_local` : draft;
  await sql.command(
    `ALTER TABLE ${localTable(layout, rollup)}${onCluster(layout)} REPLACE PARTITION ${quoteText(day)} FROM ${from} ` +
      // A shard may have no share of the day's new rows, and has to give up its old ones all the same.
      "SETTINGS allow_replace_partition_from_empty_source = 1",
  );
}

function draftOf(rollup: Rollup): string {
  return `${rollup}_rebuild`;
}

async function dropDraft(sql: Sql, layout: Layout, rollup: Rollup): Promise<void> {
  const draft = draftOf(rollup);
  const tables = layout.cluster ? [draft, `${draft}_local`] : [draft];
  for (const table of tables) await sql.command(`DROP TABLE IF EXISTS ${table}${onCluster(layout)} SYNC`);
}
