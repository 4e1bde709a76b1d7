import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import { Pool, types } from "pg";
import type { ClientConfig, CustomTypesConfig, PoolClient, PoolConfig } from "pg";
import { breaksConnection } from "./postgres-errors.ts";

/** Milliseconds after which the server stops a statement. */
const statementTimeout = 30_000;
/** Milliseconds after which a server that did not even do that counts as gone. */
const answerTimeout = 40_000;

const int8 = 20;
const numeric = 1700;

/** 64-bit integers, and the sums of them, as SQLite gives them: numbers where those are exact, else bigints. */
function parseInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : BigInt(text);
}

/** How every connection of ours is made. Keep-alives find out that a host is gone, where it could not say so. */
export function connectionOptions(connectionString: string): ClientConfig {
  return {
    connectionString,
    application_name: "vigil",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === int8 || oid === numeric ? parseInteger : types.getTypeParser(oid, format),
    } as CustomTypesConfig,
  };
}

/** Limits for everyday statements; migrations, which may wait for other nodes and rewrite tables, have none. */
export const everydayLimits: ClientConfig = {
  statement_timeout: statementTimeout,
  query_timeout: answerTimeout,
  // The row locks of a node that froze within a transaction are not the other nodes' to wait for.
  idle_in_transaction_session_timeout: 60_000,
};

/** What a pool tells of each attempt to speak with the server. */
export interface PoolListener {
  onAnswer(): void;
  /** Gives what callers get in place of `error`. */
  onError(error: unknown, connecting: boolean): unknown;
}

/**
 * A pool as Kysely wants it, whose clients never bring the process down, are thrown away when their connection broke,
 * and whose errors have passed through `listener`.
 */
export function postgresPool(config: PoolConfig, listener: PoolListener): PostgresPool {
  const pool = new Pool(config);
  // A connection that breaks while nobody asks anything of it is an event that would end the process unheard.
  pool.on("error", (error) => listener.onError(error, false));
  pool.on("connect", (client) => client.on("error", (error) => listener.onError(error, false)));
  let ended: Promise<void> | undefined;
  return {
    options: pool.options,
    end: () => (ended ??= pool.end()),
    async connect() {
      try {
        return guarded(await pool.connect(), listener);
      } catch (error) {
        throw listener.onError(error, true);
      }
    },
  };
}

function guarded(client: PoolClient, listener: PoolListener): PostgresPoolClient {
  let broken = false;
  const query = async <R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> => {
    try {
      const result = await client.query(text, [...values]);
      listener.onAnswer();
      return result as unknown as PostgresQueryResult<R>;
    } catch (error) {
      broken ||= breaksConnection(error);
      throw listener.onError(error, false);
    }
  };
  return { query: query as PostgresPoolClient["query"], release: (destroy) => client.release(broken || destroy) };
}
