import { Client } from "pg";
import { placeOf } from "./postgres.ts";
import { translateStartError } from "./postgres-errors.ts";
import { connectionOptions } from "./postgres-pool.ts";

/**
 * Connects to the PostgreSQL of `url` and changes nothing. Returns a sentence that says what answered.
 *
 * @throws OperatorError where it cannot be used
 */
export async function examinePostgres(url: string): Promise<string> {
  const place = placeOf(url);
  const client = new Client(connectionOptions(url));
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; writable: boolean }>(
      "SELECT current_setting('server_version') AS version, NOT pg_is_in_recovery() AS writable",
    );
    const { version, writable } = rows[0]!;
    if (!writable) throw Object.assign(new Error("standby"), { code: "25006" });
    return `PostgreSQL ${version} at ${place.address}, database ${place.database}.`;
  } catch (error) {
    throw translateStartError(error, place);
  } finally {
    await client.end().catch(() => {});
  }
}
