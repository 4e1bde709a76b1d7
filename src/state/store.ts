import { sql } from "kysely";
import type { Kysely, RawBuilder, Transaction } from "kysely";
import type { StateSchema } from "./schema.ts";

export type StateDriver = "sqlite" | "postgres";

export type StateTransaction = Transaction<StateSchema>;

export interface StateStatus {
  readonly status: "ready" | "away";
  /** A sentence for people when it is away. */
  readonly detail?: string;
}

/**
 * The rows that change.
 *
 * - Queries throw StoreUnavailable while the database cannot answer, and work again by themselves once it can.
 *   QueryTimeout: a statement took over 30 seconds. Errors that the statement itself is to blame for (a constraint, a
 *   syntax error) pass as the database reports them; `isUniqueViolation` knows the one that callers ask about.
 * - When a transaction has resolved, it is on disk.
 * - Inside a transaction use the transaction's handle alone: SQLite has one connection, which the transaction holds.
 * - 64-bit integers come as numbers where they are safe, else as bigints, from both databases.
 */
export interface StateStore {
  readonly db: Kysely<StateSchema>;
  readonly driver: StateDriver;
  /**
   * Runs `fn` while no other caller of the same name does, in this process and in all that share the database. `lost` is
   * aborted when the lock may have gone to someone else because the connection broke. Not reentrant.
   */
  withLock<T>(name: string, fn: (lost: AbortSignal) => Promise<T>): Promise<T>;
  state(): StateStatus;
  close(): Promise<void>;
}

/** The database's clock in whole milliseconds since 1970: what decides leases must not depend on whose node asks. */
export function databaseNow(driver: StateDriver): RawBuilder<number> {
  return driver === "postgres"
    ? sql<number>`floor(extract(epoch from statement_timestamp()) * 1000)::bigint`
    : sql<number>`cast(${Date.now()} as integer)`;
}

/** SQLite's extended codes of a broken primary key and of a broken unique index. */
const sqliteUnique: readonly unknown[] = [1555, 2067];

/** Whether a statement failed because a row with the same key is there already. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  return code === "23505" || sqliteUnique.includes(errcode);
}
