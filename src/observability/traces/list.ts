import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";
import type { PageRequest } from "../http/paging.ts";
import { unixNano } from "../http/timestamp.ts";
import { readSummaries, summaryColumns } from "./summary.ts";
import type { TraceSummary } from "./summary.ts";
import { durationCondition, resourceTags, spanCondition } from "./trace-filter.ts";
import type { Condition, TraceFilter } from "./trace-filter.ts";

/*
 * Traces are listed by their start, newest first, but only spans are stored: when a trace starts is known once all of
 * its spans are. Walking the spans by time finds them all the same. Take the spans of any stretch of time: every trace
 * that starts in it has a span in it (its first), and whether another trace of these started before it shows when all
 * of their spans are looked up, which the index on trace ids makes cheap for some hundreds of traces. So the list is
 * read stretch by stretch, each long enough for about a page, and each trace belongs to exactly one of them.
 *
 * A filter that few traces pass would make this a walk through everything. Where the first stretch has too few of them,
 * the traces with a span that passes are looked for in all that remains, in one go.
 *
 * GLOBAL has a cluster collect the ids once. Such a condition the engine does not move to PREWHERE by itself, and would
 * then read all columns of every granule that the index cannot rule out, false hits included.
 */

/** Unix nanoseconds, both inclusive; undefined: without bound. */
interface Stretch {
  readonly from?: bigint;
  readonly to?: bigint;
}

/** One read of a list: what does not change from stretch to stretch. */
interface Search {
  readonly reader: TelemetryReader;
  readonly filter: TraceFilter;
  readonly span: Condition | undefined;
  readonly duration: Condition | undefined;
  readonly order: "DESC" | "ASC";
  readonly signal: AbortSignal | undefined;
}

/** How much to read for a stretch, at most. */
interface Budget {
  readonly traces: number;
  readonly spans: number;
}

/** Traces in flight at a stretch's end began before it, and are not of it. */
const spareTraces = 20;
const spansPerTrace = 16;
/** By what each stretch is longer than the one before it, where traces turn out to have more spans. */
const growth = 8;
/** To look up more traces by their ids takes about as long as to read all spans. */
const mostTraces = 4_000;
/** With a filter, before all that remains is read. */
const mostStretches = 3;

/**
 * Up to `limit + 1` traces past the page's cursor, in the page's direction. Their order: start, then trace id, both
 * descending. The keys of a trace are `traceKeys`.
 */
export async function readTraces(
  reader: TelemetryReader,
  filter: TraceFilter,
  page: PageRequest,
  signal?: AbortSignal,
): Promise<TraceSummary[]> {
  const order = page.direction === "next" ? "DESC" : "ASC";
  const search: Search = {
    reader,
    filter,
    span: spanCondition(filter),
    duration: durationCondition(filter),
    order,
    signal,
  };
  const hasFilter = search.span !== undefined || search.duration !== undefined;
  const past = page.keys && pastCursor(page.keys, order);
  const found: TraceSummary[] = [];
  let rest = wholeRange(filter, page.keys, order);
  let missing = page.limit + 1;
  let budget: Budget = { traces: missing + spareTraces, spans: (missing + spareTraces) * spansPerTrace };
  for (let stretches = 1; ; stretches++) {
    const { stretch, isLast, read } = await nextStretch(search, rest, budget);
    const passed = await tracesOf(search, stretch, past, missing);
    found.push(...passed);
    missing -= passed.length;
    if (isLast || missing === 0) return found;
    rest = order === "DESC" ? { ...rest, to: stretch.from! - 1n } : { ...rest, from: stretch.to! + 1n };
    if (hasFilter) {
      // As many as it takes if they pass as often as the last ones did, and half of that again.
      const traces = Math.ceil((missing / passed.length) * read.traces * 1.5);
      if (traces > mostTraces || stretches === mostStretches) break;
      budget = { traces, spans: Math.ceil((traces * 2 * read.spans) / read.traces) };
    } else {
      budget = { traces: missing + spareTraces, spans: budget.spans * growth };
    }
  }
  found.push(...(await tracesOfRest(search, rest, past, missing)));
  return found;
}

