import type { PageRequest } from "../http/paging.ts";
import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";

export interface Service {
  readonly name: string;
  /** Null where the service has no namespace. */
  readonly namespace_name: string | null;
  /** The version last seen; absent where none ever was. */
  readonly version?: string;
  /**
   * Distinct instances of the last 24 hours. Where no telemetry says which instance it is from, they count as one:
   * something did send it.
   */
  readonly instance_count: number;
  /** RFC 3339, UTC, milliseconds. */
  readonly last_seen: string;
}

interface Row {
  readonly namespace: string;
  readonly name: string;
  readonly version: string;
  readonly instances: number;
  readonly seen: string;
}

/** Which services to list; `namespaceName` "" selects those without a namespace. */
export interface ServiceFilter {
  readonly namespaceName?: string;
  readonly name?: string;
}

/** Up to `limit + 1` services past the page's cursor, in the page's direction. `now` is in Unix milliseconds. */
export async function readServices(
  reader: TelemetryReader,
  workspace: string,
  filter: ServiceFilter,
  page: PageRequest,
  now: number,
  signal?: AbortSignal,
): Promise<Service[]> {
  const [direction, sign] = page.direction === "prev" ? ["DESC", "<"] : ["ASC", ">"];
  const params: Record<string, ParamValue> = {
    workspace,
    limit: page.limit + 1,
    day_ago: now - 24 * 3_600_000,
  };
  const where = ["workspace = {workspace:String}"];
  if (filter.namespaceName !== undefined) {
    where.push("service_namespace = {namespace:String}");
    params["namespace"] = filter.namespaceName;
  }
  if (filter.name !== undefined) {
    where.push("service_name = {name:String}");
    params["name"] = filter.name;
  }
  if (page.keys) {
    where.push(`(service_namespace, service_name) ${sign} ({past_namespace:String}, {past_name:String})`);
    [params["past_namespace"], params["past_name"]] = page.keys as [string, string];
  }
  const recent = "last_seen >= fromUnixTimestamp64Milli({day_ago:Int64}, 'UTC')";
  const sql = `
SELECT
  service_namespace AS namespace,
  service_name AS name,
  argMaxIf(service_version, (last_seen, service_version), service_version != '') AS version,
  greatest(uniqExactIf(service_instance, ${recent} AND service_instance != ''), toUInt64(countIf(${recent}) > 0)) AS instances,
  replaceOne(toString(toDateTime64(max(last_seen), 3, 'UTC')), ' ', 'T') || 'Z' AS seen
FROM service_activity
WHERE ${where.join(" AND ")}
GROUP BY service_namespace, service_name
ORDER BY service_namespace ${direction}, service_name ${direction}
LIMIT {limit:UInt32}`;
  const rows = await reader.rows<Row>({ sql, params, signal });
  return rows.map(({ namespace, name, version, instances, seen }) => ({
    name,
    namespace_name: namespace === "" ? null : namespace,
    ...(version !== "" && { version }),
    instance_count: instances,
    last_seen: seen,
  }));
}
