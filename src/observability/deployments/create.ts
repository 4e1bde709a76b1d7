import { v7 } from "uuid";
import { QueryTimeout, StoreUnavailable } from "../../core/errors.ts";
import type { StateStore } from "../../state/store.ts";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import type { DeploymentRow } from "./deployment-schema.ts";
import { isSemver } from "./semver.ts";

export interface DeploymentRequest {
  readonly service_name: string;
  readonly service_version: string;
  readonly environment: string;
  readonly strategy: string;
  readonly deployed_by?: string;
  readonly git_commit?: string;
  readonly git_branch?: string;
}

export interface DeploymentStores {
  readonly state: Pick<StateStore, "db" | "driver">;
  readonly reader: TelemetryReader;
}

/**
 * Stores a new deployment, `pending` and begun `now` (Unix milliseconds). Where telemetry cannot be read at the moment
 * and would have told the previous version, `onBlind` is called and it has none: a pipeline should not fail for that.
 */
export async function createDeployment(
  { state, reader }: DeploymentStores,
  workspace: string,
  request: DeploymentRequest,
  now: number,
  onBlind: (error: Error) => void,
): Promise<DeploymentRow> {
  const previous =
    (await versionByDeployments(state, workspace, request)) ??
    (await versionByTelemetry(reader, workspace, request).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable || error instanceof QueryTimeout)) throw error;
      onBlind(error);
      return undefined;
    }));
  return state.db
    .insertInto("deployments")
    .values({
      id: v7(),
      workspace,
      service_name: request.service_name,
      service_version: request.service_version,
      environment: request.environment,
      status: "pending",
      strategy: request.strategy,
      start_time: now,
      deployed_by: request.deployed_by ?? null,
      git_commit: request.git_commit ?? null,
      git_branch: request.git_branch ?? null,
      previous_version: previous ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * The version that the newest deployment of the service in the environment left there. Failed and cancelled ones left
 * what there was before; one that was rolled back left its target, or, where that is no version, what it replaced.
 */
async function versionByDeployments(
  { db }: Pick<StateStore, "db">,
  workspace: string,
  { service_name, environment }: DeploymentRequest,
): Promise<string | undefined> {
  const last = await db
    .selectFrom("deployments")
    .select(["status", "service_version", "rollback_target", "previous_version"])
    .where("workspace", "=", workspace)
    .where("service_name", "=", service_name)
    .where("environment", "=", environment)
    .where("status", "not in", ["failed", "cancelled"])
    .orderBy("start_time", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (last === undefined) return undefined;
  if (last.status !== "rolled_back") return last.service_version;
  const { rollback_target: target, previous_version } = last;
  return target !== null && isSemver(target) ? target : (previous_version ?? undefined);
}

/**
 * The version last seen in telemetry, other than the new one, which may have begun to send before it is recorded.
 * Undefined where that is no semantic version: an older one that is would be wrong.
 */
async function versionByTelemetry(
  reader: TelemetryReader,
  workspace: string,
  { service_name, service_version, environment }: DeploymentRequest,
): Promise<string | undefined> {
  const rows = await reader.rows<{ version: string }>({
    sql: `
SELECT argMax(service_version, (last_seen, service_version)) AS version
FROM service_activity
WHERE workspace = {workspace:String} AND service_name = {service:String} AND environment = {environment:String}
  AND service_version NOT IN ('', {version:String})`,
    params: { workspace, service: service_name, environment, version: service_version },
  });
  const version = rows[0]?.version ?? "";
  return isSemver(version) ? version : undefined;
}
