import { setImmediate as nextTurn } from "node:timers/promises";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { deviceOf } from "./device-type.ts";
import type { DeviceType } from "./device-type.ts";
import { activeMs } from "./read-sessions.ts";
import { sessionsIn } from "./window.ts";
import type { SessionWindow } from "./window.ts";

export interface SessionStats {
  readonly active_sessions: number;
  readonly total_sessions: number;
  readonly unique_users: number;
  readonly avg_duration_ms: number;
  readonly sessions_with_errors: number;
  readonly sessions_with_genai: number;
  /** 0 to 1. */
  readonly bounce_rate: number;
  /** By count, the largest first. Percentages are 0 to 100. */
  readonly by_device_type: { readonly device_type: DeviceType; readonly count: number; readonly percentage: number }[];
  readonly by_country: {
    readonly country_code: string;
    readonly country_name: string;
    readonly count: number;
    readonly percentage: number;
  }[];
}

/** What the sessions of a country come to. */
interface CountryRow {
  readonly code: string;
  readonly sessions: number;
  readonly active: number;
  /** Their durations together: nanoseconds, in decimal. */
  readonly duration: string;
  readonly with_errors: number;
  readonly with_genai: number;
  readonly bounced: number;
}

const countryNames = new Intl.DisplayNames(["en"], { type: "region" });
/** User agents that are parsed before other requests have their turn: about a millisecond's worth. */
const agentsAtOnce = 50;

/**
 * Statistics of the sessions with any activity in the window, each of them taken as a whole. `now` is in Unix
 * milliseconds.
 */
export async function readSessionStats(
  reader: TelemetryReader,
  workspace: string,
  window: SessionWindow,
  now: number,
  signal?: AbortSignal,
): Promise<SessionStats> {
  const inWindow = sessionsIn(window);
  const params = { ...inWindow.params, workspace, active_after: now - activeMs };
  // Read first and by itself, so that the wide columns of sessions of other days are not read at all.
  const source = `
FROM session_activity
PREWHERE session_hash GLOBAL IN (${inWindow.sql})
WHERE workspace = {workspace:String}`;
  // Three queries that each read their own columns, side by side.
  const [countries, devices, users] = await Promise.all([
    reader.rows<CountryRow>({ sql: countriesSql(source), params, signal }),
    reader.rows<{ named: string; sessions: number }>({ sql: devicesSql(source), params, signal }),
    reader.rows<{ users: number }>({ sql: `SELECT uniqExactArray(users) AS users ${source}`, params, signal }),
  ]);
  const sum = (of: (row: CountryRow) => number) => countries.reduce((total, row) => total + of(row), 0);
  const total = sum((row) => row.sessions);
  const duration = countries.reduce((all, row) => all + BigInt(row.duration), 0n);
  return {
    active_sessions: sum((row) => row.active),
    total_sessions: total,
    unique_users: users[0]?.users ?? 0,
    avg_duration_ms: total === 0 ? 0 : Number(duration) / 1e6 / total,
    sessions_with_errors: sum((row) => row.with_errors),
    sessions_with_genai: sum((row) => row.with_genai),
    bounce_rate: total === 0 ? 0 : sum((row) => row.bounced) / total,
    by_device_type: shares(await countDevices(devices)).map(({ value, ...share }) => ({
      device_type: value,
      ...share,
    })),
    by_country: shares(new Map(countries.map(({ code, sessions }) => [code, sessions]))).map(({ value, ...share }) => ({
      country_code: value,
      country_name: countryNames.of(value) ?? value,
      ...share,
    })),
  };
}

function countriesSql(source: string): string {
  return `
SELECT
  if(named_country = '', 'ZZ', named_country) AS code,
  count() AS sessions,
  countIf(last > fromUnixTimestamp64Milli({active_after:Int64}, 'UTC')) AS active,
  toString(sum(toInt128(toUnixTimestamp64Nano(last) - toUnixTimestamp64Nano(first)))) AS duration,
  countIf(error_count > 0) AS with_errors,
  countIf(has_genai > 0) AS with_genai,
  -- The pages' hashes are all one, or there are none: cheaper than to count them.
  countIf(least_page = greatest_page AND (greatest_page > 0 OR root_count <= 1)) AS bounced
FROM (
  SELECT
    substring(min(country), 20) AS named_country, min(first_seen) AS first, max(last_seen) AS last,
    sum(errors) AS error_count, max(genai) AS has_genai, sum(root_spans) AS root_count,
    minArray(pages) AS least_page, maxArray(pages) AS greatest_page
  ${source}
  GROUP BY session_hash
)
GROUP BY code`;
}

function devicesSql(source: string): string {
  return `
SELECT concat(left(first_device, 1), substring(first_device, 21)) AS named, count() AS sessions
FROM (SELECT min(device) AS first_device ${source} GROUP BY session_hash)
GROUP BY named`;
}

async function countDevices(rows: readonly { named: string; sessions: number }[]): Promise<Map<DeviceType, number>> {
  const counts = new Map<DeviceType, number>();
  for (const [i, { named, sessions }] of rows.entries()) {
    if (i % agentsAtOnce === agentsAtOnce - 1) await nextTurn();
    const type = deviceOf(named);
    counts.set(type, (counts.get(type) ?? 0) + sessions);
  }
  return counts;
}

function shares<T extends string>(counts: ReadonlyMap<T, number>): { value: T; count: number; percentage: number }[] {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts]
    .map(([value, count]) => ({ value, count, percentage: (100 * count) / total }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}
