import { readFileSync } from "node:fs";

/**
 * Where the tables stand: in one engine (the embedded one, or a server), or over the shards of a cluster. Replication
 * and ON CLUSTER cannot be run by the embedded engine, and so not by the tests: a snapshot holds them. They count on
 * the servers' macros `{shard}` and `{replica}`, and on `internal_replication` in the cluster's definition.
 */
export interface Layout {
  readonly database: string;
  /** Its name in the server's configuration (`remote_servers`); undefined: one engine. */
  readonly cluster?: string;
}

/** What a row belongs to when it is spread over shards; one of a kind has to lie together only where reads join it. */
const shardingKeys = {
  spans: "cityHash64(trace_id)",
  logs: "rand()",
  metric_points: "rand()",
  service_activity: "rand()",
  log_stats: "rand()",
  span_stats: "rand()",
  session_activity: "rand()",
} as const;

export type TableName = keyof typeof shardingKeys;
export const tableNames = Object.keys(shardingKeys) as readonly TableName[];

/** The tables that rows are inserted into; the rollups are built from them. */
const baseTables = ["spans", "logs", "metric_points"] as const satisfies readonly TableName[];
export type BaseTable = (typeof baseTables)[number];

/** What each rollup sums up; `<rollup>_from_<table>.sql` says how. Both are partitioned by the day of arrival. */
export const rollups = {
  service_activity: baseTables,
  log_stats: ["logs"],
  span_stats: ["spans"],
  session_activity: ["spans", "logs"],
} as const satisfies Partial<Record<TableName, readonly BaseTable[]>>;
export type Rollup = keyof typeof rollups;
export const rollupNames = Object.keys(rollups) as readonly Rollup[];

/** The table that holds a shard's own rows: itself, or in a cluster what its Distributed table sends them to. */
export function localTable(layout: Layout, table: TableName): string {
  return layout.cluster ? `${table}_local` : table;
}

/** The clause that makes every server of the cluster run a statement; empty without a cluster. */
export function onCluster(layout: Layout): string {
  return layout.cluster ? ` ON CLUSTER ${quoteName(layout.cluster)}` : "";
}

export function createDatabase(layout: Layout): string {
  return `CREATE DATABASE IF NOT EXISTS ${quoteName(layout.database)}${onCluster(layout)}`;
}

/** Creates one of `tables/*.sql`; in a cluster the replicated local tables first, then the Distributed one over them. */
export function createTable(layout: Layout, table: TableName, as: string = table): string[] {
  const local = layout.cluster ? `${as}_local` : as;
  const create = render(readSql(table), {
    table: `IF NOT EXISTS ${local}${onCluster(layout)}`,
    engine: mergeTree(layout, "MergeTree", local),
    aggregating_engine: mergeTree(layout, "AggregatingMergeTree", local),
  });
  if (!layout.cluster) return [create];
  const over = [layout.cluster, layout.database, local].map(quoteText).join(", ");
  return [
    create,
    `CREATE TABLE IF NOT EXISTS ${as}${onCluster(layout)} AS ${local} ENGINE = Distributed(${over}, ${shardingKeys[table]})`,
  ];
}

/** The views that feed a rollup; in a cluster each shard sums up what it holds itself. */
export function createRollupViews(layout: Layout, rollup: Rollup): string[] {
  return rollups[rollup].map(
    (table) =>
      `CREATE MATERIALIZED VIEW IF NOT EXISTS ${rollup}_from_${table}${onCluster(layout)} ` +
      `TO ${localTable(layout, rollup)} AS\n${selectRollup(rollup, table, localTable(layout, table))}`,
  );
}

/** What `source` (rows of the base table: its name, or a query in brackets with its columns) adds to a rollup. */
export function selectRollup(rollup: Rollup, table: BaseTable, source: string): string {
  return render(readSql(`${rollup}_from_${table}`), { source });
}

/** The record of what was applied; in a cluster one table that every server holds whole. */
export function createMigrationTable(layout: Layout): string {
  const engine = layout.cluster
    ? `ReplicatedMergeTree(${quoteText(`/clickhouse/tables/all/${layout.database}/vigil_migrations`)}, '{shard}-{replica}')`
    : "MergeTree";
  return (
    `CREATE TABLE IF NOT EXISTS vigil_migrations${onCluster(layout)} ` +
    `(id UInt32, name String, checksum String, applied_at DateTime64(3, 'UTC')) ENGINE = ${engine} ORDER BY id`
  );
}

function mergeTree(layout: Layout, engine: string, table: string): string {
  // The path names the table and not its UUID, so that a server that joins later finds its shard's other replicas.
  return layout.cluster
    ? `Replicated${engine}(${quoteText(`/clickhouse/tables/{shard}/${layout.database}/${table}`)}, '{replica}')`
    : engine;
}

function readSql(name: string): string {
  return readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8");
}

/** One statement without its comments and with its `{placeholders}` filled. */
function render(sql: string, values: Readonly<Record<string, string>>): string {
  return withoutComments(sql).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for {${name}} in a table's SQL`);
    return value;
  });
}

/** Comments out and blanks folded, quoted text left alone: what the engine is told, so that a checksum holds only that. */
export function withoutComments(sql: string): string {
  const token = /('(?:[^'\\]|\\.|'')*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*")|(?:\s|--[^\n]*|\/\*[^]*?\*\/)+/g;
  return sql.replace(token, (all, quoted?: string) => quoted ?? /\n *$/.exec(all)?.[0] ?? " ").trim();
}

export function quoteName(name: string): string {
  return `\`${name.replace(/[\\`]/g, "\\$&")}\``;
}

export function quoteText(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
