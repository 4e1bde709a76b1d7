import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";
import type { Window } from "./window.ts";

export const severities = ["UNSPECIFIED", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;
type Severity = (typeof severities)[number];

export interface LogStats {
  readonly total_count: number;
  /** From the least severe on; those that no record has are left out. `percentage`: of the total, 0 to 100. */
  readonly by_severity: { severity: Severity; count: number; percentage: number }[];
  /** By the name of the service, most records first. `error_count`: at ERROR or above. */
  readonly by_service: { dimension: string; count: number; error_count: number }[];
  readonly logs_per_second: number;
  /** The share of records at ERROR or above, 0 to 1; 0 where there are none at all. */
  readonly error_rate: number;
}

interface Row {
  readonly service_name: string;
  readonly severity_text: Severity;
  readonly logs: number;
}

const minute = 60_000_000_000n;

/** The statistics of all records, or of a service's, whose time is in the window: exact to the nanosecond. */
export async function readLogStats(
  reader: TelemetryReader,
  { workspace, serviceName, window }: { workspace: string; serviceName?: string; window: Window },
  signal?: AbortSignal,
): Promise<LogStats> {
  const isEmpty = window.start >= window.end;
  const rows = isEmpty ? [] : await reader.rows<Row>({ ...countQuery(workspace, serviceName, window), signal });
  return summarise(rows, window);
}

/**
 * Counts by service and severity. Whole minutes come from the rollup, what is left of the window before and after them
 * from the records themselves.
 */
function countQuery(workspace: string, serviceName: string | undefined, { start, end }: Window) {
  const firstWhole = ceilDiv(start, minute);
  const lastWhole = floorDiv(end, minute);
  const hasWhole = firstWhole < lastWhole;
  const params: Record<string, ParamValue> = { workspace };
  const ofService = serviceName === undefined ? "" : " AND service_name = {service_name:String}";
  if (serviceName !== undefined) params["service_name"] = serviceName;
  const parts: string[] = [];

  const edges = hasWhole
    ? [[start, firstWhole * minute] as const, [lastWhole * minute, end] as const]
    : [[start, end] as const];
  for (const [i, [from, to]] of edges.entries()) {
    if (from === to) continue;
    params[`from_${i}`] = from;
    params[`to_${i}`] = to;
    parts.push(`
SELECT service_name, severity_text, count() AS logs FROM logs
WHERE workspace = {workspace:String}${ofService}
  AND ts >= fromUnixTimestamp64Nano({from_${i}:Int64}, 'UTC') AND ts < fromUnixTimestamp64Nano({to_${i}:Int64}, 'UTC')
GROUP BY service_name, severity_text`);
  }
  if (hasWhole) {
    params["first_minute"] = firstWhole;
    params["last_minute"] = lastWhole;
    parts.push(`
SELECT service_name, severity_text, sum(logs) AS logs FROM log_stats
WHERE workspace = {workspace:String}${ofService} AND minute >= {first_minute:Int32} AND minute < {last_minute:Int32}
GROUP BY service_name, severity_text`);
  }
  const sql = `
SELECT service_name, severity_text, sum(logs) AS logs FROM (${parts.join("\nUNION ALL")})
GROUP BY service_name, severity_text`;
  return { sql, params };
}

function summarise(rows: readonly Row[], { start, end }: Window): LogStats {
  const total = rows.reduce((sum, row) => sum + row.logs, 0);
  const bySeverity = new Map<Severity, number>();
  const byService = new Map<string, { count: number; errors: number }>();
  let errors = 0;
  for (const { service_name, severity_text, logs } of rows) {
    const failed = severity_text === "ERROR" || severity_text === "FATAL" ? logs : 0;
    errors += failed;
    bySeverity.set(severity_text, (bySeverity.get(severity_text) ?? 0) + logs);
    const service = byService.get(service_name) ?? { count: 0, errors: 0 };
    byService.set(service_name, { count: service.count + logs, errors: service.errors + failed });
  }
  return {
    total_count: total,
    by_severity: severities.flatMap((severity) => {
      const count = bySeverity.get(severity);
      return count === undefined ? [] : { severity, count, percentage: (count / total) * 100 };
    }),
    by_service: [...byService]
      .map(([dimension, { count, errors: error_count }]) => ({ dimension, count, error_count }))
      .toSorted((a, b) => b.count - a.count || (a.dimension < b.dimension ? -1 : 1)),
    logs_per_second: end > start ? total / (Number(end - start) / 1e9) : 0,
    error_rate: total > 0 ? errors / total : 0,
  };
}

function floorDiv(value: bigint, by: bigint): bigint {
  return value / by - (value % by < 0n ? 1n : 0n);
}

function ceilDiv(value: bigint, by: bigint): bigint {
  return value / by + (value % by > 0n ? 1n : 0n);
}
