import type { ParamValue, Query, TelemetryReader } from "../../../telemetry/contract.ts";
import { trendBuckets } from "./trend.ts";

export interface PatternFilter {
  readonly workspace: string;
  readonly serviceName?: string;
  /** Unix nanoseconds, inclusive and exclusive. */
  readonly start: bigint;
  readonly end: bigint;
}

/** Stands for the masks that are too rare to be told apart. */
export const rest = "rest";

/** The records of one mask and severity. */
export interface Group {
  /** The mask's hash in decimal digits; or `rest`. */
  readonly mask: string;
  /** The mask of the last record: `mask`, where that is one. */
  readonly lastMask: string;
  readonly severity: number;
  readonly severityText: string;
  /** Counts in the `trendBuckets` parts of the window. */
  readonly buckets: readonly number[];
  /** Unix nanoseconds of the first and the last one. */
  readonly first: bigint;
  readonly last: bigint;
}

const severityTexts = ["UNSPECIFIED", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];
const textNumbers = `[${severityTexts.map((_, i) => i).join(", ")}]`;

interface GroupRow {
  readonly mask: string;
  readonly last_mask: string;
  readonly severity: number;
  readonly buckets: readonly number[];
  readonly first: string;
  readonly last: string;
}

/** How many masks are told apart. */
export interface Bounds {
  /** Groups that are read; with more, the rarer masks become one. */
  readonly groups: number;
  /** Masks that stay by themselves then. */
  readonly masks: number;
}

/** Counts all records of the window by mask and severity. */
export async function readGroups(
  reader: TelemetryReader,
  filter: PatternFilter,
  bounds: Bounds,
  signal?: AbortSignal,
): Promise<Group[]> {
  const step = (filter.end - filter.start + BigInt(trendBuckets - 1)) / BigInt(trendBuckets);
  const query = (columns: string, from: string, settings = ""): Query => ({
    sql: `
SELECT ${columns}, severity,
  countResample(0, ${trendBuckets}, 1)(bucket) AS buckets,
  toString(toUnixTimestamp64Nano(min(ts))) AS first,
  toString(toUnixTimestamp64Nano(max(ts))) AS last
FROM (
  SELECT ${from}, ts,
    -- one byte, which is quicker to group by than the two that it is made of
    toUInt8(severity_number * 8 + transform(severity_text, ${textList(severityTexts)}, ${textNumbers}, 0)) AS severity,
    intDiv(toUnixTimestamp64Nano(ts) - {start:Int64}, {step:Int64}) AS bucket
  FROM logs
  WHERE ${inWindow(filter)}
)
${settings}`,
    params: { ...windowParams(filter), step },
    signal,
  });
  // Groups past the bound are not even counted, so that no number of them can take the engine's memory.
  const few = await reader.rows<GroupRow>(
    query(
      "toString(body_mask) AS mask, mask AS last_mask",
      "body_mask",
      `GROUP BY body_mask, severity LIMIT ${bounds.groups}
SETTINGS max_rows_to_group_by = ${bounds.groups}, group_by_overflow_mode = 'any'`,
    ),
  );
  if (few.length < bounds.groups) return few.map(toGroup);
  const frequent = `SELECT arrayJoin(topK(${bounds.masks})(body_mask)) FROM logs WHERE ${inWindow(filter)}`;
  const all = await reader.rows<GroupRow>(
    query(
      `if(is_rest, '${rest}', toString(any(body_mask))) AS mask, toString(argMax(body_mask, ts)) AS last_mask`,
      `body_mask, body_mask GLOBAL NOT IN (${frequent}) AS is_rest, if(is_rest, 0, body_mask) AS told_apart`,
      "GROUP BY is_rest, told_apart, severity",
    ),
  );
  return all.map(toGroup);
}

function toGroup({ mask, last_mask, severity, buckets, first, last }: GroupRow): Group {
  return {
    mask,
    lastMask: last_mask,
    severity: severity >> 3,
    severityText: severityTexts[severity & 7] ?? severityTexts[0]!,
    buckets,
    first: BigInt(first),
    last: BigInt(last),
  };
}

/** Masks in the list of one query. */
const masksAtATime = 500;
/** Characters of a body that are read. */
const longestBody = 8_192;

/** The body of the last record of each group, by its mask. */
export async function readBodies(
  reader: TelemetryReader,
  filter: PatternFilter,
  groups: readonly Group[],
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  const bodies = new Map<string, string>();
  for (const some of chunks(groups, masksAtATime)) {
    const rows = await reader.rows<{ mask: string; body: string }>({
      sql: `
SELECT toString(body_mask) AS mask, leftUTF8(argMax(body, ts), ${longestBody}) AS body
FROM logs
WHERE ${inWindow(filter)}
  AND ts IN (SELECT fromUnixTimestamp64Nano(arrayJoin({times:Array(Int64)}), 'UTC'))
  AND body_mask IN (SELECT arrayJoin({masks:Array(UInt64)}))
GROUP BY body_mask`,
      params: {
        ...windowParams(filter),
        times: some.map(({ last }) => last),
        masks: some.map(({ lastMask }) => BigInt(lastMask)),
      },
      signal,
    });
    for (const { mask, body } of rows) bodies.set(mask, body);
  }
  return bodies;
}

/** Which of `masks` records from before the window have. */
export async function readKnown(
  reader: TelemetryReader,
  filter: PatternFilter,
  masks: readonly string[],
  signal?: AbortSignal,
): Promise<Set<string>> {
  const known = new Set<string>();
  for (const some of chunks(masks, masksAtATime)) {
    const rows = await reader.rows<{ mask: string }>({
      sql: `
SELECT DISTINCT toString(body_mask) AS mask
FROM logs
WHERE ${ofWorkspace(filter)} AND ts < fromUnixTimestamp64Nano({start:Int64}, 'UTC')
  AND body_mask IN (SELECT arrayJoin({masks:Array(UInt64)}))`,
      params: { ...windowParams(filter), masks: some.map(BigInt) },
      signal,
    });
    for (const { mask } of rows) known.add(mask);
  }
  return known;
}

function ofWorkspace({ serviceName }: PatternFilter): string {
  return `workspace = {workspace:String}${serviceName === undefined ? "" : " AND service_name = {service_name:String}"}`;
}

function inWindow(filter: PatternFilter): string {
  const [start, end] = ["start", "end"].map((name) => `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`);
  return `${ofWorkspace(filter)} AND ts >= ${start} AND ts < ${end}`;
}

function windowParams({ workspace, serviceName, start, end }: PatternFilter): Record<string, ParamValue> {
  return { workspace, start, end, ...(serviceName !== undefined && { service_name: serviceName }) };
}

function textList(texts: readonly string[]): string {
  return `[${texts.map((text) => `'${text}'`).join(", ")}]`;
}

function* chunks<T>(list: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}
