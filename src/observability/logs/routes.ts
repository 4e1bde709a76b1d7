import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { makeJsonPage } from "../http/paging.ts";
import { ordered, timeRange } from "../http/rules.ts";
import { pageOf, pageParameters, timestamp, traceId } from "../http/schemas.ts";
import { unixNano } from "../http/timestamp.ts";
import { aggregateRoute } from "./aggregate-route.ts";
import { maxQueryLength, parseQuery } from "./query-language.ts";
import { logCursorKeys, logOrders, readLogs } from "./read.ts";
import { exampleRecord, LogRecord } from "./record-schema.ts";
import { validQuery } from "./search-filter.ts";
import { searchRoute } from "./search-route.ts";
import { statsRoute } from "./stats-route.ts";

/** Adds the routes of log records. `now` is in Unix milliseconds. */
export function logRoutes(app: FastifyInstance, reader: TelemetryReader, now: () => number = Date.now): void {
  listRoute(app, reader);
  searchRoute(app, reader);
  aggregateRoute(app, reader, now);
  statsRoute(app, reader, now);
}

/** `GET /api/v1/logs` */
function listRoute(app: FastifyInstance, reader: TelemetryReader): void {
  defineRoute(app, {
    method: "GET",
    path: "/logs",
    tag: "Logs",
    summary: "Search log records",
    description:
      '`query` searches the body\'s text: words (whole, in any case, `*` at either end), `"a phrase"` (as it is), ' +
      "`key:value` (an attribute or resource attribute), `-` before any of them to leave its matches out. " +
      "A record matches when all terms do.",
    query: {
      serviceName: Type.Optional(Type.String()),
      severityMin: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 24,
          description: "From 1 on, records without a severity (0) are left out",
        }),
      ),
      severityMax: Type.Optional(Type.Integer({ minimum: 0, maximum: 24 })),
      traceId: Type.Optional(traceId()),
      startTime: Type.Optional(timestamp("Inclusive")),
      endTime: Type.Optional(timestamp("Exclusive")),
      query: Type.Optional(Type.String({ maxLength: maxQueryLength })),
      ...pageParameters(10_000, 100),
      orderBy: Type.Enum([...logOrders], {
        default: "timestamp_desc",
        description: "Records of one severity come newest first in both orders by severity",
      }),
    },
    rules: [timeRange("startTime", "endTime"), ordered("severityMin", "severityMax"), validQuery("query")],
    cursorKeys: logCursorKeys,
    response: pageOf(LogRecord),
    example: { items: [exampleRecord], has_more: false, next_cursor: null, prev_cursor: null },
    async handler({ query, page, access, signal }) {
      const terms = parseQuery(query.query ?? "");
      const filter = {
        workspace: access.workspace,
        serviceName: query.serviceName,
        severityMin: query.severityMin,
        severityMax: query.severityMax,
        traceId: query.traceId,
        start: query.startTime === undefined ? undefined : unixNano(query.startTime),
        end: query.endTime === undefined ? undefined : unixNano(query.endTime),
        query: terms.ok ? terms.terms : [],
      };
      return makeJsonPage(page, await readLogs(reader, filter, query.orderBy, page, signal));
    },
  });
}
