import type { ParamValue } from "../../telemetry/contract.ts";
import type { AttributeFilter } from "./attribute-filter.ts";
import { attributeFilterCondition } from "./attribute-filter-sql.ts";
import type { Condition } from "./binder.ts";
import type { QueryTerm } from "./query-language.ts";
import { queryCondition } from "./query-sql.ts";

export interface LogFilter {
  readonly workspace: string;
  readonly serviceName?: string;
  /** Bounds of the severity number, both inclusive; a least one of 1 or more leaves out 0, "unspecified". */
  readonly severityMin?: number;
  readonly severityMax?: number;
  /** 32 lowercase hexadecimal digits. */
  readonly traceId?: string;
  /** 16 lowercase hexadecimal digits. */
  readonly spanId?: string;
  /** Unix nanoseconds, inclusive and exclusive. */
  readonly start?: bigint;
  readonly end?: bigint;
  readonly query?: readonly QueryTerm[];
  readonly attributes?: readonly AttributeFilter[];
}

/** The condition over the columns of `logs` that selects `filter`'s records. */
export function logCondition(filter: LogFilter): Condition {
  const where = ["workspace = {workspace:String}"];
  const params: Record<string, ParamValue> = { workspace: filter.workspace };
  const add = (condition: string, name: string, value: ParamValue | undefined) => {
    if (value === undefined) return;
    where.push(condition);
    params[name] = value;
  };
  add("ts >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')", "start", filter.start);
  add("ts < fromUnixTimestamp64Nano({end:Int64}, 'UTC')", "end", filter.end);
  add("service_name = {service_name:String}", "service_name", filter.serviceName);
  add("severity_number >= {severity_min:UInt8}", "severity_min", filter.severityMin);
  add("severity_number <= {severity_max:UInt8}", "severity_max", filter.severityMax);
  add("trace_id = toFixedString(unhex({trace_id:String}), 16)", "trace_id", filter.traceId);
  add("span_id = toFixedString(unhex({span_id:String}), 8)", "span_id", filter.spanId);
  for (const { sql, params: bound } of [
    queryCondition(filter.query ?? []),
    attributeFilterCondition(filter.attributes ?? []),
  ]) {
    if (sql === "1") continue;
    where.push(sql);
    Object.assign(params, bound);
  }
  return { sql: where.join(" AND "), params };
}
