// What it costs to take spans over OTLP/HTTP until they are stored, beside the engine alone.
//
//   node bench/ingest/run.ts [--seconds 20] [--connections 32]
//
// CPU is that of the whole process tree, server and engine, merges included, until it is idle again; the sender's is
// not counted. The baseline is the engine with the same tables, given the same rows ready-made in the format that it
// takes fastest (Native), in blocks of the size in which Vigil inserts. Linux only: it reads /proc.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createLog } from "../../src/core/log.ts";
import { decodeTraces } from "../../src/ingest/otlp/protobuf/decode-traces.ts";
import { SpanBlock } from "../../src/telemetry/blocks/span-block.ts";
import { connect } from "../../src/telemetry/connection.ts";
import { startEngine } from "../../src/telemetry/embedded/engine.ts";
import { openTelemetry } from "../../src/telemetry/store.ts";
import { startVigil } from "../../test/e2e/start-vigil.ts";
import { exportRequest, spansPerRequest } from "../decode/payload.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "20" }, connections: { type: "string", default: "32" } },
});
const ticksPerSecond = 100;

/** CPU seconds that a process and its living children have used. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number) as [number, number];
  return (user + system) / ticksPerSecond + childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), 0);
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

/** Memory in MB that a process and its children hold. */
function memoryOf(pid: number): number {
  const own = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  return own + childrenOf(pid).reduce((sum, child) => sum + memoryOf(child), 0);
}

/** Resolves when the process has had next to nothing to do for a second: its merges are done. */
async function idle(pid: number): Promise<void> {
  for (let i = 0; i < 60; i++) {
    const before = cpuOf(pid);
    await sleep(1000);
    if (cpuOf(pid) - before < 0.1) return;
  }
}

interface Measured {
  readonly rows: number;
  readonly seconds: number;
  readonly cpu: number;
  readonly p50?: number;
  readonly p99?: number;
  readonly refused?: number;
  readonly megabytes: number;
}

async function product(coding: "plain" | "gzip"): Promise<Measured> {
  const vigil = await startVigil();
  const pid = vigil.process.pid!;
  await idle(pid);
  const before = cpuOf(pid);
  const sender = fork(fileURLToPath(new URL("sender.ts", import.meta.url)), [
    vigil.url,
    values.seconds,
    values.connections,
    coding,
  ]);
  const [sent] = (await once(sender, "message")) as [
    { acknowledged: number; refused: number; seconds: number; p50: number; p99: number },
  ];
  const megabytes = memoryOf(pid);
  await idle(pid);
  const cpu = cpuOf(pid) - before;
  await vigil.stop();
  return {
    rows: sent.acknowledged,
    refused: sent.refused,
    seconds: sent.seconds,
    cpu,
    p50: sent.p50,
    p99: sent.p99,
    megabytes,
  };
}

/** Inserts `rows` ready-made rows, `perBlock` at a time, one insert after another. */
async function engineAlone(rows: number, perBlock: number): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), "vigil-bench-"));
  const log = createLog("error");
  const block = new SpanBlock();
  const blocks = Array.from({ length: 10 }, (_, b) => {
    block.reset();
    for (let i = 0; i < perBlock / spansPerRequest; i++) {
      decodeTraces(exportRequest(1 + b * 100 + i), block, { workspace: "default", project: "default" });
    }
    return Buffer.concat(block.seal({ receivedSeconds: Math.floor(Date.now() / 1000), seq: { hi: b, lo: 0 } }));
  });
  const columns = block.columns.map(({ name }) => name);
  // The same tables and views, made by the product's own migrations.
  const retention = { logs: 30, traces: 30, metrics: 30, minFreeDisk: "0" };
  await (await openTelemetry({ directory, retention, lock: (work) => work(), log })).close();
  const engine = await startEngine({ directory: join(directory, "telemetry"), log });
  const connection = connect({
    url: engine.url,
    username: engine.username,
    password: engine.password,
    database: "vigil",
  });
  const pid = engine.pid!;
  await idle(pid);
  const before = cpuOf(pid);
  const started = performance.now();
  for (let n = 0; n * perBlock < rows; n++) await connection.insertNative("spans", columns, blocks[n % blocks.length]!);
  const seconds = (performance.now() - started) / 1000;
  const megabytes = memoryOf(pid);
  await idle(pid);
  const cpu = cpuOf(pid) - before;
  await connection.close();
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
  return { rows, seconds, cpu, megabytes };
}

const plain = await product("plain");
const gzip = await product("gzip");
const perInsert = 10_000;
const alone = await engineAlone(Math.min(plain.rows, 2_000_000), perInsert);
const perMillion = ({ cpu, rows }: Measured) => (cpu / rows) * 1e6;
console.table(
  Object.entries({
    "Vigil, OTLP protobuf": plain,
    "Vigil, OTLP protobuf + gzip": gzip,
    [`engine alone, ${perInsert} rows an insert`]: alone,
  }).map(([what, m]) => ({
    what,
    "acknowledged spans/s": Math.round(m.rows / m.seconds),
    refused: m.refused ?? 0,
    "p50 ms": m.p50 === undefined ? "" : Math.round(m.p50),
    "p99 ms": m.p99 === undefined ? "" : Math.round(m.p99),
    "CPU s per million": perMillion(m).toFixed(2),
    ratio: `${(perMillion(m) / perMillion(alone)).toFixed(2)} ×`,
    "memory MB": Math.round(m.megabytes),
  })),
);
