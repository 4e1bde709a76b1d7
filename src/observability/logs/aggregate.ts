import type { Query, TelemetryReader } from "../../telemetry/contract.ts";
import { asNumber } from "./attribute-filter-sql.ts";
import { createBinder } from "./binder.ts";
import { logCondition } from "./filter.ts";
import type { LogFilter } from "./filter.ts";
import { recordValue } from "./record-field.ts";

/** The SQL of each function over `number` and `text`, the value of its field; null where no record has one. */
const functions = {
  count: "count()",
  sum: "sum(number)",
  avg: "avg(number)",
  min: "min(number)",
  max: "max(number)",
  p50: "quantileExactInclusive(0.5)(number)",
  p90: "quantileExactInclusive(0.9)(number)",
  p95: "quantileExactInclusive(0.95)(number)",
  p99: "quantileExactInclusive(0.99)(number)",
  count_distinct: "uniqExact(text)",
};
export type LogFunction = keyof typeof functions;
export const logFunctions = Object.keys(functions) as readonly LogFunction[];

const bucketSeconds = { "1s": 1, "1m": 60, "5m": 300, "15m": 900, "1h": 3_600, "1d": 86_400, "1w": 604_800 };
export type TimeBucket = keyof typeof bucketSeconds;
export const timeBuckets = Object.keys(bucketSeconds) as readonly TimeBucket[];

/** Seconds from the epoch, a Thursday, to where buckets begin: weeks begin on Monday. */
const originOf = (bucket: TimeBucket) => (bucket === "1w" ? 4 * bucketSeconds["1d"] : 0);

export interface Aggregation {
  readonly function: LogFunction;
  /** What is counted or computed with; needed by all functions but `count`, which then counts the records that have it. */
  readonly field?: string;
  readonly groupBy?: string;
  /** The groups that are answered: those with the greatest values over the whole window. */
  readonly topN: number;
  readonly timeBucket?: TimeBucket;
}

export interface AggregateResult {
  /** The group; null for records that have no such value, and where nothing is grouped by. */
  readonly key: string | null;
  /** Null where no record has a value to compute with. */
  readonly value: number | null;
  /** Records in the group and bucket, with or without a value. */
  readonly count: number;
  /** RFC 3339: where the bucket begins. */
  readonly timestamp?: string;
}

/** How many buckets, the ragged ones at the ends included, a window (Unix nanoseconds) touches. */
export function countBuckets(bucket: TimeBucket, start: bigint, end: bigint): number {
  if (start >= end) return 0;
  const index = (nanos: bigint) => {
    const [width, at] = [
      BigInt(bucketSeconds[bucket]) * 1_000_000_000n,
      nanos - BigInt(originOf(bucket)) * 1_000_000_000n,
    ];
    return at / width - (at % width < 0n ? 1n : 0n);
  };
  return Number(index(end - 1n) - index(start)) + 1;
}

/** Longer keys are cut, in characters: an attribute may be a document, and there may be thousands of results. */
const maxKeyLength = 1_000;
/** Past this much memory the groups go to the engine's disk. */
const spillBytes = 256 * 1024 * 1024;

interface Group {
  readonly key: string | null;
  readonly value: number | null;
  readonly records: number;
}

/**
 * Computes over the records that `filter` selects. Groups come by value, the greatest first; where there are buckets
 * these come first, oldest on top, those without records left out. `total_count` counts all records that were selected,
 * whether or not their group is among the results.
 */
export async function readAggregate(
  reader: TelemetryReader,
  filter: LogFilter,
  aggregation: Aggregation,
  signal?: AbortSignal,
): Promise<{ results: AggregateResult[]; total_count: number }> {
  const { groupBy, timeBucket } = aggregation;
  const source = sourceOf(filter, aggregation);
  const read: Read = (sql, params = {}) => {
    const settings = `SETTINGS max_bytes_before_external_group_by = ${spillBytes}`;
    return reader.rows({ sql: `${sql}\n${settings}`, params: { ...source.params, ...params }, signal });
  };
  if (timeBucket === undefined) {
    const groups = await readGroups(read, source, groupBy === undefined ? 1 : aggregation.topN);
    return { results: groups.map((group) => resultOf(group)), total_count: groups[0]?.total ?? 0 };
  }
  if (groupBy === undefined) {
    const buckets = (await readBuckets(read, source)).toSorted((a, b) => a.bucket - b.bucket);
    const total_count = buckets.reduce((sum, { records }) => sum + records, 0);
    return { results: buckets.map((one) => resultOf(one, bucketStart(timeBucket, one.bucket))), total_count };
  }
  const groups = await readGroups(read, source, aggregation.topN);
  const ranks = new Map(groups.map(({ key }, rank) => [key, rank]));
  const isCut = groups.length < (groups[0]?.groups ?? 0);
  const buckets = await readBuckets(read, source, isCut ? groups.map(({ hash }) => BigInt(hash)) : undefined);
  const results = buckets
    .filter(({ key }) => ranks.has(key))
    .toSorted((a, b) => a.bucket - b.bucket || ranks.get(a.key)! - ranks.get(b.key)!)
    .map((one) => resultOf(one, bucketStart(timeBucket, one.bucket)));
  return { results, total_count: groups[0]?.total ?? 0 };
}

