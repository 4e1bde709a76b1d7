import { Type } from "typebox";
import { int64, nullable, timestamp, traceId } from "../http/schemas.ts";
import { spanId } from "./span-schema.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });

const SpanSummary = Type.Object(
  {
    span_id: spanId(),
    parent_span_id: Type.Optional(spanId()),
    name: Type.String(),
    kind: Type.Integer({ description: "0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer" }),
    service_name: Type.String(),
    start_time_unix_nano: int64(),
    duration_ns: int64(),
    status: Type.Object({
      code: Type.Integer({ description: "0 unset, 1 ok, 2 error" }),
      message: Type.Optional(Type.String()),
    }),
  },
  { $id: "SpanSummary" },
);

const summary = {
  trace_id: traceId(),
  root_span: SpanSummary,
  start_time: timestamp("When its first span started, with nanoseconds"),
  end_time: timestamp("When the last of its spans ended"),
  duration_ns: int64("From start_time to end_time"),
  span_count: count("Spans that are stored"),
  error_count: count("Spans whose status is error"),
  has_error: Type.Boolean(),
  services: Type.Array(Type.String(), { description: "In alphabetical order" }),
};

export const TraceSummary = Type.Object(summary, {
  $id: "TraceSummary",
  description:
    "A trace without its spans. root_span is the earliest span without a parent; where none is stored it is the earliest " +
    "of all, which then has a parent_span_id.",
});

export const TraceDetail = Type.Object(
  {
    ...summary,
    first_error: nullable(SpanSummary),
    by_service: Type.Array(
      Type.Object({
        service_name: Type.String(),
        span_count: count("Its spans in the trace"),
        error_count: count("Those whose status is error"),
        offset_ns: int64("When its first span started, after the trace did"),
        duration_ns: int64("From there to the end of its last span"),
      }),
      { description: "In the order in which the trace reached them" },
    ),
  },
  {
    $id: "TraceDetail",
    description: "first_error is the span with an error that ended first: the cause of those around it, as a rule.",
  },
);