/** Start in Unix nanoseconds, trace id. */
export function traceKeys({ start_time, trace_id }: TraceSummary): readonly [string, string] {
  return [unixNano(start_time).toString(), trace_id];
}

function wholeRange({ start, end }: TraceFilter, keys: readonly string[] | undefined, order: "DESC" | "ASC"): Stretch {
  const range: Stretch = { from: start, to: end === undefined ? undefined : lastBefore(end) };
  if (!keys) return range;
  return order === "DESC" ? { ...range, to: BigInt(keys[0]!) } : { ...range, from: BigInt(keys[0]!) };
}

/** The last moment before `time` that the store can be asked about. */
function lastBefore(time: bigint): bigint {
  return time === -(2n ** 63n) ? time : time - 1n;
}

/**
 * The part of `rest` to be read next: from its end on to where `traces` traces have been met, or else to where `spans`
 * spans have been read. Where there are fewer of both it is all that is left.
 */
async function nextStretch(
  { reader, filter, order, signal }: Search,
  rest: Stretch,
  { traces, spans }: Budget,
): Promise<{ stretch: Stretch; isLast: boolean; read: Budget }> {
  const [farthest, sort] = order === "DESC" ? ["min", "arrayReverseSort"] : ["max", "arraySort"];
  const where = within("ts", rest);
  const sql = `
SELECT
  sum(spans) AS spans_read,
  count() AS traces_met,
  toString(toUnixTimestamp64Nano(
    if(traces_met >= {traces:UInt32}, ${sort}(groupArray(first))[{traces:UInt32}], ${farthest}(last))
  )) AS edge
FROM (
  SELECT min(ts) AS first, ${farthest}(ts) AS last, count() AS spans
  FROM (
    SELECT trace_id, ts FROM spans
    WHERE workspace = {workspace:String} AND ${where.sql}
    ORDER BY ts ${order}
    LIMIT {spans:UInt64}
  )
  GROUP BY trace_id
)`;
  const params = { ...where.params, workspace: filter.workspace, traces, spans };
  const [row] = await reader.rows<{ spans_read: number; traces_met: number; edge: string }>({ sql, params, signal });
  const { spans_read, traces_met, edge } = row!;
  const read = { traces: traces_met, spans: spans_read };
  if (traces_met < traces && spans_read < spans) return { stretch: rest, isLast: true, read };
  const bound = BigInt(edge);
  return { stretch: order === "DESC" ? { ...rest, from: bound } : { ...rest, to: bound }, isLast: false, read };
}

/** The first `limit` traces that start in `stretch` and pass the filter: for stretches of some thousand traces. */
async function tracesOf(
  search: Search,
  stretch: Stretch,
  past: Condition | undefined,
  limit: number,
): Promise<TraceSummary[]> {
  const { reader, filter, span, duration, order, signal } = search;
  const where = within("ts", stretch);
  const having = all([
    within("min(ts)", stretch),
    past,
    duration,
    span && { ...span, sql: `countIf(${span.sql}) > 0` },
  ]);
  const sql = `
SELECT ${summaryColumns}
FROM spans
PREWHERE trace_id GLOBAL IN (SELECT trace_id FROM spans WHERE workspace = {workspace:String} AND ${where.sql})
WHERE workspace = {workspace:String}
GROUP BY trace_id
HAVING ${having.sql}
ORDER BY min(ts) ${order}, trace_id ${order}
LIMIT {limit:UInt32}`;
  const params = { ...where.params, ...having.params, workspace: filter.workspace, limit };
  return readSummaries(reader, { sql, params, signal });
}

/** As tracesOf, for any length of time: only the traces of the page are summed up, and only once they are known. */
async function tracesOfRest(
  search: Search,
  rest: Stretch,
  past: Condition | undefined,
  limit: number,
): Promise<TraceSummary[]> {
  const { reader, filter, order, signal } = search;
  const { workspace } = filter;
  const span = await indexedSpanCondition(search, rest);
  const found: TraceSummary[] = [];
  let after = past;
  for (;;) {
    const asked = limit - found.length + spareTraces;
    const candidates = await readCandidates({ ...search, span }, rest, after, asked);
    if (candidates.length > 0) {
      const start = within("min(ts)", rest);
      const sql = `
SELECT ${summaryColumns}
FROM spans
WHERE workspace = {workspace:String}
  AND trace_id IN (SELECT toFixedString(unhex(arrayJoin({ids:Array(String)})), 16))
GROUP BY trace_id
HAVING ${start.sql}
ORDER BY min(ts) ${order}, trace_id ${order}`;
      const params = { ...start.params, workspace, ids: candidates.map(({ id }) => id) };
      found.push(...(await readSummaries(reader, { sql, params, signal })));
    }
    const last = candidates.at(-1);
    if (found.length >= limit) return found.slice(0, limit);
    if (!last || candidates.length < asked) return found;
    after = pastCursor([last.first, last.id], order);
  }
}

