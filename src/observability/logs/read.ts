import { int64Key, printedRows, uint64Key } from "../http/paging.ts";
import type { CursorKey, JsonRow, PageRequest } from "../http/paging.ts";
import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";
import { logCondition } from "./filter.ts";
import type { LogFilter } from "./filter.ts";

export const logOrders = ["timestamp_desc", "timestamp_asc", "severity_desc", "severity_asc"] as const;
export type LogOrder = (typeof logOrders)[number];

/** Severity number, Unix nanoseconds, row id: a row's keys whatever the order. */
export const logCursorKeys: readonly CursorKey[] = [
  (text) => /^(?:[0-9]|1[0-9]|2[0-4])$/.test(text),
  int64Key,
  uint64Key,
];

/**
 * Up to `limit + 1` log records past the page's cursor, in the page's direction, printed by the engine as the API
 * shows them. Their keys are as `logCursorKeys` has them.
 */
export async function readLogs(
  reader: TelemetryReader,
  filter: LogFilter,
  order: LogOrder,
  page: PageRequest,
  signal?: AbortSignal,
): Promise<JsonRow[]> {
  const selected = logCondition(filter);
  const params: Record<string, ParamValue> = { ...selected.params, limit: page.limit + 1 };
  const columns = orderColumns(order, page.direction === "prev");
  const past = page.keys ? ` AND ${pastCursor(columns, page.keys, params)}` : "";
  // Only the rows of the page have their wide columns read, which the engine does up to 10,000 rows unless told.
  const sql = `
SELECT severity_number, toUnixTimestamp64Nano(ts), seq, ${recordJson}
FROM logs
WHERE ${selected.sql}${past}
ORDER BY ${columns.map(({ name, descending }) => `${name} ${descending ? "DESC" : "ASC"}`).join(", ")}
LIMIT {limit:UInt32}
FORMAT TSVRaw
SETTINGS query_plan_max_limit_for_lazy_materialization = ${page.limit + 1}`;
  return printedRows(await reader.bytes({ sql, params, signal }));
}

interface OrderColumn {
  readonly name: "severity_number" | "ts" | "seq";
  readonly descending: boolean;
}

/** What `order` sorts by, the last one unique; within a severity the newest come first. */
function orderColumns(order: LogOrder, reversed: boolean): OrderColumn[] {
  const descending = order.endsWith("desc");
  const bySeverity = order.startsWith("severity");
  const newestFirst = bySeverity || descending;
  return [
    ...(bySeverity ? [{ name: "severity_number" as const, descending: descending !== reversed }] : []),
    { name: "ts", descending: newestFirst !== reversed },
    { name: "seq", descending: newestFirst !== reversed },
  ];
}

const keyValues = {
  severity_number: "{past_severity_number:UInt8}",
  ts: "fromUnixTimestamp64Nano({past_ts:Int64}, 'UTC')",
  seq: "{past_seq:UInt64}",
};

/**
 * What comes after the row of `keys`: `a < A OR (a = A AND b < B)`, written as `a <= A AND (a < A OR b < B)`, whose
 * first half the primary key can use. Binds the keys.
 */
function pastCursor(
  columns: readonly OrderColumn[],
  keys: readonly string[],
  params: Record<string, ParamValue>,
): string {
  const [column, ...rest] = columns;
  if (!column) return "0";
  const { name, descending } = column;
  const value = keyValues[name];
  const sign = descending ? "<" : ">";
  params[`past_${name}`] = keys[keys.length - columns.length]!;
  return `${name} ${sign}= ${value} AND (${name} ${sign} ${value} OR ${pastCursor(rest, keys, params)})`;
}

/** A JSON text inside a structured body: a string as it is, all else as JSON prints it. */
const asText = (json: string) => `if(startsWith(${json}, '"'), JSONExtractString(${json}), ${json})`;
/** Bodies are stored as JSON, an object or an array; keys that come twice are kept. */
const listOfPairs = `toJSONString(CAST(arrayMap(p -> (p.1, ${asText("p.2")}), JSONExtractKeysAndValuesRaw(body)), 'Array(Tuple(key String, value String))'))`;
const listOfTexts = `toJSONString(arrayMap(v -> ${asText("v")}, JSONExtractArrayRaw(body)))`;

/** A log record as the API shows it; what a record does not have is left out. */
const recordJson = `concat(
  '{"time_unix_nano":', toString(toUnixTimestamp64Nano(ts)),
  ',"observed_time_unix_nano":', toString(toUnixTimestamp64Nano(observed_ts)),
  ',"severity_number":', toString(severity_number),
  ',"severity_text":"', severity_text,
  '","body":', multiIf(
    body_type = 'n', '{}',
    body_type = 'm', concat('{"kv_list_value":', ${listOfPairs}, '}'),
    body_type = 'a', concat('{"array_value":', ${listOfTexts}, '}'),
    concat(if(body_type = 'y', '{"bytes_value":', '{"string_value":'), toJSONString(body), '}')),
  ',"resource":', if(resource = '', '{}', resource),
  ',"attributes":', toJSONString(CAST(attributes, 'Array(Tuple(key String, value String))')),
  ',"dropped_attributes_count":', toString(dropped_attributes),
  ',"flags":', toString(flags),
  if(trace_id = toFixedString('', 16), '', concat(',"trace_id":"', lower(hex(trace_id)), '"')),
  if(span_id = toFixedString('', 8), '', concat(',"span_id":"', lower(hex(span_id)), '"')),
  ',"instrumentation_scope":', if(scope = '', '{}', scope),
  '}')`;
