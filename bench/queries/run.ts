// How fast the API answers what people ask all day, and how much of that is the engine's own time.
//
//   node bench/queries/run.ts [--rows 10000000] [--times 20] [--only PATTERN] [--dir DIR] [--keep]
//
// A generated day (bench/store/dataset.ts) of that many spans and as many log records, in the tables and rollups that
// the product makes. Each question goes over HTTP to the API's routes; "engine" is the very SQL that the routes sent
// for it, sent again without them. Warm: each was asked once before. With --dir and --keep the day is kept and used
// again; it takes about 150 bytes of disk a row.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createLog } from "../../src/core/log.ts";
import { createApi } from "../../src/observability/http/server.ts";
import { logRoutes } from "../../src/observability/logs/routes.ts";
import { serviceRoutes } from "../../src/observability/services/routes.ts";
import { sessionRoutes } from "../../src/observability/sessions/routes.ts";
import { patternRoutes } from "../../src/observability/logs/patterns/routes.ts";
import { traceRoutes } from "../../src/observability/traces/routes.ts";
import { connect } from "../../src/telemetry/connection.ts";
import type { Query, TelemetryReader } from "../../src/telemetry/contract.ts";
import { createDatabase } from "../../src/telemetry/ddl.ts";
import { startEngine } from "../../src/telemetry/embedded/engine.ts";
import { migrate } from "../../src/telemetry/migrations.ts";
import { createStaging, day, fillStaging, insertBlock } from "../store/dataset.ts";
import type { Dataset, Signal } from "../store/dataset.ts";
import { selectExamples } from "../store/queries.ts";
import type { Examples } from "../store/queries.ts";
import { shippedColumns } from "../store/table.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "10000000" },
    times: { type: "string", default: "20" },
    only: { type: "string", default: "." },
    dir: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});
const dataset: Dataset = { rows: Number(values.rows), blocks: Math.max(20, Math.floor(Number(values.rows) / 200_000)) };
const times = Number(values.times);
const only = new RegExp(values.only);
const directory = values.dir ?? mkdtempSync(join(tmpdir(), "vigil-queries-"));
const log = createLog("error");

const engine = await startEngine({ directory, log });
const login = { url: engine.url, username: engine.username, password: engine.password };
const bare = connect({ ...login, database: "default" });
await bare.command(createDatabase({ database: "vigil" }));
await bare.close();
const sql = connect({ ...login, database: "vigil" });
const layout = { database: "vigil" };
await migrate(sql, layout, { lock: (work) => work(), log });

/** Fills a table of the product, and with it what its views feed; leaves it merged as a quiet hour would. */
async function fill(signal: Signal): Promise<void> {
  const [count] = await sql.rows<{ n: number }>({ sql: `SELECT toInt64(count()) AS n FROM ${signal}` });
  // The last trace of a day is cut off, so a few rows may be wanting.
  if (count!.n > dataset.rows * 0.99) return;
  console.error(`making ${dataset.rows} ${signal} …`);
  for (const statement of [`DROP TABLE IF EXISTS ${signal}_staging`, `TRUNCATE TABLE ${signal}`])
    await sql.command(statement);
  await sql.command(createStaging(signal, shippedColumns(signal)));
  for (let block = 0; block < dataset.blocks; block++) {
    await sql.command(fillStaging(signal, dataset, block));
    await sql.command(insertBlock(signal, signal, block));
  }
}

for (const signal of ["spans", "logs"] as const) await fill(signal);
const examples = Object.fromEntries(
  await Promise.all(
    (["spans", "logs"] as const).map(async (signal) => [
      signal,
      (await sql.rows<Examples>({ sql: selectExamples(signal) }))[0]!,
    ]),
  ),
) as Record<Signal, Examples>;

/** Keeps what the routes ask the store while `kept` is an array. */
let kept: { query: Query; bytes: boolean }[] | undefined;
const recording: TelemetryReader = {
  rows(query) {
    kept?.push({ query, bytes: false });
    return sql.rows(query);
  },
  bytes(query) {
    kept?.push({ query, bytes: true });
    return sql.bytes(query);
  },
};

