import { printedRows } from "../http/paging.ts";
import type { JsonRow, PageRequest } from "../http/paging.ts";
import { spanJson } from "../http/span-json.ts";
import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";

/** Whether the store has any span of the trace. */
export async function traceExists(
  reader: TelemetryReader,
  workspace: string,
  traceId: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const sql = `SELECT 1 FROM spans WHERE ${ofTrace} LIMIT 1`;
  const rows = await reader.rows({ sql, params: { workspace, trace_id: traceId }, signal });
  return rows.length > 0;
}

/**
 * Up to `limit + 1` spans of a trace (32 lowercase hexadecimal digits) past the page's cursor, in the page's
 * direction, printed by the engine as the API shows them. Keys: start in Unix nanoseconds, span id, row id.
 */
export async function readSpans(
  reader: TelemetryReader,
  workspace: string,
  traceId: string,
  page: PageRequest,
  signal?: AbortSignal,
): Promise<JsonRow[]> {
  const [direction, sign] = page.direction === "prev" ? ["DESC", "<"] : ["ASC", ">"];
  const past =
    `ts ${sign}= fromUnixTimestamp64Nano({past_ts:Int64}, 'UTC') AND ` +
    `(ts, span_id, seq) ${sign} (fromUnixTimestamp64Nano({past_ts:Int64}, 'UTC'), toFixedString(unhex({past_span_id:String}), 8), {past_seq:UInt64})`;
  const sql = `
SELECT toUnixTimestamp64Nano(ts), lower(hex(span_id)), seq, ${spanJson}
FROM spans
WHERE ${ofTrace}${page.keys ? ` AND ${past}` : ""}
ORDER BY ts ${direction}, span_id ${direction}, seq ${direction}
LIMIT {limit:UInt32}
FORMAT TSVRaw`;
  const params: Record<string, ParamValue> = { workspace, trace_id: traceId, limit: page.limit + 1 };
  if (page.keys)
    [params["past_ts"], params["past_span_id"], params["past_seq"]] = page.keys as [string, string, string];
  return printedRows(await reader.bytes({ sql, params, signal }));
}

const ofTrace = "workspace = {workspace:String} AND trace_id = toFixedString(unhex({trace_id:String}), 16)";
