import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../core/log.ts";
import { connect } from "../../telemetry/connection.ts";
import type { Connection } from "../../telemetry/connection.ts";
import { createDatabase, quoteText } from "../../telemetry/ddl.ts";
import { startEngine } from "../../telemetry/embedded/engine.ts";
import { telemetryMigrations } from "../../telemetry/migrations.ts";

/** The telemetry tables and their rollups, empty, in an engine of their own: for tests that read as the product does. */
export interface Tables extends Connection {
  /**
   * Adds rows; columns that a row leaves out are at their default. Ids are given in hexadecimal, times with
   * nanoseconds as these since the Unix epoch.
   */
  insert(
    table: "logs" | "spans" | "service_activity",
    rows: readonly Readonly<Record<string, unknown>>[],
  ): Promise<void>;
}

export async function openTables(): Promise<Tables> {
  const directory = mkdtempSync(join(tmpdir(), "vigil-tables-"));
  const engine = await startEngine({ directory, log: createLog("silent"), sessions: 2 });
  const { url, username, password } = engine;
  const layout = { database: "vigil" };
  const first = connect({ url, username, password, database: "default" });
  await first.command(createDatabase(layout));
  await first.close();
  const connection = connect({ url, username, password, database: layout.database });
  for (const statement of telemetryMigrations.flatMap((step) => step.statements(layout))) {
    await connection.command(statement);
  }
  return {
    ...connection,
    async insert(table, rows) {
      // Within what the engine takes as one statement.
      for (let start = 0; start < rows.length; start += 200)
        await insertRows(connection, table, rows.slice(start, start + 200));
    },
    async close() {
      await connection.close();
      await engine.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function insertRows(
  connection: Connection,
  table: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const names = Object.keys(Object.assign({}, ...rows) as Record<string, unknown>);
  const types = await connection.rows<{ name: string; type: string }>({
    sql: "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {name:String}",
    params: { name: table },
  });
  const columns = names.map((name) => asText(name, types.find((type) => type.name === name)?.type ?? ""));
  const structure = columns.map(({ name, type }) => `${name} ${type}`).join(", ");
  const json = rows.map((row) =>
    JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
  );
  await connection.command(
    `INSERT INTO ${table} (${names.join(", ")}) SELECT ${columns.map(({ read }) => read).join(", ")} ` +
      `FROM format('JSONEachRow', ${quoteText(structure)}, ${quoteText(json.join("\n"))})`,
  );
}

/** How a column is written in JSON, and what makes its value of that. */
function asText(name: string, type: string): { name: string; type: string; read: string } {
  if (type.startsWith("FixedString")) return { name, type: "String", read: `unhex(${name})` };
  if (type.includes("DateTime64(9")) return { name, type: "Int64", read: `fromUnixTimestamp64Nano(${name}, 'UTC')` };
  return { name, type, read: name };
}
