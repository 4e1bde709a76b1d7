import type { PageRequest } from "../http/paging.ts";
import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";
import { deviceOf } from "./device-type.ts";
import type { DeviceType } from "./device-type.ts";
import { completeFrom, firstDayFor, sessionsIn } from "./window.ts";
import type { SessionWindow } from "./window.ts";

/** A session is active while its last activity is less than this many milliseconds ago. */
export const activeMs = 30 * 60_000;

export interface Session {
  readonly session_id: string;
  readonly user_id: string | null;
  /** RFC 3339, UTC, nanoseconds. */
  readonly start_time: string;
  readonly end_time: string;
  readonly duration_ms: number;
  readonly is_active: boolean;
  readonly trace_count: number;
  readonly span_count: number;
  readonly log_count: number;
  readonly error_count: number;
  readonly page_count: number;
  readonly device_type: DeviceType;
  readonly country_code: string;
  readonly services: string[];
  readonly has_genai: boolean;
}

export interface SessionFilter {
  readonly workspace: string;
  /** Sessions in which this user was named. */
  readonly userId?: string;
  readonly isActive?: boolean;
  readonly window: SessionWindow;
}

/** Where a session stands in the list. */
export interface SessionPlace {
  readonly session_id: string;
  /** Its last activity, Unix nanoseconds in decimal. */
  readonly last: string;
  /** Of its id, in decimal. */
  readonly hash: string;
}

/**
 * Where up to `limit + 1` sessions past the page's cursor stand, in the page's direction: by last activity descending,
 * then by id. `now` is in Unix milliseconds.
 */
export async function readPlaces(
  reader: TelemetryReader,
  filter: SessionFilter,
  page: PageRequest,
  now: number,
  signal?: AbortSignal,
): Promise<SessionPlace[]> {
  const { keys, limit, direction } = page;
  const backward = direction === "prev";
  const { sql, params } = placesQuery(filter, keys as readonly [string, string] | undefined, backward, now);
  const read = (since: string) =>
    reader.rows<SessionPlace>({ sql, params: { ...params, since, limit: limit + 1 }, signal });

  const { start } = filter.window;
  const bounds = [start ?? 0n, filter.isActive ? BigInt(now - activeMs) * 1_000_000n : 0n];
  if (backward && keys) bounds.push(BigInt(keys[0]!));
  // Days of arrival before this one have no session of the list, or none on this side of the cursor.
  const earliest = firstDayFor(bounds.reduce((a, b) => (a > b ? a : b)));
  if (!backward) {
    // The list begins with the newest, so that most pages are found in a day or a week of a store that has months.
    const from = keys ? BigInt(keys[0]!) : BigInt(now) * 1_000_000n;
    for (const days of [0n, 7n]) {
      const since = firstDayFor(from - days * 86_400_000_000_000n);
      if (since <= earliest) break;
      const places = await read(since);
      const last = places[limit];
      if (last && BigInt(last.last) >= completeFrom(since)) return places;
    }
  }
  return read(earliest);
}

/** The query of `readPlaces`, but for the parameters `since` (the first day of arrival to read) and `limit`. */
function placesQuery(
  { workspace, userId, isActive, window }: SessionFilter,
  keys: readonly [string, string] | undefined,
  backward: boolean,
  now: number,
): { sql: string; params: Record<string, ParamValue> } {
  const params: Record<string, ParamValue> = { workspace };
  const where = ["workspace = {workspace:String}", "day >= {since:Date}"];
  const having: string[] = [];
  if (window.start !== undefined || window.end !== undefined) {
    const inWindow = sessionsIn(window);
    where.push(`session_hash GLOBAL IN (${inWindow.sql})`);
    Object.assign(params, inWindow.params);
  }
  if (userId !== undefined) {
    where.push(
      "session_hash GLOBAL IN (SELECT session_hash FROM session_activity " +
        "WHERE workspace = {workspace:String} AND has(users, {user_id:String}))",
    );
    params["user_id"] = userId;
  }
  if (isActive !== undefined) {
    having.push(`max(last_seen) ${isActive ? ">" : "<="} fromUnixTimestamp64Milli({active_after:Int64}, 'UTC')`);
    params["active_after"] = now - activeMs;
  }
  if (keys) {
    const past = "fromUnixTimestamp64Nano({past_last:Int64}, 'UTC')";
    const [time, id] = backward ? [">", "<"] : ["<", ">"];
    having.push(
      `(max(last_seen) ${time} ${past} OR (max(last_seen) = ${past} AND session_id ${id} {past_session:String}))`,
    );
    [params["past_last"], params["past_session"]] = keys;
  }
  const [byTime, byId] = backward ? ["ASC", "DESC"] : ["DESC", "ASC"];
  const sql = `
SELECT session_id, toString(toUnixTimestamp64Nano(max(last_seen))) AS last, toString(any(session_hash)) AS hash
FROM session_activity
WHERE ${where.join(" AND ")}
GROUP BY session_id
${having.length > 0 ? `HAVING ${having.join(" AND ")}` : ""}
ORDER BY max(last_seen) ${byTime}, session_id ${byId}
LIMIT {limit:UInt32}`;
  return { sql, params };
}

