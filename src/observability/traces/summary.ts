import type { Query, TelemetryReader } from "../../telemetry/contract.ts";
import { traceEnd } from "./trace-filter.ts";

/** A trace without its spans. Times are RFC 3339, UTC, with nanoseconds. */
export interface TraceSummary {
  readonly trace_id: string;
  /** The earliest span without a parent; where none is stored, the earliest of all, which then has a parent. */
  readonly root_span: SpanSummary;
  readonly start_time: string;
  /** When the last of its spans ended. */
  readonly end_time: string;
  readonly duration_ns: bigint;
  readonly span_count: number;
  /** Spans whose status is error. */
  readonly error_count: number;
  readonly has_error: boolean;
  /** Names, in alphabetical order. */
  readonly services: string[];
}

/** What a list says of a span. */
export interface SpanSummary {
  readonly span_id: string;
  readonly parent_span_id?: string;
  readonly name: string;
  readonly kind: number;
  readonly service_name: string;
  readonly start_time_unix_nano: bigint;
  readonly duration_ns: bigint;
  readonly status: { readonly code: number; readonly message?: string };
}

/** A trace as the engine prints it for `summaryColumns`. */
export interface SummaryRow {
  readonly id: string;
  /** Unix nanoseconds, in decimal. */
  readonly start: string;
  readonly end: string;
  readonly span_count: number;
  readonly error_count: number;
  readonly services: string[];
  readonly root: SpanTuple;
}

/** Id, parent, name, kind, service, start in Unix nanoseconds, duration in nanoseconds, status and its message. */
export type SpanTuple = readonly [string, string, string, number, string, string, string, number, string];

/** The columns of `spanSummary`'s argument. */
export const spanTuple =
  "(lower(hex(span_id)), lower(hex(parent_span_id)), toString(name), kind, toString(service_name), " +
  "toString(toUnixTimestamp64Nano(ts)), toString(duration_ns), status_code, status_message)";

const zeroSpanId = "0000000000000000";

/** Sums up the rows of `spans` by trace. */
export const summaryColumns = `
  lower(hex(trace_id)) AS id,
  toString(toUnixTimestamp64Nano(min(ts))) AS start,
  toString(${traceEnd}) AS end,
  count() AS span_count,
  countIf(status_code = 2) AS error_count,
  arraySort(groupUniqArrayIf(toString(service_name), service_name != '')) AS services,
  argMin(${spanTuple}, (parent_span_id != toFixedString('', 8), ts, seq)) AS root`;

/** The traces that `query` (of `summaryColumns`) answers, in its order. */
export async function readSummaries(reader: TelemetryReader, query: Query): Promise<TraceSummary[]> {
  const rows = await reader.rows<SummaryRow>(query);
  return rows.map(traceSummary);
}

export function traceSummary({ id, start, end, span_count, error_count, services, root }: SummaryRow): TraceSummary {
  return {
    trace_id: id,
    root_span: spanSummary(root),
    start_time: timestampOf(BigInt(start)),
    end_time: timestampOf(BigInt(end)),
    duration_ns: BigInt(end) - BigInt(start),
    span_count,
    error_count,
    has_error: error_count > 0,
    services,
  };
}

export function spanSummary([
  span_id,
  parent,
  name,
  kind,
  service_name,
  start,
  duration,
  code,
  message,
]: SpanTuple): SpanSummary {
  return {
    span_id,
    ...(parent !== zeroSpanId && { parent_span_id: parent }),
    name,
    kind,
    service_name,
    start_time_unix_nano: BigInt(start),
    duration_ns: BigInt(duration),
    status: { code, ...(message !== "" && { message }) },
  };
}

/** RFC 3339 with all nine digits of a second, so that it selects exactly this moment when it is used as a bound. */
function timestampOf(unixNano: bigint): string {
  const nanos = BigInt.asUintN(64, ((unixNano % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n);
  const seconds = new Date(Number((unixNano - nanos) / 1_000_000n)).toISOString().slice(0, -".000Z".length);
  return `${seconds}.${nanos.toString().padStart(9, "0")}Z`;
}
