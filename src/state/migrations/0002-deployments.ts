import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

export const deployments: Migration = {
  name: "0002-deployments",
  async up(db) {
    await db.schema
      .createTable("deployments")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("workspace", "text", (column) => column.notNull())
      .addColumn("service_name", "text", (column) => column.notNull())
      .addColumn("service_version", "text", (column) => column.notNull())
      .addColumn("environment", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) =>
        column
          .notNull()
          .check(sql`status in ('pending', 'in_progress', 'success', 'failed', 'rolled_back', 'cancelled')`),
      )
      .addColumn("strategy", "text", (column) => column.notNull())
      .addColumn("start_time", "bigint", (column) => column.notNull())
      .addColumn("end_time", "bigint")
      .addColumn("deployed_by", "text")
      .addColumn("git_commit", "text")
      .addColumn("git_branch", "text")
      .addColumn("previous_version", "text")
      .addColumn("rollback_target", "text")
      .addColumn("replica_count", "integer")
      .addColumn("healthy_replicas", "integer")
      .addColumn("seen_replicas", "integer")
      .addColumn("error_message", "text")
      .execute();
    await db.schema
      .createIndex("deployments_newest")
      .on("deployments")
      .columns(["workspace", "start_time desc", "id desc"])
      .execute();
    await db.schema
      .createIndex("deployments_of_service")
      .on("deployments")
      .columns(["workspace", "service_name", "environment", "start_time desc", "id desc"])
      .execute();
    // Those that telemetry may still move on: few, however long the history.
    await db.schema
      .createIndex("deployments_open")
      .on("deployments")
      .column("id")
      .where(sql<boolean>`status in ('pending', 'in_progress')`)
      .execute();
    // The next success after a failure.
    await db.schema
      .createIndex("deployments_success")
      .on("deployments")
      .columns(["workspace", "service_name", "environment", "end_time"])
      .where(sql<boolean>`status = 'success'`)
      .execute();
  },
};
