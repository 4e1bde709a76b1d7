import type { FastifyInstance } from "fastify";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { hexKey, int64Key, makeJsonPage, uint64Key } from "../http/paging.ts";
import { NotFoundProblem } from "../http/problem.ts";
import { pageOf, pageParameters, traceId } from "../http/schemas.ts";
import { readSpans, traceExists } from "./read.ts";
import { Span } from "./span-schema.ts";

/** Adds `GET /api/v1/traces/{traceId}/spans`, which answers under `/v1` too. */
export function traceRoutes(app: FastifyInstance, reader: TelemetryReader): void {
  defineRoute(app, {
    method: "GET",
    path: "/traces/:traceId/spans",
    alsoUnder: "/v1",
    tag: "Traces",
    summary: "List the spans of a trace",
    description: "Ordered by start, then by span id.",
    params: { traceId: traceId() },
    query: pageParameters(1000, 100),
    cursorKeys: [int64Key, hexKey(16), uint64Key],
    response: pageOf(Span),
    errors: [404],
    example: { items: [exampleSpan], has_more: false, next_cursor: null, prev_cursor: null },
    async handler({ params, page, access, signal }) {
      const rows = await readSpans(reader, access.workspace, params.traceId, page, signal);
      if (rows.length === 0 && !(await traceExists(reader, access.workspace, params.traceId, signal))) {
        throw new NotFoundProblem("trace", params.traceId);
      }
      return makeJsonPage(page, rows);
    },
  });
}

const exampleSpan = {
  span_id: "eee19b7ec3c1b174",
  trace_id: "5b8efff798038103d269b633813fc60c",
  parent_span_id: "b7ad6b7169203331",
  name: "POST /cart/checkout",
  kind: 2,
  start_time_unix_nano: 1_763_632_800_000_000_000n,
  end_time_unix_nano: 1_763_632_803_000_412_000n,
  status: { code: 2, message: "payment provider timed out" },
  resource: { "service.name": "checkout", "service.version": "2.4.1", attributes: [], dropped_attributes_count: 0 },
  attributes: [{ key: "http.route", value: "/cart/checkout" }],
  dropped_attributes_count: 0,
  events: [],
  dropped_events_count: 0,
  links: [],
  dropped_links_count: 0,
  flags: 1,
  instrumentation_scope: { name: "checkout.http", attributes: [], dropped_attributes_count: 0 },
};
