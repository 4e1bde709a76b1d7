import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/core/log.ts";
import { readPatterns } from "../../src/observability/logs/patterns/read.ts";
import { connect } from "../../src/telemetry/connection.ts";
import type { Connection } from "../../src/telemetry/connection.ts";
import { createDatabase } from "../../src/telemetry/ddl.ts";
import { startEngine } from "../../src/telemetry/embedded/engine.ts";
import { createDayOfLogs, dayStart } from "./day-of-logs.ts";

const database = "vigil";
const repetitions = 15;
const hour = 3_600_000_000_000n;

/**
 * Prints how long the patterns of an hour and of a day take to read out of a day of `rows` records, beside what it
 * takes to only read the bodies of that range, which is the least that masking at reading time could take.
 */
export async function measureReading(rows: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "vigil-patterns-"));
  const engine = await startEngine({ directory, log: createLog("silent"), sessions: 4 });
  const { url, username, password } = engine;
  try {
    const first = connect({ url, username, password, database: "default" });
    await first.command(createDatabase({ database }));
    await first.close();
    const connection = connect({ url, username, password, database });
    await createDayOfLogs(connection, database, rows);
    const start = BigInt(dayStart) * 1_000_000n;
    const results = [];
    for (const [name, from, to] of [
      ["an hour", start + 10n * hour, start + 11n * hour],
      ["a day", start, start + 24n * hour],
    ] as const) {
      const filter = { workspace: "default", start: from, end: to };
      const patterns = await readPatterns(connection, filter);
      const reading = await median(() => readPatterns(connection, filter));
      const bodies = await median(() => readBodiesOnly(connection, from, to));
      results.push({
        range: name,
        records: patterns.reduce((sum, { count }) => sum + count, 0),
        patterns: patterns.length,
        "Vigil, p50 ms": Math.round(reading),
        "bodies only, p50 ms": Math.round(bodies),
        ratio: `${(reading / bodies).toFixed(2)} ×`,
      });
    }
    console.table(results);
    await connection.close();
  } finally {
    await engine.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function readBodiesOnly(connection: Connection, start: bigint, end: bigint): Promise<unknown> {
  return connection.rows({
    sql: `SELECT sum(cityHash64(body)) AS hash FROM logs WHERE workspace = 'default'
AND ts >= fromUnixTimestamp64Nano({start:Int64}, 'UTC') AND ts < fromUnixTimestamp64Nano({end:Int64}, 'UTC')`,
    params: { start, end },
  });
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(repetitions / 2)]!;
}
