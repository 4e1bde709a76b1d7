import type { Updateable } from "kysely";
import type { DeploymentStatus, DeploymentsTable } from "../../state/schema.ts";
import type { StateStore } from "../../state/store.ts";
import { ValidationProblem } from "../http/problem.ts";
import type { DeploymentRow } from "./deployment-schema.ts";
import { isFinal, moves } from "./lifecycle.ts";

export interface DeploymentChange {
  readonly status?: DeploymentStatus;
  readonly replica_count?: number;
  readonly healthy_replicas?: number;
  readonly error_message?: string;
  readonly rollback_target?: string;
}

/**
 * Changes a deployment, `now` being Unix milliseconds, and resolves to it; undefined where there is none. Of several
 * moves that race each sees what the one before it made.
 *
 * @throws ValidationProblem (`transition.invalid`) where its status does not allow the move; nothing is changed then
 */
export async function changeDeployment(
  { db, driver }: Pick<StateStore, "db" | "driver">,
  workspace: string,
  id: string,
  change: DeploymentChange,
  now: number,
): Promise<DeploymentRow | undefined> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom("deployments")
      .selectAll()
      .where("id", "=", id)
      .where("workspace", "=", workspace)
      .$if(driver === "postgres", (query) => query.forUpdate())
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const update = updateOf(row, change, now);
    if (Object.keys(update).length === 0) return row;
    return trx.updateTable("deployments").set(update).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
  });
}

function updateOf(row: DeploymentRow, change: DeploymentChange, now: number): Updateable<DeploymentsTable> {
  const { status, ...rest } = change;
  if (status === undefined || status === row.status) return rest;
  const allowed = moves[row.status];
  if (!allowed.includes(status)) {
    const choice = allowed.length === 0 ? "to no other" : `to ${allowed.join(", ")}`;
    const message = `Cannot move from ${row.status} to ${status}; from ${row.status} it can move ${choice}.`;
    throw new ValidationProblem([{ field: "status", code: "transition.invalid", message, rejected_value: status }]);
  }
  return {
    ...rest,
    status,
    // The clock of the node that ends it may be behind that of the node that recorded it.
    ...(isFinal(status) && { end_time: Math.max(now, row.start_time) }),
    ...(status === "rolled_back" && {
      rollback_target: change.rollback_target ?? row.rollback_target ?? row.previous_version,
    }),
  };
}
