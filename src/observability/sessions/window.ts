import type { ParamValue } from "../../telemetry/contract.ts";

/** Unix nanoseconds: `start` inclusive, `end` exclusive; undefined: no bound. */
export interface SessionWindow {
  readonly start?: bigint;
  readonly end?: bigint;
}

/** SQL and the parameters that it binds. */
export interface Condition {
  readonly sql: string;
  readonly params: Readonly<Record<string, ParamValue>>;
}

/** No activity is later than this after its record's arrival: what claims to be counts as arrival. */
const aheadSeconds = 300;
const lastDate = Date.UTC(2149, 5, 6);

/** The first day of arrival (YYYY-MM-DD) whose records may tell of activity at `time` (Unix nanoseconds) or later. */
export function firstDayFor(time: bigint): string {
  const ms = Number(time / 1_000_000n) - aheadSeconds * 1000;
  return new Date(Math.min(Math.max(ms, 0), lastDate)).toISOString().slice(0, 10);
}

/** The time (Unix nanoseconds) from which on rows of session_activity of `day` and later know all activity. */
export function completeFrom(day: string): bigint {
  return BigInt(Date.parse(day) + aheadSeconds * 1000) * 1_000_000n;
}

/**
 * A query of the hashes of the sessions with any activity in the window; binds `workspace` too. A row of
 * session_activity knows its first and its last activity. Where the window lies between these two, only the records
 * themselves tell whether there was any in it.
 */
export function sessionsIn({ start, end }: SessionWindow): Condition {
  const from = "fromUnixTimestamp64Nano({window_start:Int64}, 'UTC')";
  const to = "fromUnixTimestamp64Nano({window_end:Int64}, 'UTC')";
  const ofDays = `workspace = {workspace:String}${start === undefined ? "" : " AND day >= {window_day:Date}"}`;
  const params: Record<string, ParamValue> = {};
  if (start !== undefined) {
    params["window_start"] = start;
    params["window_day"] = firstDayFor(start);
  }
  if (end !== undefined) params["window_end"] = end;
  const hashes = (condition: string) => `SELECT session_hash FROM session_activity WHERE ${ofDays}${condition}`;

  if (end === undefined) return { sql: hashes(start === undefined ? "" : ` AND last_seen >= ${from}`), params };
  if (start === undefined) return { sql: hashes(` AND first_seen < ${to}`), params };
  const within = (time: string) => `(${time} >= ${from} AND ${time} < ${to})`;
  const around =
    `session_id GLOBAL IN (SELECT session_id FROM session_activity ` +
    `WHERE ${ofDays} AND first_seen < ${from} AND last_seen >= ${to})`;
  const records = (table: "spans" | "logs", times: readonly string[]) =>
    `SELECT sipHash64(session_id) FROM ${table} WHERE workspace = {workspace:String} ` +
    `AND toDate(received) >= {window_day:Date} AND ${around} AND (${times.map(within).join(" OR ")})`;
  const ownEnd = "fromUnixTimestamp64Nano(toUnixTimestamp64Nano(ts) + greatest(duration_ns, 0), 'UTC')";
  return {
    sql: [
      hashes(` AND (${within("first_seen")} OR ${within("last_seen")})`),
      records("spans", [activityTime("ts"), activityTime(ownEnd)]),
      records("logs", [activityTime("ts")]),
    ].join("\nUNION ALL\n"),
    params,
  };
}

/** When a record that names `time` was active, as the views that fill session_activity have it. */
function activityTime(time: string): string {
  const late = `${time} > received + ${aheadSeconds}`;
  return `if(${late} OR toUnixTimestamp64Nano(${time}) <= 0, toDateTime64(received, 9, 'UTC'), ${time})`;
}
