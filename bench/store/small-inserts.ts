import { insertBlock, type Dataset } from "./dataset.ts";
import type { Engine } from "./engine.ts";
import { createVariant, type Variant } from "./table.ts";

const inserts = 30;

const forms: Readonly<Record<string, readonly string[]>> = {
  "no fsync": [],
  "fsync of the files": ["fsync_after_insert = 1"],
  "fsync of the files and the folder": ["fsync_after_insert = 1", "fsync_part_directory = 1"],
  "fsync of both, compact up to 128 MiB": [
    "fsync_after_insert = 1",
    "fsync_part_directory = 1",
    "min_bytes_for_wide_part = 134217728",
  ],
  "deduplication window of 100": ["non_replicated_deduplication_window = 100"],
};

export interface SmallInserts {
  /** Rows of one insert. */
  readonly batch: number;
  readonly name: string;
  /** Milliseconds an insert, waiting for the disk included. */
  readonly p50: number;
  readonly p95: number;
  /** CPU milliseconds of the median insert, its share of merges included. */
  readonly cpu: number;
}

/**
 * What an insert of `batch` rows takes when it has to survive a power cut, and when repetitions are recognised.
 * `like` is the table's form but for its settings; the forms take turns, so that a busy disk is busy for all.
 */
export function measureSmallInserts(engine: Engine, like: Variant, data: Dataset, batch: number): SmallInserts[] {
  const names = Object.keys(forms);
  const tables = names.map((_, i) => `small_${like.signal}_${i}`);
  for (const [i, table] of tables.entries()) {
    engine.run(`DROP TABLE IF EXISTS ${table} SYNC`);
    engine.run(createVariant({ ...like, settings: forms[names[i]!]! }, table));
  }
  // In memory, since reading the staging table is no part of it.
  const source = `small_${like.signal}_source`;
  engine.run(`DROP TABLE IF EXISTS ${source} SYNC`);
  engine.run(`CREATE TABLE ${source} AS ${like.signal}_staging ENGINE = Memory`);
  engine.run(`INSERT INTO ${source} SELECT * FROM ${like.signal}_staging LIMIT ${batch * inserts}`);
  const waits = tables.map((): number[] => []);
  const cpus = tables.map((): number[] => []);
  for (let n = 0; n < inserts && n * batch < data.rows; n++) {
    for (const [i, table] of tables.entries()) {
      const sql = insertBlock(like.signal, table, 0).replace(
        `${like.signal}_staging WHERE block = 0`,
        `(SELECT * FROM ${source} LIMIT ${n * batch}, ${batch})`,
      );
      const start = performance.now();
      cpus[i]!.push(engine.cpu(() => engine.run(sql)) * 1000);
      waits[i]!.push(performance.now() - start);
    }
  }
  for (const table of [...tables, source]) engine.run(`DROP TABLE ${table} SYNC`);
  const at = (values: readonly number[], share: number) =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
  return names.map((name, i) => ({
    batch,
    name,
    p50: at(waits[i]!, 0.5),
    p95: at(waits[i]!, 0.95),
    cpu: at(cpus[i]!, 0.5),
  }));
}
