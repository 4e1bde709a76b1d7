// What the telemetry tables cost and how fast they answer: the shipped layout beside others, on a generated day.
//
//   node bench/store/run.ts [--rows 10000000] [--signal spans|logs] [--variants a,b] [--only trace] [--small]
//                           [--dir DIR] [--keep]
//
// --only takes a pattern of questions; --small measures inserts of 5,000 and of 20,000 rows instead.
// Needs about 500 bytes of disk a row in DIR (a new temporary folder), which is removed unless --keep is given;
// with --dir of an earlier --keep the generated rows are used again.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createStaging, fillStaging, type Dataset, type Signal } from "./dataset.ts";
import { openEngine, type Engine } from "./engine.ts";
import { measure, measureReading, type Measured } from "./measure.ts";
import { selectExamples, type Examples } from "./queries.ts";
import { measureSmallInserts, type SmallInserts } from "./small-inserts.ts";
import { shippedColumns } from "./table.ts";
import { variants } from "./variants.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "10000000" },
    signal: { type: "string", default: "spans,logs" },
    variants: { type: "string", default: "" },
    only: { type: "string" },
    small: { type: "boolean", default: false },
    dir: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});
const dataset: Dataset = { rows: Number(values.rows), blocks: Math.max(20, Math.floor(Number(values.rows) / 200_000)) };
const wanted = values.variants === "" ? [] : values.variants.split(",");
const directory = values.dir ?? mkdtempSync(join(tmpdir(), "vigil-store-bench-"));
const store = openEngine(directory);
try {
  for (const signal of values.signal.split(",") as Signal[]) {
    const chosen = variants.filter((v) => v.signal === signal && (wanted.length === 0 || wanted.includes(v.name)));
    stage(store, signal, dataset);
    if (values.small) {
      const like = { name: "shipped", signal };
      printSmallInserts(
        signal,
        [5_000, 20_000].flatMap((batch) => measureSmallInserts(store, like, dataset, batch)),
      );
      continue;
    }
    const [examples] = store.rows<Examples>(selectExamples(signal));
    const shipped = variants.find((v) => v.signal === signal)!;
    const readCpu = measureReading(store, shipped, dataset);
    const results: Measured[] = [];
    for (const variant of chosen) {
      try {
        results.push(
          measure(store, variant, dataset, examples!, readCpu, values.only ? new RegExp(values.only) : undefined),
        );
        console.error(`${signal} ${variant.name}: ${results.at(-1)!.bytesPerRow.toFixed(1)} B`);
      } catch (error) {
        console.error(`${signal} ${variant.name}: ${String(error)}`);
        process.exitCode = 1;
      }
    }
    print(signal, dataset, results);
    checkAlike(signal, results);
  }
} finally {
  store.close();
  if (!values.keep) rmSync(directory, { recursive: true, force: true });
}

/** Makes the rows, unless an earlier run kept them. */
function stage(engine: Engine, signal: Signal, data: Dataset): void {
  const exists = engine.run(`EXISTS TABLE ${signal}_staging`).trim() === "1";
  if (exists && Number(engine.run(`SELECT max(block) + 1 FROM ${signal}_staging`)) === data.blocks) return;
  engine.run(`DROP TABLE IF EXISTS ${signal}_staging SYNC`);
  engine.run(createStaging(signal, shippedColumns(signal)));
  for (let block = 0; block < data.blocks; block++) engine.run(fillStaging(signal, data, block));
}

function printSmallInserts(signal: Signal, results: readonly SmallInserts[]): void {
  console.log(
    `\n## ${signal}, inserts of few rows\n\n| | rows | p50 ms | p95 ms | CPU ms |\n|---|---:|---:|---:|---:|`,
  );
  for (const { batch, name, p50, p95, cpu } of results) {
    console.log(`| ${name} | ${batch} | ${p50.toFixed(1)} | ${p95.toFixed(1)} | ${cpu.toFixed(1)} |`);
  }
}

/** A form that answers with another number of rows is not a form of the same table. */
function checkAlike(signal: Signal, results: readonly Measured[]): void {
  const [first, ...others] = results;
  for (const other of others) {
    for (const [name, { rows }] of Object.entries(other.latencies)) {
      const expected = first?.latencies[name]?.rows;
      if (rows === expected) continue;
      console.error(`${signal} ${other.variant.name}, ${name}: ${rows} rows in place of ${expected}`);
      process.exitCode = 1;
    }
  }
}

function print(signal: Signal, data: Dataset, results: readonly Measured[]): void {
  const names = [...new Set(results.flatMap((r) => Object.keys(r.latencies)))];
  const groups = [...new Set(results.flatMap((r) => Object.keys(r.groups)))];
  const row = (title: string, cell: (r: Measured) => string) =>
    console.log(`| ${[title, ...results.map(cell)].join(" | ")} |`);
  console.log(`\n## ${signal}, ${data.rows / 1e6} million rows\n`);
  row("", (r) => r.variant.name);
  console.log(`|---|${results.map(() => "---:").join("|")}|`);
  row("bytes a row", (r) => r.bytesPerRow.toFixed(1));
  for (const group of groups) row(`– ${group}`, (r) => (r.groups[group] ?? 0).toFixed(1));
  row("insert, CPU s a million", (r) => r.insertCpu.toFixed(2));
  row("one merge, CPU s a million", (r) => r.mergeCpu.toFixed(2));
  row("parts", (r) => String(r.parts));
  for (const name of names) {
    row(`${name}, p50 / p95 ms (CPU)`, (r) => {
      const l = r.latencies[name];
      return l ? `${l.p50.toFixed(1)} / ${l.p95.toFixed(1)} (${l.cpu.toFixed(0)})` : "";
    });
  }
}
