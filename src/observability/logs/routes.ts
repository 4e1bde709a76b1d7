import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { int64Key, makeJsonPage, uint64Key } from "../http/paging.ts";
import type { CursorKey } from "../http/paging.ts";
import { ordered, timeRange } from "../http/rules.ts";
import type { Rule } from "../http/rules.ts";
import { pageOf, pageParameters, timestamp, traceId } from "../http/schemas.ts";
import { unixNano } from "../http/timestamp.ts";
import { maxQueryLength, parseQuery } from "./query-language.ts";
import { logOrders, readLogs } from "./read.ts";
import { LogRecord } from "./record-schema.ts";

/** Adds `GET /api/v1/logs`. */
export function logRoutes(app: FastifyInstance, reader: TelemetryReader): void {
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
    rules: [timeRange("startTime", "endTime"), ordered("severityMin", "severityMax"), validQuery],
    cursorKeys: [severityKey, int64Key, uint64Key],
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

const severityKey: CursorKey = (text) => /^(?:[0-9]|1[0-9]|2[0-4])$/.test(text);

const validQuery: Rule = ({ query: { query } }) => {
  if (typeof query !== "string") return undefined;
  const parsed = parseQuery(query);
  return parsed.ok
    ? undefined
    : { field: "query", code: "query.invalid", message: parsed.message, rejected_value: query };
};

const exampleRecord = {
  time_unix_nano: 1_763_632_800_000_000_000n,
  observed_time_unix_nano: 1_763_632_800_000_412_000n,
  severity_number: 17,
  severity_text: "ERROR",
  body: { string_value: "payment provider timed out after 3000 ms" },
  resource: { "service.name": "checkout", "service.version": "2.4.1", attributes: [], dropped_attributes_count: 0 },
  attributes: [{ key: "http.route", value: "/cart/checkout" }],
  dropped_attributes_count: 0,
  flags: 1,
  trace_id: "5b8efff798038103d269b633813fc60c",
  span_id: "eee19b7ec3c1b174",
  instrumentation_scope: { name: "checkout.payments", attributes: [], dropped_attributes_count: 0 },
};
