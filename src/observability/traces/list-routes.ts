import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { hexKey, int64Key, makePage } from "../http/paging.ts";
import { ordered, timeRange } from "../http/rules.ts";
import type { Rule } from "../http/rules.ts";
import { closed, pageOf, pageParameters, timestamp } from "../http/schemas.ts";
import { unixNano } from "../http/timestamp.ts";
import { readTraces, traceKeys } from "./list.ts";
import { maxSearchLength, parseSearchText } from "./search-text.ts";
import { spanStatuses } from "./trace-filter.ts";
import { TraceSummary } from "./trace-schema.ts";
import { exampleTrace } from "./examples.ts";

/** Most tags of one search. */
const maxTags = 50;
const cursorKeys = [int64Key, hexKey(32)];
const example = { items: [exampleTrace], has_more: false, next_cursor: null, prev_cursor: null };

/** Adds `GET /api/v1/traces` and `POST /api/v1/traces/search`. */
export function traceListRoutes(app: FastifyInstance, reader: TelemetryReader): void {
  defineRoute(app, {
    method: "GET",
    path: "/traces",
    tag: "Traces",
    summary: "List traces",
    description:
      "Ordered by start, the newest first. A trace is listed when one of its spans is of the service and has the status; " +
      "start and duration are those of the whole trace.",
    query: {
      serviceName: Type.Optional(Type.String()),
      status: Type.Optional(status()),
      minDurationMs: Type.Optional(milliseconds()),
      maxDurationMs: Type.Optional(milliseconds()),
      startTime: Type.Optional(timestamp("Inclusive")),
      endTime: Type.Optional(timestamp("Exclusive")),
      ...pageParameters(1000, 100),
    },
    rules: [timeRange("startTime", "endTime"), ordered("minDurationMs", "maxDurationMs")],
    cursorKeys,
    response: pageOf(TraceSummary),
    example,
    async handler({ query, page, access, signal }) {
      const filter = {
        workspace: access.workspace,
        serviceName: query.serviceName,
        status: query.status,
        minDuration: nanoseconds(query.minDurationMs),
        maxDuration: nanoseconds(query.maxDurationMs),
        start: optionalUnixNano(query.startTime),
        end: optionalUnixNano(query.endTime),
      };
      return makePage(page, await readTraces(reader, filter, page, signal), traceKeys);
    },
  });

  defineRoute(app, {
    method: "POST",
    path: "/traces/search",
    tag: "Traces",
    summary: "Search traces",
    description:
      "Ordered by start, the newest first. A trace is found when one of its spans satisfies all of `query`, `service_name`, " +
      "`operation_name`, `status` and `tags`; start and duration are those of the whole trace. Each word of `query`, and " +
      "each `\"phrase\"`, stands somewhere in the span's name, its status message or an attribute's value, in any case. " +
      "`tags` are attributes of the span or of its resource with exactly these values.",
    body: closed({
      query: Type.Optional(Type.String({ maxLength: maxSearchLength })),
      service_name: Type.Optional(Type.String()),
      operation_name: Type.Optional(Type.String({ description: "The span's name, exactly" })),
      min_duration_ms: Type.Optional(milliseconds()),
      max_duration_ms: Type.Optional(milliseconds()),
      status: Type.Optional(status()),
      start_time: Type.Optional(timestamp("Inclusive")),
      end_time: Type.Optional(timestamp("Exclusive")),
      tags: Type.Optional(
        Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
          description: "Numbers and booleans stand for their JSON text, as attributes are stored",
        }),
      ),
      ...pageParameters(1000, 100),
    }),
    bodyExample: { query: "timed out", service_name: "checkout", status: "error", tags: { "http.route": "/cart" } },
    rules: [
      timeRange("start_time", "end_time", "body"),
      ordered("min_duration_ms", "max_duration_ms", "body"),
      validSearch,
      fewTags,
    ],
    cursorKeys,
    response: pageOf(TraceSummary),
    example,
    async handler({ body, page, access, signal }) {
      const text = parseSearchText(body.query ?? "");
      const filter = {
        workspace: access.workspace,
        serviceName: body.service_name,
        operationName: body.operation_name,
        status: body.status,
        words: text.ok ? text.words : [],
        tags: Object.fromEntries(Object.entries(body.tags ?? {}).map(([key, value]) => [key, String(value)])),
        minDuration: nanoseconds(body.min_duration_ms),
        maxDuration: nanoseconds(body.max_duration_ms),
        start: optionalUnixNano(body.start_time),
        end: optionalUnixNano(body.end_time),
      };
      return makePage(page, await readTraces(reader, filter, page, signal), traceKeys);
    },
  });
}

function status() {
  return Type.Enum([...spanStatuses], { description: "Of the span" });
}

/** Up to what an int64 of nanoseconds can say. */
function milliseconds() {
  return Type.Number({ minimum: 0, maximum: 9e12, description: "Inclusive" });
}

function nanoseconds(ms: number | undefined): bigint | undefined {
  return ms === undefined ? undefined : BigInt(Math.round(ms * 1e6));
}

function optionalUnixNano(time: string | undefined): bigint | undefined {
  return time === undefined ? undefined : unixNano(time);
}

const validSearch: Rule = ({ body: { query } }) => {
  if (typeof query !== "string") return undefined;
  const parsed = parseSearchText(query);
  return parsed.ok
    ? undefined
    : { field: "query", code: "query.invalid", message: parsed.message, rejected_value: query };
};

const fewTags: Rule = ({ body: { tags } }) =>
  typeof tags === "object" && tags !== null && Object.keys(tags).length > maxTags
    ? { field: "tags", code: "max_items", message: `Must have at most ${maxTags} tags.` }
    : undefined;
