import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";
import { hourFrom } from "./span-stats.ts";
import type { Window } from "./window.ts";

/** Calls from one service to another, or to what sends no telemetry of its own. */
export interface Calls {
  readonly source: string;
  readonly sourceNamespace: string;
  readonly target: string;
  /** Undefined: the target is known from the caller's words alone. */
  readonly targetNamespace: string | undefined;
  readonly requests: number;
  readonly errors: number;
  /** All of them together, in nanoseconds. */
  readonly duration: number;
}

const hourNs = 3_600_000_000_000n;
/** Most hours that are kept; some hundred calls each in a large system. */
const mostHours = 2_000;

/** Reads the calls of all services that began in a window. */
export type CallReader = (
  reader: TelemetryReader,
  workspace: string,
  window: Window,
  signal?: AbortSignal,
) => Promise<Calls[]>;

/**
 * Finding who called whom joins each span with those that answer it, which arrive in any order, so that no rollup can
 * have done it when they are stored. It is done hour by hour, and an hour's answer kept for as long as the hour has as
 * many spans as when it was made.
 */
export function createCallReader(): CallReader {
  const kept = new Map<string, { readonly spans: string; readonly calls: readonly Calls[] }>();

  return async function readCalls(reader, workspace, window, signal) {
    const counts = await readHourCounts(reader, workspace, window, signal);
    const all: Calls[] = [];
    for (const hour of [...counts.keys()].toSorted((a, b) => (a < b ? -1 : 1))) {
      const slice = { start: later(hour * hourNs, window.start), end: earlier((hour + 1n) * hourNs, window.end) };
      if (slice.start >= slice.end) continue;
      // A call is answered in its own hour or within the next one, or just before it where a clock is late.
      const spans = [hour - 1n, hour, hour + 1n].map((near) => counts.get(near) ?? 0).join();
      const isWhole = slice.end - slice.start === hourNs;
      const key = `${hour} ${workspace}`;
      const known = isWhole ? kept.get(key) : undefined;
      const calls = known?.spans === spans ? known.calls : await readSlice(reader, workspace, slice, signal);
      if (isWhole) {
        // The last one used is the last one to be forgotten.
        kept.delete(key);
        kept.set(key, { spans, calls });
        if (kept.size > mostHours) kept.delete(kept.keys().next().value!);
      }
      all.push(...calls);
    }
    return all;
  };
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** How many spans each hour of the window, and those beside it, have. */
async function readHourCounts(
  reader: TelemetryReader,
  workspace: string,
  { start, end }: Window,
  signal: AbortSignal | undefined,
): Promise<Map<bigint, number>> {
  const rows = await reader.rows<{ hour: number; count: number }>({
    sql: `
SELECT hour, sum(spans) AS count
FROM span_stats
WHERE workspace = {workspace:String} AND hour >= {first:Int32} AND hour <= {last:Int32}
GROUP BY hour`,
    params: { workspace, first: hourFrom(start) - 1n, last: hourFrom(end) + 1n },
    signal,
  });
  return new Map(rows.map(({ hour, count }) => [BigInt(hour), count]));
}

interface Row {
  readonly source: string;
  readonly source_namespace: string;
  readonly is_answered: number;
  readonly target: string;
  readonly target_namespace: string;
  readonly requests: number;
  readonly errors: number;
  readonly duration: number;
}

/**
 * Calls that began in the slice, which is an hour long at most. A span is answered by its children of another service
 * (server, consumer and unspecified ones) and by consumers whose links point at it; a client or producer span that
 * nobody answers is a call to what its attributes name.
 */
async function readSlice(
  reader: TelemetryReader,
  workspace: string,
  { start, end }: Window,
  signal: AbortSignal | undefined,
): Promise<Calls[]> {
  const time = (name: string) => `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`;
  const near = `workspace = {workspace:String} AND ts >= ${time("answers_from")} AND ts < ${time("answers_to")}`;
  const answer = "service_namespace, service_name, status_code, duration_ns, toUInt8(1) AS is_answer";
  const sql = `
SELECT
  toString(asked.service_name) AS source,
  toString(asked.service_namespace) AS source_namespace,
  answers.is_answer AS is_answered,
  if(is_answered, toString(answers.service_name), toString(asked.peer)) AS target,
  toString(answers.service_namespace) AS target_namespace,
  count() AS requests,
  countIf(if(is_answered, answers.status_code, asked.status_code) = 2) AS errors,
  sum(toFloat64(if(is_answered, answers.duration_ns, asked.duration_ns))) AS duration
FROM (
  SELECT trace_id, span_id, service_namespace, service_name, status_code, duration_ns, peer
  FROM spans
  WHERE workspace = {workspace:String} AND ts >= ${time("start")} AND ts < ${time("end")}
) AS asked
LEFT JOIN (
  SELECT trace_id, parent_span_id AS span_id, ${answer}
  FROM spans
  WHERE ${near} AND kind IN (0, 2, 5) AND parent_span_id != toFixedString('', 8)
  UNION ALL
  SELECT toFixedString(unhex(link.1), 16) AS trace_id, toFixedString(unhex(link.2), 8) AS span_id, ${answer}
  FROM (
    SELECT
      ${answer},
      arrayJoin(arrayFilter(
        link -> link != (lower(hex(trace_id)), lower(hex(parent_span_id))),
        arrayDistinct(JSONExtract(links, 'Array(Tuple(trace_id String, span_id String))'))
      )) AS link
    FROM spans
    WHERE ${near} AND kind = 5 AND links != ''
  )
) AS answers ON asked.trace_id = answers.trace_id AND asked.span_id = answers.span_id
WHERE if(
  is_answered,
  (asked.service_namespace, asked.service_name) != (answers.service_namespace, answers.service_name),
  asked.peer != ''
)
GROUP BY source, source_namespace, is_answered, target, target_namespace`;
  const params: Record<string, ParamValue> = {
    workspace,
    start,
    end,
    // Clocks that are late by up to a minute; messages that wait for up to an hour.
    answers_from: later(start - hourNs / 60n, -(2n ** 63n)),
    answers_to: earlier(end + hourNs, 2n ** 63n - 1n),
  };
  const rows = await reader.rows<Row>({ sql, params, signal });
  return rows.map(
    ({ source, source_namespace, is_answered, target, target_namespace, requests, errors, duration }) => ({
      source,
      sourceNamespace: source_namespace,
      target,
      targetNamespace: is_answered ? target_namespace : undefined,
      requests,
      errors,
      duration,
    }),
  );
}
