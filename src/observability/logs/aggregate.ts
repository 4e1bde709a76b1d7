import type { TelemetryReader } from "../../telemetry/contract.ts";
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
    const [width, at] = [BigInt(bucketSeconds[bucket]) * 1_000_000_000n, nanos - BigInt(originOf(bucket)) * 1_000_000_000n];
    return at / width - (at % width < 0n ? 1n : 0n);
  };
  return Number(index(end - 1n) - index(start)) + 1;
}

/** Longer keys are cut, in characters: an attribute may be a document, and there may be thousands of results. */
const maxKeyLength = 1_000;
/** Past this much memory the groups go to the engine's disk. */
const spillBytes = 256 * 1024 * 1024;

interface Row {
  readonly key: string | null;
  readonly value: number | null;
  readonly records: number;
  readonly total: number;
  readonly bucket?: number;
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
  const { timeBucket } = aggregation;
  const rows = await reader.rows<Row>({ ...aggregateQuery(filter, aggregation), signal });
  const results = rows.map(({ key, value, records, bucket }) => ({
    key,
    value,
    count: records,
    ...(timeBucket && { timestamp: bucketStart(timeBucket, bucket ?? 0) }),
  }));
  const isGrouped = aggregation.groupBy !== undefined;
  const total_count = isGrouped ? (rows[0]?.total ?? 0) : rows.reduce((sum, row) => sum + row.records, 0);
  return { results, total_count };
}

function aggregateQuery(filter: LogFilter, aggregation: Aggregation) {
  const { groupBy, timeBucket, field, topN } = aggregation;
  const condition = logCondition(filter);
  const { bind, params } = createBinder("aggregate");
  const value = aggregation.function === "count" && field !== undefined ? "count(text)" : functions[aggregation.function];
  const columns = [
    ...(groupBy === undefined ? [] : [`${shortened(recordValue(groupBy, bind))} AS group_text`]),
    ...(field === undefined ? [] : [`${recordValue(field, bind)} AS text`, `${asNumber("text")} AS number`]),
    ...(timeBucket === undefined ? [] : [`${bucketIndex(timeBucket)} AS bucket`]),
  ];
  // `1`: a query of no column at all is none.
  const selected = `SELECT ${columns.join(", ") || "1"} FROM logs WHERE ${condition.sql}`;
  const sql = `${grouped()}\nSETTINGS max_bytes_before_external_group_by = ${spillBytes}`;
  return { sql, params: { ...condition.params, ...params } };

  function grouped(): string {
    if (groupBy === undefined) {
      const byBucket = timeBucket === undefined ? "HAVING records > 0" : "GROUP BY bucket ORDER BY bucket";
      return `SELECT NULL AS key, ${value} AS value, count() AS records, 0 AS total${timeBucket ? ", bucket" : ""}
FROM (${selected}) ${byBucket}`;
    }
    // Null is a group like any other, but equals nothing: what is compared is whether it is there, and its text.
    const keys = "isNotNull(group_text) AS present, ifNull(group_text, '') AS name";
    const top = `
SELECT present, name, value, records, sum(records) OVER () AS total,
  row_number() OVER (ORDER BY value DESC NULLS LAST, present DESC, name) AS rank
FROM (SELECT ${keys}, ${value} AS value, count() AS records FROM (${selected}) GROUP BY present, name)
ORDER BY rank LIMIT ${bind(topN, "UInt32")}`;
    if (timeBucket === undefined) {
      return `SELECT if(present, name, NULL) AS key, value, records, total FROM (${top}) ORDER BY rank`;
    }
    return `
SELECT if(present, name, NULL) AS key, ${value} AS value, count() AS records, any(total) AS total, bucket
FROM (SELECT *, ${keys} FROM (${selected})) AS every
INNER JOIN (SELECT present, name, total, rank FROM (${top})) AS top USING (present, name)
GROUP BY bucket, present, name ORDER BY bucket, any(rank)`;
  }
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
