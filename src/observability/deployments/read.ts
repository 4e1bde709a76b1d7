import type { ExpressionBuilder } from "kysely";
import type { DeploymentStatus, StateSchema } from "../../state/schema.ts";
import type { StateStore } from "../../state/store.ts";
import type { PageRequest } from "../http/paging.ts";
import { unixNano } from "../http/timestamp.ts";
import type { DeploymentRow } from "./deployment-schema.ts";

export interface DeploymentFilter {
  readonly workspace: string;
  readonly serviceName?: string;
  readonly environment?: string;
  readonly status?: DeploymentStatus;
  /** RFC 3339, of `start_time`; inclusive and exclusive. */
  readonly startTime?: string;
  readonly endTime?: string;
}

/**
 * Up to `limit + 1` deployments past the page's cursor, in the page's direction. The list's order is by start, the
 * newest first, then by id, the greatest first.
 */
export async function readDeployments(
  { db }: Pick<StateStore, "db">,
  filter: DeploymentFilter,
  page: PageRequest,
): Promise<DeploymentRow[]> {
  const direction = page.direction === "prev" ? "asc" : "desc";
  const keys = page.keys;
  return db
    .selectFrom("deployments")
    .selectAll()
    .where((where) => matches(where, filter))
    .$if(keys !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("start_time", "id"), direction === "asc" ? ">" : "<", tuple(Number(keys![0]), keys![1]!)),
      ),
    )
    .orderBy("start_time", direction)
    .orderBy("id", direction)
    .limit(page.limit + 1)
    .execute();
}

/** The keys of the list's order. */
export function deploymentKeys({ start_time, id }: DeploymentRow): [string, string] {
  return [String(start_time), id];
}

/** Whether `text` is the id of a deployment that there may be. */
export function isDeploymentId(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

export async function readDeployment(
  { db }: Pick<StateStore, "db">,
  workspace: string,
  id: string,
): Promise<DeploymentRow | undefined> {
  return db
    .selectFrom("deployments")
    .selectAll()
    .where("id", "=", id)
    .where("workspace", "=", workspace)
    .executeTakeFirst();
}

/** The condition that `filter` is. */
export function matches(where: ExpressionBuilder<StateSchema, "deployments">, filter: DeploymentFilter) {
  const { workspace, serviceName, environment, status, startTime, endTime } = filter;
  const conditions = [where("workspace", "=", workspace)];
  if (serviceName !== undefined) conditions.push(where("service_name", "=", serviceName));
  if (environment !== undefined) conditions.push(where("environment", "=", environment));
  if (status !== undefined) conditions.push(where("status", "=", status));
  if (startTime !== undefined) conditions.push(where("start_time", ">=", unixMilli(startTime)));
  if (endTime !== undefined) conditions.push(where("start_time", "<", unixMilli(endTime)));
  return where.and(conditions);
}

/** The first millisecond since 1970 that is not before a date-time that validation has let through. */
export function unixMilli(time: string): number {
  const nanos = unixNano(time);
  const million = 1_000_000n;
  // Division cuts towards zero, which for a negative number is up already.
  return Number(nanos > 0n ? (nanos + million - 1n) / million : nanos / million);
}
