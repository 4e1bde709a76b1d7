import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

export const jobs: Migration = {
  name: "0001-jobs",
  async up(db) {
    await db.schema
      .createTable("jobs")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("key", "text")
      .addColumn("key_until_done", "integer", (column) => column.notNull())
      .addColumn("payload", "text", (column) => column.notNull())
      .addColumn("priority", "integer", (column) => column.notNull())
      .addColumn("status", "text", (column) =>
        column.notNull().check(sql`status in ('queued', 'running', 'completed', 'failed', 'cancelled')`),
      )
      .addColumn("due_at", "bigint", (column) => column.notNull())
      .addColumn("attempt", "integer", (column) => column.notNull())
      .addColumn("max_attempts", "integer", (column) => column.notNull())
      .addColumn("lease", "integer", (column) => column.notNull())
      .addColumn("cancel_requested", "integer", (column) => column.notNull())
      .addColumn("last_error", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("started_at", "bigint")
      .addColumn("finished_at", "bigint")
      .execute();
    await db.schema
      .createIndex("jobs_key")
      .unique()
      .on("jobs")
      .columns(["kind", "key"])
      .where(sql.ref("key"), "is not", null)
      .execute();
    // The order in which jobs are claimed, over those alone that have not ended, so that a long history costs nothing.
    // The kind is in it so that jobs of kinds that nobody asked for are passed over without reading their rows.
    await db.schema
      .createIndex("jobs_claim")
      .on("jobs")
      .columns(["priority desc", "due_at", "id", "kind"])
      .where(sql.ref("finished_at"), "is", null)
      .execute();
    await db.schema
      .createIndex("jobs_finished")
      .on("jobs")
      .column("finished_at")
      .where(sql.ref("finished_at"), "is not", null)
      .execute();
    await db.schema
      .createTable("schedules")
      .addColumn("name", "text", (column) => column.primaryKey().notNull())
      .addColumn("every_ms", "bigint", (column) => column.notNull())
      .addColumn("next_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
