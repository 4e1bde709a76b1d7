import type { TelemetryReader } from "../../telemetry/contract.ts";
import { spanSummary, spanTuple, summaryColumns, traceSummary } from "./summary.ts";
import type { SpanSummary, SpanTuple, SummaryRow, TraceSummary } from "./summary.ts";

/** One trace without its spans, with what they say together. */
export interface TraceDetail extends TraceSummary {
  /** The span with an error that ended first: what other spans then failed by. Null where none failed. */
  readonly first_error: SpanSummary | null;
  /** In the order in which the trace reached them. */
  readonly by_service: ServiceShare[];
}

interface ServiceShare {
  readonly service_name: string;
  readonly span_count: number;
  readonly error_count: number;
  /** From the start of its first span, in nanoseconds after the trace's, to the end of its last. */
  readonly offset_ns: bigint;
  readonly duration_ns: bigint;
}

interface DetailRow extends SummaryRow {
  readonly first_error: SpanTuple;
  /** By service; times in Unix nanoseconds, in decimal. */
  readonly service_spans: Readonly<Record<string, number>>;
  readonly service_errors: Readonly<Record<string, number>>;
  readonly service_starts: Readonly<Record<string, string>>;
  readonly service_ends: Readonly<Record<string, string>>;
}

/** The trace of that id (32 lowercase hexadecimal digits); undefined where the store has no span of it. */
export async function readTrace(
  reader: TelemetryReader,
  workspace: string,
  traceId: string,
  signal?: AbortSignal,
): Promise<TraceDetail | undefined> {
  const end = "(toUnixTimestamp64Nano(ts) + greatest(duration_ns, 0))";
  const byService = (value: string) => `map(toString(service_name), ${value})`;
  const asText = (times: string) => `mapApply((service, time) -> (service, toString(time)), ${times})`;
  const sql = `
SELECT
  ${summaryColumns},
  argMinIf(${spanTuple}, (${end}, seq), status_code = 2) AS first_error,
  sumMap(${byService("toUInt64(1)")}) AS service_spans,
  sumMap(${byService("toUInt64(status_code = 2)")}) AS service_errors,
  ${asText(`minMap(${byService("toUnixTimestamp64Nano(ts)")})`)} AS service_starts,
  ${asText(`maxMap(${byService(end)})`)} AS service_ends
FROM spans
WHERE workspace = {workspace:String} AND trace_id = toFixedString(unhex({trace_id:String}), 16)
GROUP BY trace_id`;
  const [row] = await reader.rows<DetailRow>({ sql, params: { workspace, trace_id: traceId }, signal });
  if (!row) return undefined;
  return {
    ...traceSummary(row),
    first_error: row.error_count > 0 ? spanSummary(row.first_error) : null,
    by_service: sharesOf(row),
  };
}

function sharesOf({ start, service_spans, service_errors, service_starts, service_ends }: DetailRow): ServiceShare[] {
  const shares = Object.entries(service_spans).map(([service_name, span_count]) => {
    const [first, last] = [BigInt(service_starts[service_name]!), BigInt(service_ends[service_name]!)];
    return {
      service_name,
      span_count,
      // A sum of zero is left out of the engine's map.
      error_count: service_errors[service_name] ?? 0,
      offset_ns: first - BigInt(start),
      duration_ns: last - first,
    };
  });
  return shares.toSorted((a, b) => Number(a.offset_ns - b.offset_ns) || (a.service_name < b.service_name ? -1 : 1));
}