type Read = <T>(sql: string, params?: Query["params"]) => Promise<T[]>;

/** The groups with the greatest values, and of all groups how many there are and how many records they have. */
function readGroups(read: Read, { sql, key, value }: Source, limit: number) {
  return read<Group & { total: number; groups: number; hash: string }>(
    `
SELECT key, value, records, toString(hash) AS hash, sum(records) OVER () AS total, count() OVER () AS groups
FROM (
  SELECT ${key} AS key, ${groupHash} AS hash, ${value} AS value, count() AS records FROM (${sql})
  ${key === "key" ? "GROUP BY key" : "HAVING records > 0"}
)
ORDER BY value DESC NULLS LAST, isNull(key), key LIMIT {groups:UInt32}`,
    { groups: limit },
  );
}

/** Groups by bucket, in no order: all of them, or those of some hashes. */
function readBuckets(read: Read, { sql, key, value }: Source, hashes?: readonly bigint[]) {
  return read<Group & { bucket: number }>(
    `
SELECT bucket, ${key} AS key, ${value} AS value, count() AS records FROM (${sql})
${hashes ? `WHERE ${groupHash} IN {hashes:Array(UInt64)}` : ""} GROUP BY bucket${key === "key" ? ", key" : ""}`,
    hashes && { hashes },
  );
}

/** Tells groups apart in a list of bounded size, where their keys may be long; two that share one are told by their keys. */
const groupHash = "ifNull(cityHash64(key), 0)";

function resultOf({ key, value, records }: Group, timestamp?: string): AggregateResult {
  return { key, value, count: records, ...(timestamp !== undefined && { timestamp }) };
}

interface Source {
  /** A query of the selected records with `key`, `text`, `number` and `bucket`, as far as they are asked for. */
  readonly sql: string;
  /** The column of the group; `NULL` where nothing is grouped by. */
  readonly key: "key" | "NULL";
  /** What is computed over `text` and `number`. */
  readonly value: string;
  readonly params: NonNullable<Query["params"]>;
}

function sourceOf(filter: LogFilter, { groupBy, timeBucket, field, function: name }: Aggregation): Source {
  const condition = logCondition(filter);
  const { bind, params } = createBinder("aggregate");
  const columns = [
    ...(groupBy === undefined ? [] : [`${shortened(recordValue(groupBy, bind))} AS key`]),
    ...(field === undefined ? [] : [`${recordValue(field, bind)} AS text`, `${asNumber("text")} AS number`]),
    ...(timeBucket === undefined ? [] : [`${bucketIndex(timeBucket)} AS bucket`]),
  ];
  return {
    // `1`: a query of no column is none.
    sql: `SELECT ${columns.join(", ") || "1"} FROM logs WHERE ${condition.sql}`,
    key: groupBy === undefined ? "NULL" : "key",
    value: name === "count" && field !== undefined ? "count(text)" : functions[name],
    params: { ...condition.params, ...params },
  };
}

function shortened(text: string): string {
  return `leftUTF8(${text}, ${maxKeyLength})`;
}

/** Whole buckets since the origin, rounded down before it too; by seconds, which nothing can overflow. */
function bucketIndex(bucket: TimeBucket): string {
  const seconds = floorDiv("toUnixTimestamp64Nano(ts)", 1_000_000_000);
  return floorDiv(`(${seconds} - ${originOf(bucket)})`, bucketSeconds[bucket]);
}

function floorDiv(value: string, by: number): string {
  return `(intDiv(${value}, ${by}) - (modulo(${value}, ${by}) < 0))`;
}

function bucketStart(bucket: TimeBucket, index: number): string {
  return new Date((index * bucketSeconds[bucket] + originOf(bucket)) * 1000).toISOString();
}
