import type { ParamValue } from "../../telemetry/contract.ts";
import { ofService, serviceParams } from "./find.ts";
import type { ServiceKey } from "./find.ts";
import type { Window } from "./window.ts";

const hourNs = 3_600_000_000_000n;

/**
 * A query for the counts of a service's spans that start in the window, exactly: whole hours come from span_stats, what
 * is left at both ends from the spans. Its columns: name, kind, is_root, scope, spans, error_spans, duration_ns, and
 * duration_p99, a state of which `p99Ms` makes milliseconds.
 */
export function spanStats(
  service: ServiceKey,
  { start, end }: Window,
): { sql: string; params: Record<string, ParamValue> } {
  const [firstHour, endHour] = [hourFrom(start + hourNs - 1n), hourFrom(end)];
  const hasWhole = firstHour < endHour;
  const params: Record<string, ParamValue> = { ...serviceParams(service), start, end };
  const time = (name: string) => `fromUnixTimestamp64Nano({${name}:Int64}, 'UTC')`;
  let rest = `ts >= ${time("start")} AND ts < ${time("end")}`;
  if (hasWhole) {
    Object.assign(params, { first_hour: firstHour, end_hour: endHour });
    Object.assign(params, { whole_start: firstHour * hourNs, whole_end: endHour * hourNs });
    rest = `(ts >= ${time("start")} AND ts < ${time("whole_start")} OR ts >= ${time("whole_end")} AND ts < ${time("end")})`;
  }
  const ends = `
  SELECT
    toString(name) AS name,
    kind,
    parent_span_id = toFixedString('', 8) AS is_root,
    toString(scope) AS scope,
    count() AS spans,
    countIf(status_code = 2) AS error_spans,
    sum(toFloat64(ends.duration_ns)) AS duration_ns,
    quantileBFloat16State(0.99)(ends.duration_ns) AS duration_p99
  FROM spans AS ends
  WHERE ${ofService} AND ${rest}
  GROUP BY name, kind, is_root, scope`;
  if (!hasWhole) return { sql: ends, params };
  const whole = `
  SELECT toString(name) AS name, kind, is_root, toString(scope) AS scope, spans, error_spans, duration_ns, duration_p99
  FROM span_stats
  WHERE ${ofService} AND hour >= {first_hour:Int32} AND hour < {end_hour:Int32}`;
  return { sql: `${whole}\n  UNION ALL${ends}`, params };
}

/**
 * The p99 of the rows for which `condition` holds, in milliseconds. The states have cut durations to 8 binary digits, by
 * up to 1/128 of them: half of that is put back, which leaves it within 0.4 %.
 */
export function p99Ms(condition = "1"): string {
  return `toFloat64(quantileBFloat16MergeIf(0.99)(duration_p99, ${condition})) * (1 + 1 / 256) / 1e6`;
}

/** The hour since the Unix epoch in which `time` (Unix nanoseconds) lies. */
export function hourFrom(time: bigint): bigint {
  return time / hourNs - (time % hourNs < 0n ? 1n : 0n);
}
