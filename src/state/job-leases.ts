import { sql } from "kysely";
import type { RawBuilder } from "kysely";
import type { JobStatus } from "../core/job.ts";
import type { JobStore } from "./jobs.ts";
import { databaseNow } from "./store.ts";

/** Proof of a claim: nobody else's answer about the job counts while this is its last lease. */
export interface Lease {
  readonly id: string;
  readonly lease: number;
}

export interface ClaimedJob extends Lease {
  readonly kind: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export interface Claims {
  readonly claimed: ClaimedJob[];
  /** Jobs whose worker never answered and that are at their end for it: out of attempts, or asked to be cancelled. */
  readonly buried: (Lease & { readonly kind: string; readonly status: JobStatus })[];
}

/** What `last_error` says of a job whose workers died of it. */
const neverAnswered = "The last attempt never answered: its process died, or it was away for longer than its lease.";
/** Characters of an error that are kept. */
const errorLength = 4000;

/**
 * Takes up to `limit` jobs that are due, or whose lease ran out: higher priority first, then by due time. Each goes to
 * one caller alone, however many ask at once, and is theirs for `leaseMs`.
 */
export async function claimJobs(
  store: JobStore,
  options: { readonly kinds: readonly string[]; readonly limit: number; readonly leaseMs: number },
): Promise<Claims> {
  const now = databaseNow(store.driver);
  const cancelled = sql`cancel_requested = 1`;
  const spent = sql`attempt >= max_attempts`;
  const over = sql`(${cancelled} or ${spent})`;
  const due = store.db
    .selectFrom("jobs")
    .select("id")
    .where("finished_at", "is", null)
    .where("due_at", "<=", now)
    .where("kind", "in", options.kinds)
    .orderBy("priority", "desc")
    .orderBy("due_at")
    .orderBy("id")
    .limit(options.limit)
    .$if(store.driver === "postgres", (query) => query.forUpdate().skipLocked());
  const rows = await store.db
    // A common table expression is run once; as a subquery PostgreSQL may run it again and lock more than the limit.
    .with("due", () => due)
    .updateTable("jobs")
    .set({
      status: sql<JobStatus>`case when ${cancelled} then 'cancelled' when ${spent} then 'failed' else 'running' end`,
      lease: sql<number>`lease + 1`,
      attempt: sql<number>`case when ${over} then attempt else attempt + 1 end`,
      due_at: sql<number>`case when ${over} then due_at else ${now} + ${sql.lit(Math.round(options.leaseMs))} end`,
      started_at: sql<number>`case when ${over} then started_at else coalesce(started_at, ${now}) end`,
      finished_at: sql<number | null>`case when ${over} then ${now} end`,
      last_error: sql<string | null>`case when ${over} then ${sql.lit(neverAnswered)} else last_error end`,
      key: sql<string | null>`case when ${over} and key_until_done = 1 then null else key end`,
    })
    .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
    .returning(["id", "kind", "payload", "status", "lease", "attempt", "max_attempts", "created_at", "priority"])
    .execute();
  // The rows of an UPDATE come in no particular order. Ids count upwards in time, as due times do but for retries.
  rows.sort((a, b) => b.priority - a.priority || (a.id < b.id ? -1 : 1));
  const claims: Claims = { claimed: [], buried: [] };
  for (const { id, kind, lease, status, payload, attempt, max_attempts, created_at } of rows) {
    if (status !== "running") claims.buried.push({ id, kind, lease, status });
    else {
      const parsed = JSON.parse(payload) as unknown;
      claims.claimed.push({
        id,
        kind,
        lease,
        payload: parsed,
        attempt,
        maxAttempts: max_attempts,
        createdAt: created_at,
      });
    }
  }
  return claims;
}

/** Makes each lease end `leaseMs` from now. Resolves to those that are still held; whoever misses one has lost it. */
export async function extendLeases(
  store: JobStore,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<(Lease & { readonly cancelRequested: boolean })[]> {
  if (leases.length === 0) return [];
  const rows = await store.db
    .updateTable("jobs")
    .set({ due_at: sql<number>`${databaseNow(store.driver)} + ${sql.lit(Math.round(leaseMs))}` })
    .where("status", "=", "running")
    .where(isHeld(leases))
    .returning(["id", "lease", "cancel_requested"])
    .execute();
  return rows.map(({ id, lease, cancel_requested }) => ({ id, lease, cancelRequested: cancel_requested === 1 }));
}

/** The job is done, also where someone has asked to cancel it meanwhile. False: it was no longer the caller's. */
export async function completeJob(store: JobStore, lease: Lease): Promise<boolean> {
  const rows = await store.db
    .updateTable("jobs")
    .set({ status: "completed", finished_at: databaseNow(store.driver), key: keyAfterEnd })
    .where("status", "=", "running")
    .where(isHeld([lease]))
    .returning("id")
    .execute();
  return rows.length > 0;
}

/**
 * An attempt failed: the job waits for the next one, which starts `retryInMs` from now, or has `failed` where that is
 * undefined or no attempt is left, or is cancelled where someone asked for it.
 *
 * @returns the status after it, undefined where the job was no longer the caller's
 */
export async function failJob(
  store: JobStore,
  lease: Lease,
  error: string,
  retryInMs: number | undefined,
): Promise<JobStatus | undefined> {
  const now = databaseNow(store.driver);
  const over = retryInMs === undefined ? sql`1 = 1` : sql`(cancel_requested = 1 or attempt >= max_attempts)`;
  const row = await store.db
    .updateTable("jobs")
    .set({
      status: sql<JobStatus>`case when cancel_requested = 1 then 'cancelled' when ${over} then 'failed' else 'queued' end`,
      due_at: sql<number>`case when ${over} then due_at else ${now} + ${sql.lit(Math.round(retryInMs ?? 0))} end`,
      finished_at: sql<number | null>`case when ${over} then ${now} end`,
      last_error: storable(error),
      key: sql<string | null>`case when ${over} and key_until_done = 1 then null else key end`,
    })
    .where("status", "=", "running")
    .where(isHeld([lease]))
    .returning("status")
    .executeTakeFirst();
  return row?.status;
}

/** Gives jobs back as if they had not been claimed: they are due at once, and the attempt does not count. */
export async function releaseJobs(store: JobStore, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  const now = databaseNow(store.driver);
  const over = sql`cancel_requested = 1`;
  await store.db
    .updateTable("jobs")
    .set({
      status: sql<JobStatus>`case when ${over} then 'cancelled' else 'queued' end`,
      attempt: sql<number>`attempt - 1`,
      due_at: now,
      finished_at: sql<number | null>`case when ${over} then ${now} end`,
      key: sql<string | null>`case when ${over} and key_until_done = 1 then null else key end`,
    })
    .where("status", "=", "running")
    .where(isHeld(leases))
    .execute();
}

const keyAfterEnd = sql<string | null>`case when key_until_done = 1 then null else key end`;

function isHeld(leases: readonly Lease[]): RawBuilder<boolean> {
  // The first row's types are spelt out, since parameters in a list of values would be text.
  const pairs = leases.map(({ id, lease }) => sql`(${id}, cast(${lease} as integer))`);
  return sql<boolean>`(id, lease) in (values ${sql.join(pairs)})`;
}

/** PostgreSQL takes no NUL, and an error may quote anything. */
function storable(text: string): string {
  return text.replaceAll("\0", "").slice(0, errorLength).toWellFormed();
}
