/**
 * The tables of the state store. A table's interface stands here, its DDL in a migration.
 *
 * What holds for all of them, so that both databases answer alike: times are `bigint` milliseconds since 1970, yes and
 * no are 0 and 1, JSON is `text`, ids are UUID v7 `text`. Text may not contain NUL, which PostgreSQL cannot store.
 * An order by text other than ids needs `COLLATE "C"` in PostgreSQL to be SQLite's order.
 */
import type { ColumnType } from "kysely";
import type { JobStatus } from "../core/job.ts";

export interface StateSchema {
  schema_migrations: SchemaMigrationsTable;
  jobs: JobsTable;
  schedules: SchedulesTable;
  deployments: DeploymentsTable;
}

/** A value that is never changed once it is inserted. */
type Fixed<T> = ColumnType<T, T, never>;

interface SchemaMigrationsTable {
  name: Fixed<string>;
  applied_at: Fixed<number>;
}

export interface JobsTable {
  id: Fixed<string>;
  kind: Fixed<string>;
  /** At most one job of a kind has a key. */
  key: string | null;
  /** 1: the key is free again once the job has ended; 0: only once it is pruned. */
  key_until_done: Fixed<number>;
  payload: Fixed<string>;
  /** Higher goes first. */
  priority: Fixed<number>;
  status: JobStatus;
  /** When someone may claim it: the time to run while it is queued, the end of the lease while it runs. */
  due_at: number;
  /** Attempts that were begun and not handed back. */
  attempt: number;
  max_attempts: Fixed<number>;
  /** Counts the claims. Whoever holds an older number than this has lost the job. */
  lease: number;
  cancel_requested: number;
  last_error: string | null;
  created_at: Fixed<number>;
  started_at: number | null;
  finished_at: number | null;
}

interface SchedulesTable {
  name: Fixed<string>;
  every_ms: number;
  /** The next time that a job is due. */
  next_at: number;
}

export type DeploymentStatus = "pending" | "in_progress" | "success" | "failed" | "rolled_back" | "cancelled";

export interface DeploymentsTable {
  id: Fixed<string>;
  workspace: Fixed<string>;
  service_name: Fixed<string>;
  service_version: Fixed<string>;
  environment: Fixed<string>;
  status: DeploymentStatus;
  strategy: Fixed<string>;
  start_time: Fixed<number>;
  /** When it came to the final status that it has. */
  end_time: number | null;
  deployed_by: Fixed<string | null>;
  git_commit: Fixed<string | null>;
  git_branch: Fixed<string | null>;
  previous_version: Fixed<string | null>;
  rollback_target: string | null;
  replica_count: number | null;
  /** As somebody reported it, which counts more than what telemetry shows. */
  healthy_replicas: number | null;
  /** Instances of the new version that telemetry showed last; null until it shows any. */
  seen_replicas: number | null;
  error_message: string | null;
}
