import { printedRows } from "../http/paging.ts";
import type { JsonRow, PageRequest } from "../http/paging.ts";
import { spanJson } from "../http/span-json.ts";
import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";

/** Of a trace, and of a page of them: what is printed at once is held in memory at once. */
const maxSpansOfTrace = 1000;
const maxSpansOfPage = 20_000;

/** A trace of a session, without its spans. */
interface Summary {
  /** 32 lowercase hexadecimal digits. */
  readonly id: string;
  /** Unix nanoseconds, in decimal. */
  readonly start: string;
  readonly end: string;
  readonly start_time: string;
  readonly end_time: string;
  readonly span_count: number;
  readonly services: string[];
  readonly has_error: number;
  /** Row id of its earliest span without a parent; where there is none, of its earliest. */
  readonly root: string;
}

/** Traces as JSON of the API, past the page's cursor and in its direction, with the page that they fit. */
export interface SessionTraces {
  /** The page asked for, or a smaller one where its traces have too many spans for one answer. */
  readonly page: PageRequest;
  /** Up to `page.limit + 1`. Keys: start in Unix nanoseconds, trace id. */
  readonly rows: readonly JsonRow[];
}

/**
 * The traces that have a span of the session, each with all its spans, by start, then trace id, both descending.
 * Undefined where the store has no record of the session.
 */
export async function readSessionTraces(
  reader: TelemetryReader,
  workspace: string,
  sessionId: string,
  page: PageRequest,
  signal?: AbortSignal,
): Promise<SessionTraces | undefined> {
  const params = { workspace, session: sessionId };
  const [days] = await reader.rows<{ first: string; last: string; records: number }>({ sql: daysSql, params, signal });
  if (!days || days.records === 0) return undefined;
  const ofSession = { ...params, first_day: days.first, last_day: days.last };
  const summaries = await readSummaries(reader, ofSession, page, signal);
  const limit = tracesThatFit(summaries, page.limit);
  const shown = summaries.slice(0, limit);
  const spans = await readSpans(reader, workspace, shown, signal);
  const rows = summaries.slice(0, limit + 1).map((summary) => ({
    keys: [summary.start, summary.id],
    // The row beyond the page only says that there is one.
    json: shown.includes(summary) ? traceJson(summary, spans) : empty,
  }));
  return { page: { ...page, limit }, rows };
}

const empty = Buffer.alloc(0);

/** How many of the traces are a page; one at least. */
function tracesThatFit(summaries: readonly Summary[], limit: number): number {
  let spans = 0;
  for (const [i, { span_count }] of summaries.slice(0, limit).entries()) {
    spans += Math.min(span_count, maxSpansOfTrace);
    if (i > 0 && spans > maxSpansOfPage) return i;
  }
  return limit;
}

const daysSql = `
SELECT toString(min(day)) AS first, toString(max(day)) AS last, count() AS records
FROM session_activity
WHERE workspace = {workspace:String} AND session_id = {session:String}`;

function readSummaries(
  reader: TelemetryReader,
  ofSession: Readonly<Record<string, string>>,
  { keys, direction, limit }: PageRequest,
  signal?: AbortSignal,
): Promise<Summary[]> {
  const backward = direction === "prev";
  const params: Record<string, ParamValue> = { ...ofSession, limit: limit + 1 };
  let having = "";
  if (keys) {
    const past = "fromUnixTimestamp64Nano({past_start:Int64}, 'UTC')";
    const sign = backward ? ">" : "<";
    having = `HAVING (min(ts), trace_id) ${sign} (${past}, toFixedString(unhex({past_trace:String}), 16))`;
    [params["past_start"], params["past_trace"]] = keys as [string, string];
  }
  const order = backward ? "ASC" : "DESC";
  const end = "max(toUnixTimestamp64Nano(ts) + greatest(duration_ns, 0))";
  const timeText = (time: string) => `concat(replaceOne(toString(${time}), ' ', 'T'), 'Z')`;
  const sql = `
SELECT
  lower(hex(trace_id)) AS id,
  toString(toUnixTimestamp64Nano(min(ts))) AS start,
  toString(${end}) AS end,
  ${timeText("min(ts)")} AS start_time,
  ${timeText(`fromUnixTimestamp64Nano(${end}, 'UTC')`)} AS end_time,
  count() AS span_count,
  arraySort(groupUniqArrayIf(toString(service_name), service_name != '')) AS services,
  max(status_code = 2) AS has_error,
  toString(argMin(seq, (parent_span_id != toFixedString('', 8), ts, seq))) AS root
FROM spans
WHERE workspace = {workspace:String} AND trace_id GLOBAL IN (
  SELECT trace_id FROM spans
  WHERE workspace = {workspace:String} AND session_id = {session:String}
    AND toDate(received) >= {first_day:Date} AND toDate(received) <= {last_day:Date})
GROUP BY trace_id
${having}
ORDER BY min(ts) ${order}, trace_id ${order}
LIMIT {limit:UInt32}`;
  return reader.rows<Summary>({ sql, params, signal });
}

