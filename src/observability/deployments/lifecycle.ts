import { sql } from "kysely";
import type { DeploymentStatus } from "../../state/schema.ts";

/** What someone may make of a deployment in each status; setting the status that it has is always allowed. */
export const moves: Readonly<Record<DeploymentStatus, readonly DeploymentStatus[]>> = {
  pending: ["in_progress", "success", "failed", "cancelled"],
  in_progress: ["success", "failed", "rolled_back", "cancelled"],
  success: ["rolled_back"],
  failed: ["rolled_back"],
  rolled_back: [],
  cancelled: [],
};

export const statuses = Object.keys(moves) as readonly DeploymentStatus[];

/** Whether the deployment is over; it may still be rolled back. */
export function isFinal(status: DeploymentStatus): boolean {
  return status !== "pending" && status !== "in_progress";
}

/** The condition of the index over deployments that are not over, word for word: SQLite uses the index for no other. */
export const isOpen = sql<boolean>`status in ('pending', 'in_progress')`;