/**
 * The first traces of `rest` that pass the filter, and some that do not belong: spans before `rest` are not read, so that
 * a trace that began there seems to begin with its first span in `rest`.
 */
async function readCandidates(
  { reader, filter, span, duration, order, signal }: Search,
  rest: Stretch,
  past: Condition | undefined,
  limit: number,
): Promise<{ id: string; first: string }[]> {
  const where = within("ts", { from: rest.from });
  const having = all([within("min(ts)", rest), past, duration]);
  // The span that passes may have started after the stretch in which its trace did.
  const passing = span ? all([where, span]) : filter.end !== undefined ? within("ts", rest) : undefined;
  const sql = `
SELECT lower(hex(trace_id)) AS id, toString(toUnixTimestamp64Nano(min(ts))) AS first
FROM spans
${passing ? `PREWHERE trace_id GLOBAL IN (SELECT trace_id FROM spans WHERE workspace = {workspace:String} AND ${passing.sql})` : ""}
WHERE workspace = {workspace:String} AND ${where.sql}
GROUP BY trace_id
HAVING ${having.sql}
ORDER BY min(ts) ${order}, trace_id ${order}
LIMIT {limit:UInt32}`;
  const params = { ...where.params, ...passing?.params, ...having.params, workspace: filter.workspace, limit };
  return reader.rows({ sql, params, signal });
}

/** What is asked of a span, such that the index on attributes can be used for the tags that no resource has. */
async function indexedSpanCondition(
  { reader, filter, span, signal }: Search,
  { from }: Stretch,
): Promise<Condition | undefined> {
  const tags = resourceTags(filter);
  if (!tags) return span;
  const where = within("ts", { from });
  const keys = Object.keys(filter.tags ?? {});
  const sql = `
SELECT ${keys.map((_, i) => `max(tag_${i}) AS has_${i}`).join(", ")}
FROM (
  SELECT ${tags.sql}
  FROM (SELECT DISTINCT toString(resource) AS resource FROM spans WHERE workspace = {workspace:String} AND ${where.sql})
)`;
  const params = { ...tags.params, ...where.params, workspace: filter.workspace };
  const [row] = await reader.rows<Record<string, number>>({ sql, params, signal });
  return spanCondition(filter, (key) => row![`has_${keys.indexOf(key)}`] === 1);
}

/** All that are there of `conditions`. */
function all(conditions: readonly (Condition | undefined)[]): Condition {
  const given = conditions.filter((condition) => condition !== undefined);
  return {
    sql: given.map(({ sql }) => sql).join(" AND "),
    params: Object.assign({}, ...given.map(({ params }) => params)) as Condition["params"],
  };
}

function within(time: "ts" | "min(ts)", { from, to }: Stretch): Condition {
  const conditions: string[] = [];
  const params: Record<string, ParamValue> = {};
  if (from !== undefined) {
    conditions.push(`${time} >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')`);
    params["from"] = from;
  }
  if (to !== undefined) {
    conditions.push(`${time} <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')`);
    params["to"] = to;
  }
  return { sql: conditions.join(" AND ") || "1", params };
}

function pastCursor([start, traceId]: readonly string[], order: "DESC" | "ASC"): Condition {
  const key = "(fromUnixTimestamp64Nano({past_start:Int64}, 'UTC'), toFixedString(unhex({past_id:String}), 16))";
  return {
    sql: `(min(ts), trace_id) ${order === "DESC" ? "<" : ">"} ${key}`,
    params: { past_start: start!, past_id: traceId! },
  };
}
