import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { TelemetryReader } from "../../../telemetry/contract.ts";
import { defineRoute } from "../../http/define-route.ts";
import { timeRange } from "../../http/rules.ts";
import { timestamp } from "../../http/schemas.ts";
import { unixNano } from "../../http/timestamp.ts";
import { readPatterns } from "./read.ts";
import { trends } from "./trend.ts";

const LogPattern = Type.Object(
  {
    pattern_id: Type.String({ description: "The same wherever and whenever the template is found" }),
    template: Type.String({ description: "`<*>` stands for what varies" }),
    sample: Type.String({ description: "The body of the newest record, up to 8,192 characters of it" }),
    count: Type.Integer({ minimum: 0 }),
    first_seen: timestamp(),
    last_seen: timestamp(),
    trend: Type.Enum([...trends], {
      description:
        "`new`: first seen in the last quarter of the time range, and never before the range. `spike`: the last of 24 parts " +
        "of the range has over three standard deviations more than the mean of the others, and three times that mean. " +
        "`increasing`, `decreasing`: the second half has half as many again as the first, or the other way round.",
    }),
    severity_distribution: Type.Array(
      Type.Object({
        severity: Type.Integer({ minimum: 0, maximum: 24 }),
        severity_text: Type.String(),
        count: Type.Integer({ minimum: 0 }),
        percentage: Type.Number({ minimum: 0, maximum: 100 }),
      }),
    ),
  },
  { $id: "LogPattern" },
);

const dayNanos = 86_400_000_000_000n;

/** Adds `GET /api/v1/logs/patterns`. `now` is in Unix milliseconds. */
export function patternRoutes(app: FastifyInstance, reader: TelemetryReader, now: () => number = Date.now): void {
  defineRoute(app, {
    method: "GET",
    path: "/logs/patterns",
    tag: "Logs",
    summary: "List the patterns of log messages",
    description:
      "Groups messages that differ only in what varies (numbers, ids, names, …). Every record of the time range is " +
      "counted; without `startTime` the range is the 24 hours before `endTime`, without either the last 24 hours. " +
      "The most frequent pattern comes first.",
    query: {
      serviceName: Type.Optional(Type.String()),
      startTime: Type.Optional(timestamp("Inclusive")),
      endTime: Type.Optional(timestamp("Exclusive")),
      minCount: Type.Integer({ minimum: 1, default: 1, description: "Leaves out patterns with fewer records" }),
    },
    rules: [timeRange("startTime", "endTime")],
    response: Type.Array(LogPattern),
    example: [examplePattern],
    async handler({ query, access, signal }) {
      const end = query.endTime === undefined ? BigInt(now()) * 1_000_000n : unixNano(query.endTime);
      const start = query.startTime === undefined ? end - dayNanos : unixNano(query.startTime);
      if (start >= end || end <= 0n) return [];
      const patterns = await readPatterns(
        reader,
        { workspace: access.workspace, serviceName: query.serviceName, start: start < 0n ? 0n : start, end },
        signal,
      );
      return patterns.filter(({ count }) => count >= query.minCount);
    },
  });
}

const examplePattern = {
  pattern_id: "0d6c1f2b9a7e4835",
  template: "payment provider timed out after <*>",
  sample: "payment provider timed out after 3000 ms",
  count: 412,
  first_seen: "2025-11-20T09:12:04.000000000Z",
  last_seen: "2025-11-20T09:59:58.123456789Z",
  trend: "increasing" as const,
  severity_distribution: [{ severity: 17, severity_text: "ERROR", count: 412, percentage: 100 }],
};
