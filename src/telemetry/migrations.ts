import { createHash } from "node:crypto";
import { OperatorError, StoreUnavailable } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Query } from "./contract.ts";
import { createMigrationTable, createRollupViews, createTable, quoteName, rollupNames, tableNames } from "./ddl.ts";
import type { Layout } from "./ddl.ts";

/** What is needed of a connection to the engine whose current database is Vigil's. */
export interface Sql {
  rows<T>(query: Query): Promise<T[]>;
  command(sql: string, params?: Query["params"]): Promise<void>;
}

/** Runs `fn` while no other node of the same store runs one. */
export type Lock = <T>(fn: () => Promise<T>) => Promise<T>;

/**
 * One step of the schema. Each statement must do nothing when it is run again (`IF NOT EXISTS` and the like), since
 * a crash leaves a step half done and unrecorded. What was released is never edited: add a step.
 */
export interface Migration {
  readonly id: number;
  readonly name: string;
  statements(layout: Layout): readonly string[];
}

export const telemetryMigrations: readonly Migration[] = [
  {
    id: 1,
    name: "telemetry tables and rollups",
    statements: (layout) => [
      ...tableNames.flatMap((table) => createTable(layout, table)),
      ...rollupNames.flatMap((rollup) => createRollupViews(layout, rollup)),
    ],
  },
];

/**
 * Brings the schema up to what this code knows, once, however many nodes start together.
 *
 * @returns what was applied now
 * @throws OperatorError where the database is newer than the code, was changed under it, or refuses a statement
 * @throws StoreUnavailable
 */
export async function migrate(
  sql: Sql,
  layout: Layout,
  { lock, log, migrations = telemetryMigrations }: { lock: Lock; log: Log; migrations?: readonly Migration[] },
): Promise<readonly Migration[]> {
  return lock(async () => {
    await run(sql, createMigrationTable(layout), "the record of migrations");
    // Another server of the cluster may have recorded a step that this one has not fetched yet.
    if (layout.cluster) await run(sql, "SYSTEM SYNC REPLICA vigil_migrations", "the record of migrations");
    const pending = await pendingMigrations(sql, layout, migrations);
    for (const migration of pending) {
      const { id, name } = migration;
      for (const statement of migration.statements(layout)) await run(sql, statement, `step ${id} (${name})`);
      await sql.command(
        "INSERT INTO vigil_migrations (id, name, checksum, applied_at) SELECT {id:UInt32}, {name:String}, {checksum:String}, now64(3)",
        { id, name, checksum: checksum(migration, layout) },
      );
      log.info({ migration: id, name }, "telemetry schema migrated");
    }
    return pending;
  });
}

/**
 * The steps that a start would apply. Reads only, whatever the connection's current database.
 *
 * @throws OperatorError, StoreUnavailable as `migrate`
 */
export async function pendingMigrations(
  sql: Sql,
  layout: Layout,
  migrations: readonly Migration[] = telemetryMigrations,
): Promise<readonly Migration[]> {
  const tables = await sql.rows({
    sql: "SELECT 1 FROM system.tables WHERE database = {database:String} AND name = 'vigil_migrations'",
    params: { database: layout.database },
  });
  if (tables.length === 0) return migrations;
  // Grouped, since a step may have been recorded twice by two servers that lost sight of each other.
  const applied = await sql.rows<{ id: number; checksum: string }>({
    sql: `SELECT id, any(checksum) AS checksum FROM ${quoteName(layout.database)}.vigil_migrations GROUP BY id ORDER BY id`,
  });
  const known = new Map(migrations.map((m) => [m.id, m]));
  for (const { id, checksum: recorded } of applied) {
    const migration = known.get(id);
    if (!migration) {
      throw new OperatorError(
        `The telemetry database "${layout.database}" was made by a newer Vigil (it has schema step ${id}, this one knows ` +
          `${migrations.at(-1)?.id ?? 0}). Start the newer version, or restore a backup from before the upgrade.`,
      );
    }
    if (checksum(migration, layout) !== recorded) {
      throw new OperatorError(
        `Schema step ${id} (${migration.name}) of the telemetry database "${layout.database}" differs from what this ` +
          "Vigil would have made. Either stores.clickhouse.cluster was changed, which needs a new database, or this is " +
          "not a released version.",
      );
    }
  }
  const done = new Set(applied.map((row) => row.id));
  return migrations.filter((m) => !done.has(m.id));
}

function checksum(migration: Migration, layout: Layout): string {
  return createHash("sha256").update(migration.statements(layout).join(";\n")).digest("hex");
}

async function run(sql: Sql, statement: string, what: string): Promise<void> {
  try {
    await sql.command(statement);
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof OperatorError) throw error;
    throw new OperatorError(`ClickHouse refused ${what} of the telemetry schema: ${(error as Error).message}`);
  }
}
