import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { timeRange } from "../http/rules.ts";
import { int64, timestamp } from "../http/schemas.ts";
import { readLogStats, severities } from "./stats.ts";
import { windowOf } from "./window.ts";

const LogStats = Type.Object(
  {
    total_count: int64(),
    by_severity: Type.Array(
      Type.Object({
        severity: Type.Enum([...severities]),
        count: int64(),
        percentage: Type.Number({ minimum: 0, maximum: 100 }),
      }),
      { description: "From the least severe on; those that no record has are left out" },
    ),
    by_service: Type.Array(
      Type.Object({
        dimension: Type.String({ description: "The name of the service" }),
        count: int64(),
        error_count: int64("At ERROR or above"),
      }),
      { description: "Most records first" },
    ),
    logs_per_second: Type.Number({ minimum: 0, description: "The total by the seconds of the window" }),
    error_rate: Type.Number({ minimum: 0, maximum: 1, description: "The share of records at ERROR or above" }),
  },
  { $id: "LogStats" },
);

/** Adds `GET /api/v1/logs/stats`. */
export function statsRoute(app: FastifyInstance, reader: TelemetryReader, now: () => number): void {
  defineRoute(app, {
    method: "GET",
    path: "/logs/stats",
    tag: "Logs",
    summary: "Count log records by severity and service",
    description:
      "Counts are exact. Without times it is the last 24 hours; with `endTime` alone, the 24 hours before it.",
    query: {
      serviceName: Type.Optional(Type.String()),
      startTime: Type.Optional(timestamp("Inclusive")),
      endTime: Type.Optional(timestamp("Exclusive")),
    },
    rules: [timeRange("startTime", "endTime")],
    response: LogStats,
    example: {
      total_count: 172_800,
      by_severity: [
        { severity: "INFO", count: 171_072, percentage: 99 },
        { severity: "ERROR", count: 1_728, percentage: 1 },
      ],
      by_service: [{ dimension: "checkout", count: 172_800, error_count: 1_728 }],
      logs_per_second: 2,
      error_rate: 0.01,
    },
    handler({ query: { serviceName, startTime, endTime }, access, signal }) {
      const window = windowOf(startTime, endTime, now());
      return readLogStats(reader, { workspace: access.workspace, serviceName, window }, signal);
    },
  });
}
