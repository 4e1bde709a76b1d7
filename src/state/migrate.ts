import { sql } from "kysely";
import type { Kysely } from "kysely";
import { OperatorError } from "../core/errors.ts";
import type { StateSchema } from "./schema.ts";
import type { StateDriver } from "./store.ts";

/** A step forward of the schema. There is no way back but a backup. */
export interface Migration {
  /** `NNNN-words`, counted without a gap. */
  readonly name: string;
  /** Runs in the one transaction of all that is pending; the same statements on both databases wherever they can be. */
  up(db: Kysely<unknown>, driver: StateDriver): Promise<void>;
}

/** Any fixed number does: it only has to be the same in every node, and nobody else's. */
const advisoryLock = 7_369_166_001;

/**
 * Brings the database to the schema of `migrations`, in one transaction that other nodes wait for, so that each
 * migration runs once however many nodes start together, and either all of them happened or none.
 *
 * @returns the names of those that ran
 * @throws OperatorError where the database has migrations that this version does not know
 */
export async function migrate(
  db: Kysely<StateSchema>,
  driver: StateDriver,
  migrations: readonly Migration[],
): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    // SQLite's transaction is an immediate one and so a lock already.
    if (driver === "postgres") await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(trx);
    await trx.schema
      .createTable("schema_migrations")
      .ifNotExists()
      .addColumn("name", "text", (column) => column.primaryKey().notNull())
      .addColumn("applied_at", "bigint", (column) => column.notNull())
      .execute();
    const rows = await trx.selectFrom("schema_migrations").select("name").execute();
    const applied = new Set(rows.map((row) => row.name));
    const unknown = [...applied].filter((name) => !migrations.some((migration) => migration.name === name)).toSorted();
    if (unknown.length > 0) {
      throw new OperatorError(
        `The state database was made by a newer Vigil (it has ${unknown.at(-1)}, which this version does not know). Start that version or a newer one, or restore a backup from before the upgrade.`,
      );
    }
    const pending = migrations.filter((migration) => !applied.has(migration.name));
    for (const { name, up } of pending) {
      await up(trx as unknown as Kysely<unknown>, driver);
      await trx.insertInto("schema_migrations").values({ name, applied_at: Date.now() }).execute();
    }
    return pending.map((migration) => migration.name);
  });
}
