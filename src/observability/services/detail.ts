import type { TelemetryReader } from "../../telemetry/contract.ts";
import { ofService, serviceParams } from "./find.ts";
import type { ServiceKey } from "./find.ts";
import { p99Ms, spanStats } from "./span-stats.ts";
import type { Window } from "./window.ts";

/** What a service is and how it fares. */
export interface ServiceHealth {
  /** Of its newest record, as the API shows a resource. */
  readonly resource_attributes: ResourceAttributes;
  /** Of its spans in the window, by name and version. */
  readonly instrumentation_libraries: Library[];
  /** Requests a second, and the share of them that failed (0–1). */
  readonly request_rate: number;
  readonly error_rate: number;
  /** Null where there were no requests. The p99 is within 0.4 %. */
  readonly avg_latency_ms: number | null;
  readonly p99_latency_ms: number | null;
}

interface ResourceAttributes {
  readonly attributes: { key: string; value: string }[];
  readonly dropped_attributes_count: number;
  readonly [name: string]: unknown;
}

interface Library {
  readonly name: string;
  readonly version?: string;
}

interface Requests {
  readonly requests: number;
  readonly errors: number;
  readonly duration_ns: number;
  readonly p99_ms: number;
}

/**
 * How the service fared in the window. Its requests are its server and consumer spans; of a service without any, its
 * spans without a parent.
 */
export async function readServiceHealth(
  reader: TelemetryReader,
  service: ServiceKey,
  window: Window,
  signal?: AbortSignal,
): Promise<ServiceHealth> {
  const stats = spanStats(service, window);
  const requestsWhere = (condition: string) => `CAST((
    sumIf(spans, ${condition}),
    sumIf(error_spans, ${condition}),
    sumIf(duration_ns, ${condition}),
    ${p99Ms(condition)}
  ), 'Tuple(requests UInt64, errors UInt64, duration_ns Float64, p99_ms Float64)')`;
  const sql = `
SELECT
  ${requestsWhere("kind IN (2, 5)")} AS entries,
  ${requestsWhere("is_root = 1")} AS roots,
  groupUniqArray(scope) AS scopes
FROM (${stats.sql})`;
  const [[row], resource_attributes] = await Promise.all([
    reader.rows<{ entries: Requests; roots: Requests; scopes: string[] }>({ sql, params: stats.params, signal }),
    readResource(reader, service, signal),
  ]);
  const { entries, roots, scopes } = row!;
  const { requests, errors, duration_ns, p99_ms } = entries.requests > 0 ? entries : roots;
  const seconds = Number(window.end - window.start) / 1e9;
  return {
    resource_attributes,
    instrumentation_libraries: libraries(scopes),
    request_rate: requests === 0 ? 0 : requests / seconds,
    error_rate: requests === 0 ? 0 : errors / requests,
    avg_latency_ms: requests === 0 ? null : duration_ns / requests / 1e6,
    p99_latency_ms: requests === 0 ? null : p99_ms,
  };
}

/** The resource of the service's newest record, of the signal that it last sent; spans before logs before metrics. */
async function readResource(
  reader: TelemetryReader,
  service: ServiceKey,
  signal: AbortSignal | undefined,
): Promise<ResourceAttributes> {
  const params = serviceParams(service);
  const [last] = await reader.rows<Record<SignalTable, number>>({
    sql: `
SELECT
  toUnixTimestamp(maxIf(hour, spans > 0)) AS spans,
  toUnixTimestamp(maxIf(hour, logs > 0)) AS logs,
  toUnixTimestamp(maxIf(hour, metric_points > 0)) AS metric_points
FROM service_activity
WHERE ${ofService}`,
    params,
    signal,
  });
  const newest = signalTables.toSorted((a, b) => last![b] - last![a])[0]!;
  const [row] = await reader.rows<{ resource: string }>({
    sql: `
SELECT resource
FROM ${newest}
WHERE ${ofService} AND toDate(received) = toDate(toDateTime({hour:UInt32}, 'UTC')) AND received >= toDateTime({hour:UInt32}, 'UTC')
ORDER BY ts DESC
LIMIT 1`,
    params: { ...params, hour: last![newest] },
    signal,
  });
  const empty = { attributes: [], dropped_attributes_count: 0 };
  return row === undefined || row.resource === "" ? empty : (JSON.parse(row.resource) as ResourceAttributes);
}

const signalTables = ["spans", "logs", "metric_points"] as const;
type SignalTable = (typeof signalTables)[number];

/** Scopes as they are stored; two may differ in their attributes alone, and one may have no name. */
function libraries(scopes: readonly string[]): Library[] {
  const found = new Map<string, Library>();
  for (const scope of scopes) {
    if (scope === "") continue;
    const { name = "", version } = JSON.parse(scope) as Partial<Library>;
    if (name === "") continue;
    found.set(JSON.stringify([name, version ?? ""]), { name, ...(version !== undefined && { version }) });
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, library]) => library);
}
