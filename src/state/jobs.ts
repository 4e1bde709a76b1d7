import { sql } from "kysely";
import type { Selectable } from "kysely";
import { v7 } from "uuid";
import { StoreUnavailable } from "../core/errors.ts";
import type { JobKind, JobStatus } from "../core/job.ts";
import type { JobsTable } from "./schema.ts";
import { databaseNow } from "./store.ts";
import type { StateStore, StateTransaction } from "./store.ts";

/** The part of the state store that jobs need. */
export type JobStore = Pick<StateStore, "db" | "driver">;

export interface EnqueueOptions {
  /** The job is there if and only if this transaction commits. */
  readonly transaction?: StateTransaction;
  /** Not before this time, in milliseconds since 1970. */
  readonly runAt?: number;
  /** Where a job of this kind with this key is there already, that one is returned and none is made. */
  readonly key?: string;
  /** How long `key` stands: until the job has ended, or (the default) until it is pruned, days after. */
  readonly keyHolds?: "until_done" | "until_pruned";
  /** A whole number; higher goes first. Default 0. */
  readonly priority?: number;
  /** Attempts before the job has failed; default 5. */
  readonly maxAttempts?: number;
}

/** A job as it is stored. Times are milliseconds since 1970. */
interface JobRecord {
  readonly id: string;
  readonly kind: string;
  readonly key: string | null;
  readonly payload: unknown;
  readonly priority: number;
  readonly status: JobStatus;
  /** When it is to run where it is queued, else when the lease of who runs it ends, or ended. */
  readonly dueAt: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Someone has asked to cancel it, and whoever runs it has not answered yet. */
  readonly cancelRequested: boolean;
  readonly lastError: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

export interface JobQueue {
  readonly store: JobStore;
  /** Stores a job; once this has resolved (and the transaction, where there is one, has committed) it is not lost. */
  enqueue<P>(kind: JobKind<P>, payload: P, options?: EnqueueOptions): Promise<{ id: string; created: boolean }>;
  read(id: string): Promise<JobRecord | undefined>;
  /**
   * A queued job is cancelled at once. One that runs is told at its worker's next heartbeat, and becomes `cancelled`
   * unless it completes first. Resolves to the status after the call, undefined where there is no such job.
   */
  cancel(id: string): Promise<JobStatus | undefined>;
  /** Deletes jobs that ended over 7 days ago, failed ones over 30 days ago. Resolves to how many. */
  prune(): Promise<number>;
  /** Calls `listener` after this process enqueued or cancelled a job. Returns what ends that. */
  subscribe(listener: (change: "enqueued" | "cancelled") => void): () => void;
}

const day = 86_400_000;
const keptFor = { ended: 7 * day, failed: 30 * day } as const;
/** Rows a DELETE: enough to be quick, few enough that SQLite's one writer is soon free for others. */
const pruneBatch = 1000;

/** The durable queue's side for those who have work. Workers: `startWorker`. */
export function createJobQueue(store: JobStore): JobQueue {
  const { db, driver } = store;
  const listeners = new Set<(change: "enqueued" | "cancelled") => void>();
  const tell = (change: "enqueued" | "cancelled") => {
    for (const listener of listeners) listener(change);
  };

  return {
    store,

    async enqueue(kind, payload, options = {}) {
      const result = await insertJob(store, kind.name, payload, options);
      // Told before the transaction commits, where there is one: a woken worker looks again and again for a while.
      if (result.created) tell("enqueued");
      return result;
    },

    async read(id) {
      const row = await db.selectFrom("jobs").selectAll().where("id", "=", id).executeTakeFirst();
      return row && recordOf(row);
    },

    async cancel(id) {
      const now = databaseNow(driver);
      const row = await db
        .updateTable("jobs")
        .set({
          cancel_requested: 1,
          status: sql<JobStatus>`case when status = 'queued' then 'cancelled' else status end`,
          finished_at: sql<number | null>`case when status = 'queued' then ${now} end`,
          key: sql<string | null>`case when status = 'queued' and key_until_done = 1 then null else key end`,
        })
        .where("id", "=", id)
        .where("finished_at", "is", null)
        .returning("status")
        .executeTakeFirst();
      if (row !== undefined) {
        if (row.status === "running") tell("cancelled");
        return row.status;
      }
      return (await db.selectFrom("jobs").select("status").where("id", "=", id).executeTakeFirst())?.status;
    },

    async prune() {
      let total = 0;
      for (let deleted = pruneBatch; deleted === pruneBatch; total += deleted) {
        const before = (age: number) => sql<number>`${databaseNow(driver)} - ${sql.lit(age)}`;
        const old = db
          .selectFrom("jobs")
          .select("id")
          .where("finished_at", "<", before(keptFor.ended))
          .where((eb) => eb.or([eb("status", "!=", "failed"), eb("finished_at", "<", before(keptFor.failed))]))
          .limit(pruneBatch);
        const { numDeletedRows } = await db.deleteFrom("jobs").where("id", "in", old).executeTakeFirstOrThrow();
        deleted = Number(numDeletedRows);
      }
      return total;
    },

    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Inserts a job, or finds the one that holds its key. */
export async function insertJob(
  store: JobStore,
  kind: string,
  payload: unknown,
  options: EnqueueOptions,
): Promise<{ id: string; created: boolean }> {
  const db = options.transaction ?? store.db;
  const now = databaseNow(store.driver);
  const key = options.key ?? null;
  // The holder of a key may end, and so free it, between the two statements: then there is room for a new one.
  for (let round = 0; round < 10; round++) {
    const created = await db
      .insertInto("jobs")
      .values({
        id: v7(),
        kind,
        key,
        key_until_done: options.keyHolds === "until_done" ? 1 : 0,
        payload: JSON.stringify(payload ?? null),
        priority: options.priority ?? 0,
        status: "queued",
        due_at: options.runAt === undefined ? now : Math.round(options.runAt),
        attempt: 0,
        max_attempts: Math.max(1, options.maxAttempts ?? 5),
        lease: 0,
        cancel_requested: 0,
        created_at: now,
      })
      .onConflict((conflict) => conflict.columns(["kind", "key"]).where("key", "is not", null).doNothing())
      .returning("id")
      .executeTakeFirst();
    if (created !== undefined) return { id: created.id, created: true };
    const holder = await db
      .selectFrom("jobs")
      .select("id")
      .where("kind", "=", kind)
      .where("key", "=", key)
      .executeTakeFirst();
    if (holder !== undefined) return { id: holder.id, created: false };
  }
  throw new StoreUnavailable(`The key of a job of the kind ${kind} changes hands too quickly.`);
}

function recordOf(row: Selectable<JobsTable>): JobRecord {
  return {
    id: row.id,
    kind: row.kind,
    key: row.key,
    payload: JSON.parse(row.payload) as unknown,
    priority: row.priority,
    status: row.status,
    dueAt: row.due_at,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    cancelRequested: row.cancel_requested === 1 && row.finished_at === null,
    lastError: row.last_error,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}
