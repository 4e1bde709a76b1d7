import type { FastifyInstance } from "fastify";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { hexKey, int64Key, makeJsonPage, uint64Key } from "../http/paging.ts";
import { NotFoundProblem } from "../http/problem.ts";
import { pageOf, pageParameters, traceId } from "../http/schemas.ts";
import { readTrace } from "./detail.ts";
import { exampleSpan, exampleTraceDetail } from "./examples.ts";
import { traceListRoutes } from "./list-routes.ts";
import { readSpans, traceExists } from "./read.ts";
import { Span } from "./span-schema.ts";
import { TraceDetail } from "./trace-schema.ts";

/**
 * Adds `GET /api/v1/traces`, `POST /api/v1/traces/search`, `GET /api/v1/traces/{traceId}` and its `/spans`, which answer
 * under `/v1` too.
 */
export function traceRoutes(app: FastifyInstance, reader: TelemetryReader): void {
  traceListRoutes(app, reader);

  defineRoute(app, {
    method: "GET",
    path: "/traces/:traceId",
    tag: "Traces",
    summary: "Read a trace without its spans",
    params: { traceId: traceId() },
    response: TraceDetail,
    errors: [404],
    example: exampleTraceDetail,
    async handler({ params, access, signal }) {
      const trace = await readTrace(reader, access.workspace, params.traceId, signal);
      if (!trace) throw new NotFoundProblem("trace", params.traceId);
      return trace;
    },
  });

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
      // Only a page that a cursor leads to may be empty. To ask of a first page too would answer an empty trace where one
      // is stored between the two reads.
      const found =
        rows.length > 0 || (page.continued && (await traceExists(reader, access.workspace, params.traceId, signal)));
      if (!found) throw new NotFoundProblem("trace", params.traceId);
      return makeJsonPage(page, rows);
    },
  });
}