interface Row {
  readonly id: string;
  readonly last_user: string;
  readonly start: string;
  readonly end: string;
  readonly duration_ms: number;
  readonly active: number;
  readonly trace_count: number;
  readonly span_count: number;
  readonly log_count: number;
  readonly error_count: number;
  readonly page_count: number;
  readonly named_device: string;
  readonly named_country: string;
  readonly service_names: string[];
  readonly has_genai: number;
}

/** The sessions of these hashes (of their ids, in decimal), by id. */
export async function readSessions(
  reader: TelemetryReader,
  workspace: string,
  hashes: readonly string[],
  now: number,
  signal?: AbortSignal,
): Promise<Map<string, Session>> {
  if (hashes.length === 0) return new Map();
  const params = { workspace, hashes: hashes.map(BigInt), active_after: now - activeMs };
  const sql = sessionsSql("PREWHERE session_hash IN {hashes:Array(UInt64)} WHERE workspace = {workspace:String}");
  const rows = await reader.rows<Row>({ sql, params, signal });
  return new Map(rows.map((row) => [row.id, sessionOf(row)]));
}

/** The session of that id; undefined where the store has no record of it. */
export async function readSession(
  reader: TelemetryReader,
  workspace: string,
  sessionId: string,
  now: number,
  signal?: AbortSignal,
): Promise<Session | undefined> {
  const params = { workspace, session: sessionId, active_after: now - activeMs };
  const sql = sessionsSql("WHERE workspace = {workspace:String} AND session_id = {session:String}");
  const [row] = await reader.rows<Row>({ sql, params, signal });
  return row && sessionOf(row);
}

/** As many as a row tells apart, so that the count does not depend on how many rows have been merged yet. */
const distinct = (column: string) => `least(uniqExactArray(${column}), 1000)`;

const timeText = (time: string) => `concat(replaceOne(toString(${time}), ' ', 'T'), 'Z')`;

function sessionsSql(condition: string): string {
  return `
SELECT
  session_id AS id,
  substring(max(user), 20) AS last_user,
  ${timeText("min(first_seen)")} AS start,
  ${timeText("max(last_seen)")} AS end,
  (toUnixTimestamp64Nano(max(last_seen)) - toUnixTimestamp64Nano(min(first_seen))) / 1000000 AS duration_ms,
  max(last_seen) > fromUnixTimestamp64Milli({active_after:Int64}, 'UTC') AS active,
  ${distinct("traces")} AS trace_count,
  sum(spans) AS span_count,
  sum(logs) AS log_count,
  sum(errors) AS error_count,
  if(uniqExactArray(pages) > 0, ${distinct("pages")}, sum(root_spans)) AS page_count,
  concat(left(min(device), 1), substring(min(device), 21)) AS named_device,
  substring(min(country), 20) AS named_country,
  arraySort(groupUniqArrayArray(services)) AS service_names,
  max(genai) AS has_genai
FROM session_activity
${condition}
GROUP BY session_id`;
}

function sessionOf(row: Row): Session {
  return {
    session_id: row.id,
    user_id: row.last_user === "" ? null : row.last_user,
    start_time: row.start,
    end_time: row.end,
    duration_ms: row.duration_ms,
    is_active: row.active === 1,
    trace_count: row.trace_count,
    span_count: row.span_count,
    log_count: row.log_count,
    error_count: row.error_count,
    page_count: row.page_count,
    device_type: deviceOf(row.named_device),
    country_code: row.named_country === "" ? "ZZ" : row.named_country,
    services: row.service_names,
    has_genai: row.has_genai === 1,
  };
}
