import { localTable, quoteName, tableNames } from "./ddl.ts";
import type { Layout, TableName } from "./ddl.ts";
import type { Sql } from "./migrations.ts";

/** A day's rows of a table: one partition. */
export interface TableDay {
  readonly table: TableName;
  /** YYYY-MM-DD, UTC, by arrival. */
  readonly day: string;
}

/** The days that have rows, oldest first. */
export async function readDays(sql: Sql, layout: Layout): Promise<TableDay[]> {
  const byLocalName = new Map<string, TableName>(tableNames.map((table) => [localTable(layout, table), table]));
  const rows = await sql.rows<{ table: string; partition: string }>({
    sql: `
      SELECT DISTINCT table, partition FROM ${everywhere(layout, "parts")}
      WHERE database = {database:String} AND active ORDER BY partition, table`,
    params: { database: layout.database },
  });
  return rows.flatMap(({ table, partition }) => {
    const known = byLocalName.get(table);
    return known ? [{ table: known, day: partition }] : [];
  });
}

/** A table of `system`: the engine's own, or those of all servers of the cluster together. */
export function everywhere(layout: Layout, systemTable: "parts" | "disks"): string {
  return layout.cluster
    ? `clusterAllReplicas(${quoteName(layout.cluster)}, system.${systemTable})`
    : `system.${systemTable}`;
}

/** The UTC day of a time in Unix milliseconds, YYYY-MM-DD. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
