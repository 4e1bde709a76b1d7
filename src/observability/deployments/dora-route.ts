import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { StateStore } from "../../state/store.ts";
import { defineRoute } from "../http/define-route.ts";
import { timeRange } from "../http/rules.ts";
import { nullable, timestamp } from "../http/schemas.ts";
import { environmentSchema, textSchema } from "./deployment-schema.ts";
import { levels } from "./dora-level.ts";
import { readDora } from "./dora.ts";

const DoraMetrics = Type.Object(
  {
    deployment_frequency: Type.Number({ minimum: 0, description: "Successful deployments a day" }),
    lead_time_hours: nullable(
      Type.Number({ minimum: 0, description: "Median time from start to end of the successful deployments" }),
    ),
    change_failure_rate: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: "Of the deployments that succeeded, failed or were rolled back, the share of the latter two",
      }),
    ),
    mttr_hours: nullable(
      Type.Number({
        minimum: 0,
        description:
          "Mean time from the end of one that failed or was rolled back to the next success of the service in the environment",
      }),
    ),
    performance_level: Type.Enum([...levels]),
  },
  { $id: "DoraMetrics" },
);

/** Adds `GET /api/v1/deployments/metrics/dora`. */
export function doraRoute(app: FastifyInstance, state: Pick<StateStore, "db">, now: () => number): void {
  defineRoute(app, {
    method: "GET",
    path: "/deployments/metrics/dora",
    tag: "Deployments",
    summary: "Measure delivery by DORA's four metrics",
    description:
      "Of the deployments that started in the time given; without times it is the last 30 days, with `endTime` alone the 30 " +
      "days before it. Lead time is measured from the start of the deployment: when its change was committed is not known " +
      "here, so that it is the last part of DORA's lead time, and a lower bound of it. What there is nothing to measure of " +
      "is null. `performance_level` is that of the weakest figure, by the clusters of DORA's report of 2023.",
    query: {
      serviceName: Type.Optional(textSchema({ maxLength: 255 })),
      environment: Type.Optional(environmentSchema()),
      startTime: Type.Optional(timestamp("Inclusive")),
      endTime: Type.Optional(timestamp("Exclusive")),
    },
    rules: [timeRange("startTime", "endTime")],
    response: DoraMetrics,
    example: {
      deployment_frequency: 1.4,
      lead_time_hours: 0.2,
      change_failure_rate: 0.0455,
      mttr_hours: 0.75,
      performance_level: "elite",
    },
    handler({ query: { serviceName, environment, startTime, endTime }, access }) {
      return readDora(state, { workspace: access.workspace, serviceName, environment, startTime, endTime }, now());
    },
  });
}
