import { chmodSync, closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely } from "kysely";
import type { Log } from "../core/log.ts";
import { OperatorError, StoreUnavailable } from "../core/errors.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/all.ts";
import { namedLocks } from "./named-locks.ts";
import type { StateSchema } from "./schema.ts";
import { isBusy, sqliteDialect } from "./sqlite-dialect.ts";
import type { StateStatus, StateStore } from "./store.ts";

/** SQLite's primary codes that tell of the machine and not of the statement. */
const unavailable: Readonly<Record<number, string>> = {
  5: "another process holds it",
  7: "memory is short",
  8: "it may not be written",
  10: "reading or writing its disk failed",
  11: "it is damaged; restore it from a backup",
  13: "its disk is full",
  14: "it cannot be opened",
  26: "it is damaged; restore it from a backup",
};

/**
 * Opens `state.db` in `directory`, makes it (mode 0600) where it is missing, and brings its schema up to date.
 * What is committed has been synced to the disk.
 *
 * @throws OperatorError where the file cannot be used, with what to do about it
 */
export async function openSqlite(directory: string, log: Log): Promise<StateStore> {
  const path = join(directory, "state.db");
  let status: StateStatus = { status: "ready" };
  const database = openFile(path);
  const db = new Kysely<StateSchema>({
    dialect: sqliteDialect(database, {
      translate(error) {
        const reason = reasonOf(error);
        if (reason === undefined) return error;
        if (status.status === "ready") log.error({ err: error }, `The state database is away: ${reason}.`);
        status = { status: "away", detail: `The state database cannot be used: ${reason}.` };
        return new StoreUnavailable(`The state database cannot be used at the moment: ${reason}.`);
      },
      onWritten() {
        if (status.status === "away") log.info("The state database is back.");
        status = { status: "ready" };
      },
    }),
  });
  try {
    const ran = await migrate(db, "sqlite", migrations);
    if (ran.length > 0) log.info({ migrations: ran }, "The state database's schema is up to date.");
  } catch (error) {
    await db.destroy();
    // A driver that never ran a query has not been opened as far as Kysely knows, and closes nothing.
    if (database.isOpen) database.close();
    throw error instanceof StoreUnavailable ? operatorError(path, status.detail ?? error.message) : error;
  }
  const lock = namedLocks();
  return {
    db,
    driver: "sqlite",
    // The data directory belongs to one process, so its own locks are all that is needed.
    withLock: (name, fn) => lock(name, () => fn(new AbortController().signal)),
    state: () => status,
    close: () => db.destroy(),
  };
}

function openFile(path: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    // SQLite would make the file readable for all; its -wal and -shm take the mode of the file.
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    database = new DatabaseSync(path, { timeout: 2000, enableForeignKeyConstraints: true });
    // Until the dialect, which waits without blocking, takes over, SQLite itself waits for other processes.
    const mode = database.prepare("pragma journal_mode = wal").get()?.journal_mode;
    if (mode !== "wal") throw new Error("its file system has no shared memory, as is the case for some network drives");
    database.exec("pragma synchronous = full; pragma busy_timeout = 0");
    return database;
  } catch (error) {
    database?.close();
    const { code, message } = error as NodeJS.ErrnoException;
    const known =
      reasonOf(error) ?? (code === "EACCES" || code === "EPERM" || code === "EROFS" ? unavailable[8] : undefined);
    throw operatorError(path, known ?? (code === undefined || code === "ERR_SQLITE_ERROR" ? message : code));
  }
}

function operatorError(path: string, reason: string): OperatorError {
  return new OperatorError(
    `The state database ${path} cannot be used: ${reason}. See to the file, or choose another directory with --data DIR.`,
  );
}

function reasonOf(error: unknown): string | undefined {
  if (isBusy(error)) return unavailable[5];
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return typeof errcode === "number" ? unavailable[errcode & 0xff] : undefined;
}
