import type { Selectable } from "kysely";
import { Type } from "typebox";
import type { Static } from "typebox";
import type { DeploymentsTable } from "../../state/schema.ts";
import { timestamp } from "../http/schemas.ts";
import { statuses } from "./lifecycle.ts";
import { semverPattern } from "./semver.ts";

const environments = ["development", "testing", "staging", "production", "preview", "canary"] as const;
const strategies = ["rolling", "blue_green", "canary", "recreate", "ab_test", "shadow", "feature_flag"] as const;
const int32 = { minimum: 0, maximum: 2 ** 31 - 1 };

/** Text that both state databases can hold. `minLength` is 0 where it is not given. */
export function textSchema(limits: { readonly minLength?: number; readonly maxLength: number }, description?: string) {
  const what = description ? `${description}; without NUL` : "Without NUL";
  return Type.String({ ...limits, pattern: "^[^\\u0000]*$", description: what });
}

export const environmentSchema = () => Type.Enum([...environments]);
export const statusSchema = () => Type.Enum([...statuses]);

/** The fields that whoever deploys gives. */
export const requestFields = {
  service_name: textSchema({ minLength: 1, maxLength: 255 }, "As telemetry names it in service.name"),
  service_version: Type.String({
    maxLength: 255,
    pattern: semverPattern,
    description: "A semantic version, without a leading v",
  }),
  environment: environmentSchema(),
  strategy: Type.Enum([...strategies]),
  deployed_by: Type.Optional(textSchema({ maxLength: 255 })),
  git_commit: Type.Optional(textSchema({ maxLength: 255 }, "Commit SHA")),
  git_branch: Type.Optional(textSchema({ maxLength: 255 })),
};

/** The fields that can change afterwards. */
export const changeFields = {
  status: Type.Optional(statusSchema()),
  replica_count: Type.Optional(Type.Integer(int32)),
  healthy_replicas: Type.Optional(Type.Integer(int32)),
  error_message: Type.Optional(textSchema({ maxLength: 10_000 }, "Why it failed")),
  rollback_target: Type.Optional(textSchema({ minLength: 1, maxLength: 255 }, "The version that it is rolled back to")),
};

export const Deployment = Type.Object(
  {
    "deployment.id": Type.String(),
    "service.name": Type.String(),
    "service.version": Type.String({ description: "Semantic version" }),
    environment: environmentSchema(),
    status: statusSchema(),
    strategy: Type.Enum([...strategies]),
    start_time: timestamp("When it was recorded"),
    end_time: Type.Optional(timestamp("When it came to the final status that it has")),
    duration_s: Type.Optional(Type.Number({ minimum: 0, description: "From start_time to end_time" })),
    deployed_by: Type.Optional(Type.String()),
    git_commit: Type.Optional(Type.String()),
    git_branch: Type.Optional(Type.String()),
    previous_version: Type.Optional(Type.String({ description: "Semantic version" })),
    rollback_target: Type.Optional(Type.String({ description: "The version that it was rolled back to" })),
    replica_count: Type.Optional(Type.Integer({ ...int32, description: "As it was reported" })),
    healthy_replicas: Type.Optional(
      Type.Integer({
        ...int32,
        description: "As it was reported, else the instances of the version that sent telemetry within 5 minutes",
      }),
    ),
    error_message: Type.Optional(Type.String()),
  },
  { $id: "Deployment" },
);

export type DeploymentRecord = Static<typeof Deployment>;
export type DeploymentRow = Selectable<DeploymentsTable>;

/** The API's record of a stored deployment; what it does not have is left out. */
export function deploymentRecord(row: DeploymentRow): DeploymentRecord {
  const { start_time, end_time } = row;
  const optional = {
    end_time: end_time === null ? null : new Date(end_time).toISOString(),
    duration_s: end_time === null ? null : (end_time - start_time) / 1000,
    deployed_by: row.deployed_by,
    git_commit: row.git_commit,
    git_branch: row.git_branch,
    previous_version: row.previous_version,
    rollback_target: row.rollback_target,
    replica_count: row.replica_count,
    healthy_replicas: row.healthy_replicas ?? row.seen_replicas,
    error_message: row.error_message,
  };
  return {
    "deployment.id": row.id,
    "service.name": row.service_name,
    "service.version": row.service_version,
    // Validation let these through when they were stored.
    environment: row.environment as DeploymentRecord["environment"],
    status: row.status,
    strategy: row.strategy as DeploymentRecord["strategy"],
    start_time: new Date(start_time).toISOString(),
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)) as object),
  };
}
