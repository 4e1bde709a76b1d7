import { DatabaseError } from "pg";
import { OperatorError, QueryTimeout, StoreUnavailable } from "../core/errors.ts";

/** Where a PostgreSQL is and who we are there, in words that may be shown. */
export interface PostgresPlace {
  /** `host:port`, or the directory of its socket. */
  readonly address: string;
  readonly database: string;
  readonly user: string;
}

/** The classes of SQLSTATE that tell of the server and not of the statement. */
const serverTrouble = [
  "08", // the connection broke
  "28", // the password was changed under us
  "3D", // the database was dropped
  "53", // connections, memory or disk ran out
  "57P", // the server is starting, stopping, or was told to drop us
  "58", // the server's own disk fails
  "25006", // a standby that takes no writes
  "25P03", // a transaction was held open for too long
];

/** SQLSTATE of PostgreSQL, or the code of a system error. */
function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}

/** Whether the connection of a client that threw this is of no more use. */
export function breaksConnection(error: unknown): boolean {
  return !(error instanceof DatabaseError);
}

/** What callers get for what a query threw. */
export function translateQueryError(error: unknown, place: PostgresPlace): unknown {
  const code = codeOf(error);
  if (error instanceof DatabaseError) {
    if (code === "57014") return new QueryTimeout("A query of the state database took too long and was stopped.");
    if (!serverTrouble.some((prefix) => code?.startsWith(prefix))) return error;
  } else if (!isConnectionError(error)) {
    return error;
  }
  return away(error, place);
}

/** System errors have a code such as ECONNRESET; pg's own have none, only sentences. */
function isConnectionError(error: unknown): boolean {
  if (/^E(?!RR_)/.test(codeOf(error) ?? "")) return true;
  return /^(Connection |Client |Query read timeout|timeout exceeded)/.test(error instanceof Error ? error.message : "");
}

/** What callers get when no connection could be made, or one was lost. */
export function away(error: unknown, place: PostgresPlace): StoreUnavailable {
  return new StoreUnavailable(`PostgreSQL at ${place.address} does not answer (${reasonOf(error)}).`);
}

function reasonOf(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.message : "no reason given");
}

/** What to tell an operator whose PostgreSQL cannot be used at start, by what it answered. */
export function translateStartError(error: unknown, place: PostgresPlace): unknown {
  if (error instanceof OperatorError) return error;
  const { address, database, user } = place;
  const code = codeOf(error);
  const where = "stores.postgres.url (VIGIL_POSTGRES_URL)";
  if (code?.startsWith("28")) {
    return new OperatorError(
      `PostgreSQL at ${address} does not let the user "${user}" in (${code}). Check the user and the password in ${where}, and the server's pg_hba.conf.`,
    );
  }
  if (code === "3D000") {
    return new OperatorError(
      `PostgreSQL at ${address} has no database "${database}". Create it, or name another in ${where}.`,
    );
  }
  if (code === "42501") {
    return new OperatorError(
      `The user "${user}" may not make tables in the database "${database}" of PostgreSQL at ${address}. Make it the owner of the database, or name another user in ${where}.`,
    );
  }
  if (code === "25006") {
    return new OperatorError(
      `PostgreSQL at ${address} takes no writes: it is a standby or read-only. Name the primary in ${where}.`,
    );
  }
  if (code === "57P03") {
    return new OperatorError(`PostgreSQL at ${address} is starting or stopping (57P03). Try again in a moment.`);
  }
  if (error instanceof StoreUnavailable || isConnectionError(error) || code !== undefined) {
    const reason = error instanceof StoreUnavailable ? error.message : reasonOf(error);
    return new OperatorError(
      `PostgreSQL at ${address} cannot be used: ${reason}. Start it, or correct ${where}; without it, state is kept in the data directory.`,
    );
  }
  return error;
}
