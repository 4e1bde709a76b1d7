import { insertBlock, type Dataset } from "./dataset.ts";
import type { Engine } from "./engine.ts";
import { questions, type Examples } from "./queries.ts";
import { createVariant, type Variant } from "./table.ts";

export interface Measured {
  readonly variant: Variant;
  /** Compressed bytes a row on disk, marks and primary key included. */
  readonly bytesPerRow: number;
  readonly parts: number;
  /** Bytes a row by group of columns, of the secondary indexes and of the projections. */
  readonly groups: Readonly<Record<string, number>>;
  /** CPU seconds for a million rows, without reading them from the staging table. */
  readonly insertCpu: number;
  readonly mergeCpu: number;
  readonly latencies: Readonly<Record<string, Latency>>;
}

export interface Latency {
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
  /** CPU milliseconds of the median query, all threads. */
  readonly cpu: number;
  /** What all the queries together answered with. */
  readonly rows: number;
}

/** The last blocks stay as they were inserted, as a store that takes data always has some small new parts. */
const freshShare = 0.1;
const repetitions = 4;
/** Milliseconds after which a query is not repeated again. */
const budgetMs = 200;

/** Builds a variant's table, fills it, lets it merge, asks it everything, and drops it. */
export function measure(
  engine: Engine,
  variant: Variant,
  data: Dataset,
  examples: Examples,
  readCpu: number,
  only?: RegExp,
): Measured {
  const table = `variant_${variant.signal}`;
  engine.run(`DROP TABLE IF EXISTS ${table} SYNC`);
  engine.run(createVariant(variant, table));
  const fresh = Math.floor(data.blocks * (1 - freshShare));
  const insert = (from: number, to: number) => insertBlocks(engine, variant, table, from, to);
  engine.run(`SYSTEM STOP MERGES ${table}`);
  const blockCpu = insert(0, fresh);
  engine.run(`SYSTEM START MERGES ${table}`);
  const merge = () => engine.cpu(() => engine.run(`OPTIMIZE TABLE ${table} FINAL`));
  const mergeCpu = Math.min(merge(), merge());
  engine.run(`SYSTEM STOP MERGES ${table}`);
  insert(fresh, data.blocks);
  const blockRows = data.rows / data.blocks / 1e6;
  const latencies: Record<string, Latency> = {};
  for (const question of questions(variant, table, examples)) {
    if (only && !only.test(question.name)) continue;
    latencies[question.name] = time(engine, question.sql);
  }
  const measured = {
    variant,
    ...sizes(engine, table),
    insertCpu: blockCpu / blockRows - readCpu,
    mergeCpu: mergeCpu / (blockRows * fresh),
    latencies,
  };
  engine.run(`DROP TABLE ${table} SYNC`);
  return measured;
}

/** CPU seconds that reading a million rows from the staging table costs by itself. */
export function measureReading(engine: Engine, variant: Variant, data: Dataset): number {
  const table = `nothing_${variant.signal}`;
  engine.run(`DROP TABLE IF EXISTS ${table}`);
  engine.run(createVariant({ ...variant, indexes: [] }, table).replace(/ENGINE[^]*$/, "ENGINE = Null"));
  const cpu = insertBlocks(engine, { name: "nothing", signal: variant.signal }, table, 0, Math.min(data.blocks, 10));
  engine.run(`DROP TABLE ${table}`);
  return cpu / (data.rows / data.blocks / 1e6);
}

/** CPU seconds a block: the lower quartile, since whoever shares the machine's cores makes some blocks dearer. */
function insertBlocks(engine: Engine, variant: Variant, table: string, from: number, to: number): number {
  const cpus: number[] = [];
  for (let block = from; block < to; block++) {
    cpus.push(engine.cpu(() => engine.run(insertBlock(variant.signal, table, block, variant.fill))));
  }
  return quantile(cpus, 0.25);
}

/** Milliseconds of warm runs; the first run of each query is not counted. */
function time(engine: Engine, queries: readonly string[]): Latency {
  const times: number[] = [];
  const cpus: number[] = [];
  let rows = 0;
  for (const sql of queries) {
    rows += engine.run(`${sql} FORMAT JSONEachRow`).split("\n").length - 1;
    // The least of the repetitions, since other processes share the machine; a slow query needs fewer.
    let least = Infinity;
    let leastCpu = Infinity;
    let spent = 0;
    for (let i = 0; i < repetitions && spent < budgetMs; i++) {
      const start = performance.now();
      const cpu = engine.cpu(() => engine.run(`${sql} FORMAT JSONEachRow`));
      const took = performance.now() - start;
      leastCpu = Math.min(leastCpu, cpu * 1000);
      least = Math.min(least, took);
      spent += took;
    }
    times.push(least);
    cpus.push(leastCpu);
  }
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95), cpu: quantile(cpus, 0.5), rows };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

const groupOf: Readonly<Record<string, string>> = {
  trace_id: "ids",
  span_id: "ids",
  parent_span_id: "ids",
  ts: "times",
  observed_ts: "times",
  received: "times",
  seq: "times",
  duration_ns: "times",
  attributes: "attributes",
  attribute_types: "attributes",
  attribute_keys: "attributes",
  attribute_values: "attributes",
  body: "body",
  body_type: "body",
  events: "events",
  event_types: "events",
};

function sizes(engine: Engine, table: string): Pick<Measured, "bytesPerRow" | "parts" | "groups"> {
  // The merged part alone: compact parts do not say what each column takes.
  const active = `database = 'bench' AND table = '${table}' AND active`;
  const [whole] = engine.rows<{ name: string; rows: number; bytes: number; indexes: number; parts: number }>(
    `SELECT name, rows, bytes_on_disk AS bytes, secondary_indices_compressed_bytes AS indexes, count() OVER () AS parts
     FROM system.parts WHERE ${active} ORDER BY rows DESC LIMIT 1`,
  );
  if (!whole) throw new Error(`${table} has no parts`);
  const groups: Record<string, number> = { indexes: whole.indexes / whole.rows };
  const columns = engine.rows<{ column: string; bytes: number }>(
    `SELECT column, column_data_compressed_bytes AS bytes FROM system.parts_columns
     WHERE ${active} AND name = '${whole.name}'`,
  );
  for (const { column, bytes } of columns) {
    const group = groupOf[column] ?? "other";
    groups[group] = (groups[group] ?? 0) + bytes / whole.rows;
  }
  const [projections] = engine.rows<{ bytes: number }>(
    `SELECT sum(bytes_on_disk) AS bytes FROM system.projection_parts
     WHERE ${active} AND parent_name = '${whole.name}'`,
  );
  groups["projections"] = (projections?.bytes ?? 0) / whole.rows;
  return { bytesPerRow: whole.bytes / whole.rows, parts: whole.parts, groups };
}
