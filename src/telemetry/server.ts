import { OperatorError } from "../core/errors.ts";
import { createDatabase } from "./ddl.ts";
import type { Layout } from "./ddl.ts";
import type { Sql } from "./migrations.ts";

/** A ClickHouse server and Vigil's place in it. */
export interface Server {
  /** Without user, password and path. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly layout: Layout;
}

/** What Vigil is tested with; older servers lack the indexes that its tables have. */
const oldestVersion = [26, 7] as const;

/**
 * Reads `http://user:password@host:8123/database`. The user is `default` and the database `vigil` where none is named.
 *
 * @param cluster its name in the server's configuration; empty or undefined: that server alone
 */
export function parseServer(clickhouseUrl: string, cluster?: string): Server {
  const url = new URL(clickhouseUrl);
  return {
    url: url.origin,
    username: decodeURIComponent(url.username) || "default",
    password: decodeURIComponent(url.password),
    layout: { database: decodeURIComponent(url.pathname.slice(1)) || "vigil", cluster: cluster || undefined },
  };
}

/**
 * Makes the database unless it is there. One that is there is left alone, so that a user who may not make databases
 * can be given one.
 *
 * @param sql a connection to the server, whatever its current database
 * @throws OperatorError where the server is too old or refuses
 */
export async function prepareDatabase(sql: Sql, { url, layout }: Server): Promise<void> {
  const [server] = await sql.rows<{ version: string }>({ sql: "SELECT version() AS version" });
  const [major = 0, minor = 0] = (server?.version ?? "").split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldestVersion;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new OperatorError(
      `ClickHouse at ${url} is version ${server?.version}; Vigil needs ${oldestVersion.join(".")} or newer. Upgrade that server, ` +
        "or leave stores.clickhouse.url empty to use the embedded engine.",
    );
  }
  const found = await sql.rows({
    sql: "SELECT 1 FROM system.databases WHERE name = {name:String}",
    params: { name: layout.database },
  });
  if (found.length === 0) await sql.command(createDatabase(layout));
}
