import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";
import type { PageRequest } from "../http/paging.ts";
import type { ServiceKey } from "./find.ts";
import { p99Ms, spanStats } from "./span-stats.ts";
import type { Window } from "./window.ts";

/** The spans of one name and kind. */
export interface Operation {
  readonly name: string;
  readonly span_kind: number;
  readonly request_count: number;
  readonly error_count: number;
  readonly avg_duration_ms: number;
  /** Within 0.4 %. */
  readonly p99_duration_ms: number;
}

/** Up to `limit + 1` operations past the page's cursor, in the page's direction: by name, then by kind. */
export async function readOperations(
  reader: TelemetryReader,
  service: ServiceKey,
  window: Window,
  page: PageRequest,
  signal?: AbortSignal,
): Promise<Operation[]> {
  const [direction, sign] = page.direction === "prev" ? ["DESC", "<"] : ["ASC", ">"];
  const stats = spanStats(service, window);
  const past = page.keys ? `WHERE (name, kind) ${sign} ({past_name:String}, {past_kind:UInt8})` : "";
  const sql = `
SELECT
  name,
  kind AS span_kind,
  sum(spans) AS request_count,
  sum(error_spans) AS error_count,
  sum(duration_ns) / request_count / 1e6 AS avg_duration_ms,
  ${p99Ms()} AS p99_duration_ms
FROM (${stats.sql})
${past}
GROUP BY name, kind
ORDER BY name ${direction}, kind ${direction}
LIMIT {limit:UInt32}`;
  const params: Record<string, ParamValue> = { ...stats.params, limit: page.limit + 1 };
  if (page.keys) [params["past_name"], params["past_kind"]] = page.keys as [string, string];
  return reader.rows<Operation>({ sql, params, signal });
}

/** What unique keys `readOperations` orders by. */
export function operationKeys({ name, span_kind }: Operation): readonly [string, string] {
  return [name, String(span_kind)];
}