/** The first spans of each trace, by start, and its root among them or behind them; by trace id. */
async function readSpans(
  reader: TelemetryReader,
  workspace: string,
  traces: readonly Summary[],
  signal?: AbortSignal,
): Promise<Map<string, JsonRow[]>> {
  const byTrace = new Map<string, JsonRow[]>(traces.map(({ id }) => [id, []]));
  if (traces.length === 0) return byTrace;
  const params = {
    workspace,
    traces: traces.map(({ id }) => id),
    roots: traces.map(({ root }) => BigInt(root)),
    earliest: traces.map(({ start }) => BigInt(start)).reduce((a, b) => (a < b ? a : b)),
    latest: traces.map(({ end }) => BigInt(end)).reduce((a, b) => (a > b ? a : b)),
  };
  const rows = printedRows(await reader.bytes({ sql: spansSql, params, signal }));
  for (const row of rows) byTrace.get(row.keys[0]!)?.push(row);
  return byTrace;
}

const spansSql = `
SELECT trace, row, json
FROM (
  SELECT lower(hex(trace_id)) AS trace, toString(seq) AS row, ts, span_id, seq, ${spanJson} AS json
  FROM spans
  WHERE workspace = {workspace:String}
    AND ts >= fromUnixTimestamp64Nano({earliest:Int64}, 'UTC') AND ts <= fromUnixTimestamp64Nano({latest:Int64}, 'UTC')
    AND trace_id IN (SELECT toFixedString(unhex(arrayJoin({traces:Array(String)})), 16))
  -- roots first, or a trace that starts with a thousand other spans would lose its own
  ORDER BY has({roots:Array(UInt64)}, seq) DESC, ts, span_id, seq
  LIMIT ${maxSpansOfTrace} BY trace_id
)
ORDER BY ts, span_id, seq
FORMAT TSVRaw`;

function traceJson(summary: Summary, spansOf: ReadonlyMap<string, readonly JsonRow[]>): Buffer {
  const spans = spansOf.get(summary.id) ?? [];
  // Gone only where its day is dropped at this moment.
  const root = spans.find((span) => span.keys[1] === summary.root);
  const parts: Uint8Array[] = [Buffer.from(`{"trace_id":"${summary.id}","spans":[`)];
  for (const [i, span] of spans.entries()) {
    if (i > 0) parts.push(comma);
    parts.push(span.json);
  }
  const { span_count, start, end, start_time, end_time, services, has_error } = summary;
  const rest = { start_time, end_time, services, has_error: has_error === 1 };
  const durationNs = BigInt(end) - BigInt(start);
  const facts = `],"span_count":${span_count},"duration_ns":${durationNs},${JSON.stringify(rest).slice(1, -1)}`;
  if (root) parts.push(Buffer.from(`${facts},"root_span":`), root.json, closing);
  else parts.push(Buffer.from(`${facts}}`));
  return Buffer.concat(parts);
}

const comma = Buffer.from(",");
const closing = Buffer.from("}");
