import { OperatorError, StoreUnavailable } from "../core/errors.ts";
import { connect } from "./connection.ts";
import { pendingMigrations } from "./migrations.ts";
import { parseServer } from "./server.ts";

/**
 * Connects to a ClickHouse server and changes nothing. Returns a sentence that says what answered, and what a start
 * would do to its schema.
 *
 * @throws OperatorError where it cannot be used
 */
export async function examineServer(clickhouseUrl: string, cluster: string): Promise<string> {
  const server = parseServer(clickhouseUrl, cluster);
  const connection = connect({
    url: server.url,
    username: server.username,
    password: server.password,
    database: "default",
  });
  try {
    const [answer] = await connection.rows<{ version: string }>({ sql: "SELECT version() AS version" });
    const pending = await pendingMigrations(connection, server.layout);
    const schema =
      pending.length === 0 ? "its schema is up to date" : `a start would apply ${pending.length} steps to its schema`;
    return `ClickHouse ${answer?.version} at ${server.url}; ${schema}.`;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const away = error instanceof StoreUnavailable;
    throw new OperatorError(
      `ClickHouse at ${server.url} ${away ? "does not answer" : "refused"}: ${(error as Error).message} Check stores.clickhouse.url (VIGIL_CLICKHOUSE_URL).`,
    );
  } finally {
    await connection.close();
  }
}