const endOfDay = Date.parse(`${day}T23:59:59.999Z`);
const api = createApi({ log, version: "bench", access: { mode: "local" } });
logRoutes(api, recording, () => endOfDay);
patternRoutes(api, recording, () => endOfDay);
traceRoutes(api, recording);
serviceRoutes(api, recording, () => endOfDay);
sessionRoutes(api, recording, () => endOfDay);
const url = await api.listen({ host: "127.0.0.1", port: 0 });

const wholeDay = `startTime=${day}T00:00:00Z&endTime=${day}T23:59:59.999Z`;
const oneHour = `startTime=${day}T13:00:00Z&endTime=${day}T14:00:00Z`;
const { traces, popularServices, rareServices, requestIds, sessions } = examples.spans;
const questions: Readonly<Record<string, readonly string[]>> = {
  "trace by id": traces.map((id) => `/traces/${id.toLowerCase()}/spans`),
  "newest 100 logs": ["/logs"],
  "newest 100 logs of a busy service": popularServices.map((name) => `/logs?serviceName=${name}`),
  "newest 100 logs of a quiet service": rareServices.map((name) => `/logs?serviceName=${name}`),
  "rare word": ["/logs?query=zebrafish"],
  "two words": ["/logs?query=timeout+internal", "/logs?query=declined+funds"],
  "attribute = value, in few records": requestIds.map((id) => `/logs?query=request.id:${encodeURIComponent(id)}`),
  "newest 100 errors": ["/logs?severityMin=17"],
  "10,000 logs": ["/logs?limit=10000"],
  "newest 100 traces": ["/traces"],
  "newest 100 traces of a service": popularServices.map((name) => `/traces?serviceName=${name}`),
  "log statistics, 24 h": [`/logs/stats?${wholeDay}`],
  "log patterns, 1 h": [`/logs/patterns?${oneHour}`],
  "log patterns, 24 h": [`/logs/patterns?${wholeDay}`],
  services: ["/services"],
  "session statistics, 24 h": [`/sessions/stats?${wholeDay}`],
  "traces of a session": sessions.map((id) => `/sessions/${encodeURIComponent(id)}/traces`),
};

const percentile = (sorted: readonly number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;

async function time(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

async function ask(path: string): Promise<void> {
  const answer = await fetch(`${url}/api/v1${path}`);
  const body = await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${Buffer.from(body).toString().slice(0, 300)}`);
}

const rows: Record<string, unknown>[] = [];
for (const [question, paths] of Object.entries(questions)) {
  if (!only.test(question)) continue;
  const whole: number[] = [];
  const alone: number[] = [];
  for (const path of paths) await ask(path);
  for (let n = 0; n < times; n++) {
    const path = paths[n % paths.length]!;
    kept = [];
    await ask(path);
    const asked = kept;
    kept = undefined;
    // One after the other, so that what else goes on meets both alike.
    alone.push(
      await time(async () => {
        for (const { query, bytes } of asked) await (bytes ? sql.bytes(query) : sql.rows(query));
      }),
    );
    whole.push(await time(() => ask(path)));
  }
  const sortedWhole = whole.toSorted((a, b) => a - b);
  const sortedAlone = alone.toSorted((a, b) => a - b);
  rows.push({
    question,
    "p50 ms": percentile(sortedWhole, 0.5).toFixed(1),
    "p95 ms": percentile(sortedWhole, 0.95).toFixed(1),
    "engine p50 ms": percentile(sortedAlone, 0.5).toFixed(1),
    ratio: `${(percentile(sortedWhole, 0.5) / percentile(sortedAlone, 0.5)).toFixed(2)} ×`,
  });
}
console.table(rows);

await api.close();
await sql.close();
await engine.close();
if (!values.keep) rmSync(directory, { recursive: true, force: true });
