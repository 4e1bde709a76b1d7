import type { Log } from "../core/log.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";
import type { StateStore } from "./store.ts";

/**
 * Opens the state store: the PostgreSQL of `postgresUrl` where that is given and not empty, else SQLite in `directory`.
 * Its schema is up to date when this resolves.
 *
 * @throws OperatorError where the database cannot be reached, used or understood; it holds no password
 */
export async function openState(options: {
  readonly directory: string;
  readonly postgresUrl?: string;
  readonly log: Log;
}): Promise<StateStore> {
  const { directory, postgresUrl, log } = options;
  return postgresUrl ? openPostgres(postgresUrl, log) : openSqlite(directory, log);
}
