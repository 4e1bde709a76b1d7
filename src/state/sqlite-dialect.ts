import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { CompiledQuery, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { DatabaseConnection, Dialect, Driver, QueryResult, TransactionSettings } from "kysely";
import { StoreUnavailable } from "../core/errors.ts";

export interface SqliteDialectOptions {
  /** Turns what the database throws into what callers get. */
  readonly translate: (error: unknown) => unknown;
  /** Called after a statement outside a transaction, or a commit, has changed the file. */
  readonly onWritten: () => void;
  /** Milliseconds to wait for the connection, or for another process to let go of the file; default 30,000. */
  readonly patience?: number;
}

/** Kysely's SQLite dialect over node:sqlite: one connection, which whole transactions and statements queue for. */
export function sqliteDialect(database: DatabaseSync, options: SqliteDialectOptions): Dialect {
  return {
    createAdapter: () => new QueueingAdapter(),
    createDriver: () => new NodeSqliteDriver(database, options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Says that it can have many connections, since the driver has a queue of its own with a limit to the waiting. */
class QueueingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class NodeSqliteDriver implements Driver {
  readonly #database: DatabaseSync;
  readonly #options: SqliteDialectOptions;
  readonly #patience: number;
  readonly #connection: DatabaseConnection;
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  constructor(database: DatabaseSync, options: SqliteDialectOptions) {
    this.#database = database;
    this.#options = options;
    this.#patience = options.patience ?? 30_000;
    this.#connection = {
      executeQuery: (query) => this.#execute(query),
      streamQuery: () => {
        throw new Error("SQLite's answers are not streamed: page through them instead.");
      },
    };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (!this.#taken) {
      this.#taken = true;
      return this.#connection;
    }
    const { promise, resolve, reject } = Promise.withResolvers<DatabaseConnection>();
    const take = () => {
      clearTimeout(timer);
      resolve(this.#connection);
    };
    // Without a limit, a query beside its own transaction would wait for itself for ever, and say nothing.
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(take), 1);
      reject(
        new StoreUnavailable(
          "A transaction held the state database for too long; perhaps it waits for a query that does not use the transaction's own handle.",
        ),
      );
    }, this.#patience);
    this.#waiting.push(take);
    return promise;
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next();
  }

  async beginTransaction(_: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    // The write lock is taken at the start: a transaction that reads first and writes later could only fail otherwise.
    await this.#execute(CompiledQuery.raw(settings.accessMode === "read only" ? "begin" : "begin immediate"));
  }

  async commitTransaction(): Promise<void> {
    await this.#execute(CompiledQuery.raw("commit"));
    this.#options.onWritten();
  }

  async rollbackTransaction(): Promise<void> {
    // Some errors, a full disk among them, have rolled back already.
    if (this.#database.isTransaction) await this.#execute(CompiledQuery.raw("rollback"));
  }

  async destroy(): Promise<void> {
    this.#database.close();
  }

  async #execute<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const until = performance.now() + this.#patience;
    for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
      try {
        return this.#run<R>(query);
      } catch (error) {
        // Another process has the file. Waiting here and not in SQLite leaves the event loop free. A statement that
        // was refused so has done nothing; inside a transaction it cannot happen, and must not be repeated.
        const busy = isBusy(error) && !this.#database.isTransaction && performance.now() < until;
        if (!busy) throw this.#options.translate(error);
        await sleep(wait);
      }
    }
  }

  #run<R>(query: CompiledQuery): QueryResult<R> {
    const statement = this.#database.prepare(query.sql);
    const parameters = query.parameters as SQLInputValue[];
    if (statement.columns().length > 0) {
      statement.setReadBigInts(true);
      return { rows: statement.all(...parameters).map(plainRow) as R[] };
    }
    const { changes } = statement.run(...parameters);
    if (!this.#database.isTransaction) this.#options.onWritten();
    return { rows: [], numAffectedRows: BigInt(changes) };
  }
}

/** SQLITE_BUSY with any of its extended codes. */
export function isBusy(error: unknown): boolean {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return typeof errcode === "number" && (errcode & 0xff) === 5;
}

/** A plain object, with integers as numbers where those hold them exactly. */
function plainRow(row: Record<string, unknown>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const name in row) {
    const value = row[name];
    const safe = typeof value === "bigint" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
    plain[name] = safe ? Number(value) : value;
  }
  return plain;
}
