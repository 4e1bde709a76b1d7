import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { makeJsonPage } from "../http/paging.ts";
import { closed, pageOf, pageParameters } from "../http/schemas.ts";
import { logCursorKeys, logOrders, readLogs } from "./read.ts";
import { exampleRecord, LogRecord } from "./record-schema.ts";
import { refusingPatterns } from "./refused-pattern.ts";
import { searchFields, searchFilter, searchRules } from "./search-filter.ts";

/** Adds `POST /api/v1/logs/search`. */
export function searchRoute(app: FastifyInstance, reader: TelemetryReader): void {
  defineRoute(app, {
    method: "POST",
    path: "/logs/search",
    tag: "Logs",
    summary: "Search log records by their attributes too",
    description:
      "Like GET /logs, with filters on attributes of the record or of its resource. `neq`, `not_in` and `not_exists` " +
      "match all records that `eq`, `in` and `exists` do not, those without the attribute too; texts are compared case and " +
      "all, and `gt`, `gte`, `lt`, `lte` match values that read as numbers.",
    body: closed({
      ...searchFields,
      ...pageParameters(10_000, 100),
      order_by: Type.Enum([...logOrders], {
        default: "timestamp_desc",
        description: "Records of one severity come newest first in both orders by severity",
      }),
    }),
    rules: searchRules,
    cursorKeys: logCursorKeys,
    response: pageOf(LogRecord),
    bodyExample: {
      query: 'payment "timed out"',
      severity_min: 13,
      attribute_filters: [{ key: "http.response.status_code", operator: "gte", value: 500 }],
      limit: 20,
    },
    example: { items: [exampleRecord], has_more: false, next_cursor: null, prev_cursor: null },
    async handler({ body, page, access, signal }) {
      const filter = searchFilter(access.workspace, body);
      const rows = await refusingPatterns("attribute_filters", () =>
        readLogs(reader, filter, body.order_by, page, signal),
      );
      return makeJsonPage(page, rows);
    },
  });
}
