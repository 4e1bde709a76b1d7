import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { Type } from "typebox";
import { QueryTimeout, StoreUnavailable } from "../../core/errors.ts";
import { defineRoute } from "../http/define-route.ts";
import { makePage } from "../http/paging.ts";
import { NotFoundProblem } from "../http/problem.ts";
import { timeRange } from "../http/rules.ts";
import { closed, pageOf, pageParameters, timestamp } from "../http/schemas.ts";
import { changeDeployment } from "./change.ts";
import { createDeployment } from "./create.ts";
import type { DeploymentStores } from "./create.ts";
import {
  changeFields,
  Deployment,
  deploymentRecord,
  environmentSchema,
  requestFields,
  statusSchema,
  textSchema,
} from "./deployment-schema.ts";
import { doraRoute } from "./dora-route.ts";
import { followTelemetry } from "./progress.ts";
import type { ProgressScope } from "./progress.ts";
import { deploymentKeys, isDeploymentId, readDeployment, readDeployments } from "./read.ts";

const tag = "Deployments";
const params = { deploymentId: Type.String() };

/**
 * Adds `POST /api/v1/deployments` (under `/v1` too), `GET /api/v1/deployments`, `GET` and `PATCH
 * /api/v1/deployments/{deploymentId}` and `GET /api/v1/deployments/metrics/dora`.
 */
export function deploymentRoutes(
  app: FastifyInstance,
  { now = Date.now, ...stores }: DeploymentStores & { readonly now?: () => number },
): void {
  const { state } = stores;

  /** Telemetry that is away does not keep anybody from what is stored. */
  async function follow(scope: ProgressScope, log: FastifyBaseLogger, signal: AbortSignal): Promise<void> {
    try {
      await followTelemetry(stores, scope, now(), signal);
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof QueryTimeout)) throw error;
      log.debug({ err: error }, "deployments could not be followed in telemetry");
    }
  }

  defineRoute(app, {
    method: "POST",
    path: "/deployments",
    alsoUnder: "/v1",
    tag,
    summary: "Record a deployment",
    description:
      "It begins now, as `pending`. `previous_version` is what the newest deployment of the service in the environment " +
      "left there, whatever was failed or cancelled aside, else the version last seen in its telemetry.",
    body: closed(requestFields),
    bodyExample: {
      service_name: "checkout",
      service_version: "2.5.0+build.7",
      environment: "production",
      strategy: "rolling",
      deployed_by: "ci",
      git_commit: "9fceb02d0ae598e95dc970b74767f19372d61af8",
      git_branch: "main",
    },
    response: Deployment,
    example: exampleDeployment,
    async handler({ body, access, log }) {
      const blind = (error: Error) => log.warn({ err: error }, "the previous version is not known: telemetry is away");
      return deploymentRecord(await createDeployment(stores, access.workspace, body, now(), blind));
    },
  });

  defineRoute(app, {
    method: "GET",
    path: "/deployments",
    tag,
    summary: "List deployments",
    description: "Ordered by start, the newest first. `startTime` and `endTime` filter `start_time`.",
    query: {
      serviceName: Type.Optional(textSchema({ maxLength: 255 })),
      environment: Type.Optional(environmentSchema()),
      status: Type.Optional(statusSchema()),
      startTime: Type.Optional(timestamp("Inclusive")),
      endTime: Type.Optional(timestamp("Exclusive")),
      ...pageParameters(1000, 100),
    },
    rules: [timeRange("startTime", "endTime")],
    cursorKeys: [(text) => /^\d{1,15}$/.test(text), isDeploymentId],
    response: pageOf(Deployment),
    example: { items: [exampleDeployment], has_more: false, next_cursor: null, prev_cursor: null },
    async handler({ query, page, access, log, signal }) {
      const { serviceName, environment, status, startTime, endTime } = query;
      const filter = { workspace: access.workspace, serviceName, environment, status, startTime, endTime };
      await follow({ workspace: access.workspace, serviceName, environment }, log, signal);
      const rows = await readDeployments(state, filter, page);
      const { items, ...rest } = makePage(page, rows, deploymentKeys);
      return { items: items.map(deploymentRecord), ...rest };
    },
  });

  defineRoute(app, {
    method: "GET",
    path: "/deployments/:deploymentId",
    tag,
    summary: "Read a deployment",
    params,
    response: Deployment,
    errors: [404],
    example: exampleDeployment,
    async handler({ params: { deploymentId }, access, log, signal }) {
      if (!isDeploymentId(deploymentId)) throw new NotFoundProblem("deployment", deploymentId);
      await follow({ workspace: access.workspace, id: deploymentId }, log, signal);
      const row = await readDeployment(state, access.workspace, deploymentId);
      if (row === undefined) throw new NotFoundProblem("deployment", deploymentId);
      return deploymentRecord(row);
    },
  });

  defineRoute(app, {
    method: "PATCH",
    path: "/deployments/:deploymentId",
    tag,
    summary: "Move a deployment on",
    description:
      "From `pending` to `in_progress`, `success`, `failed`, `cancelled`; from `in_progress` to `success`, `failed`, " +
      "`rolled_back`, `cancelled`; from `success` and `failed` to `rolled_back`. The status that it has succeeds and changes " +
      "nothing. All but `pending` and `in_progress` set `end_time` and `duration_s`. A deployment that is rolled back " +
      "without a `rollback_target` has its `previous_version` as such.",
    params,
    body: Type.Object(changeFields, { additionalProperties: false, minProperties: 1 }),
    bodyExample: { status: "success", replica_count: 3 },
    response: Deployment,
    errors: [404],
    example: { ...exampleDeployment, status: "success", end_time: "2026-11-20T10:04:12.500Z", duration_s: 252.5 },
    async handler({ params: { deploymentId }, body, access, log, signal }) {
      if (!isDeploymentId(deploymentId)) throw new NotFoundProblem("deployment", deploymentId);
      // Whether it may be rolled back may depend on what telemetry has shown since the last look.
      await follow({ workspace: access.workspace, id: deploymentId }, log, signal);
      const row = await changeDeployment(state, access.workspace, deploymentId, body, now());
      if (row === undefined) throw new NotFoundProblem("deployment", deploymentId);
      return deploymentRecord(row);
    },
  });

  doraRoute(app, state, now);
}

const exampleDeployment = {
  "deployment.id": "01939f5e-8a00-7cc3-9d6e-2f1b7a4c5e60",
  "service.name": "checkout",
  "service.version": "2.5.0+build.7",
  environment: "production",
  status: "in_progress",
  strategy: "rolling",
  start_time: "2026-11-20T10:00:00.000Z",
  deployed_by: "ci",
  git_commit: "9fceb02d0ae598e95dc970b74767f19372d61af8",
  git_branch: "main",
  previous_version: "2.4.1",
  replica_count: 3,
  healthy_replicas: 2,
};
