import { Type } from "typebox";
import { int64, KeyValue, traceId } from "../http/schemas.ts";
import { InstrumentationScope, Resource } from "../http/telemetry-schemas.ts";

export const spanId = () => Type.String({ pattern: "^[a-f0-9]{16}$", description: "16 lowercase hexadecimal digits" });
const dropped = (what: string) => Type.Integer({ minimum: 0, description: `How many ${what} the sender left out` });
const traceState = Type.Optional(Type.String({ description: "W3C trace state" }));

const SpanEvent = Type.Object(
  {
    name: Type.String(),
    time_unix_nano: int64(),
    attributes: Type.Array(KeyValue),
    dropped_attributes_count: dropped("attributes"),
  },
  { $id: "SpanEvent" },
);

const SpanLink = Type.Object(
  {
    trace_id: traceId(),
    span_id: spanId(),
    trace_state: traceState,
    attributes: Type.Array(KeyValue),
    dropped_attributes_count: dropped("attributes"),
    flags: Type.Integer({ minimum: 0 }),
  },
  { $id: "SpanLink" },
);

export const Span = Type.Object(
  {
    span_id: spanId(),
    trace_id: traceId(),
    parent_span_id: Type.Optional(spanId()),
    name: Type.String(),
    kind: Type.Integer({ description: "0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer" }),
    start_time_unix_nano: int64(),
    end_time_unix_nano: int64(),
    status: Type.Object({
      code: Type.Integer({ description: "0 unset, 1 ok, 2 error" }),
      message: Type.Optional(Type.String()),
    }),
    trace_state: traceState,
    // Components that the schema of log records declares.
    resource: Resource,
    attributes: Type.Array(KeyValue),
    dropped_attributes_count: dropped("attributes"),
    events: Type.Array(SpanEvent),
    dropped_events_count: dropped("events"),
    links: Type.Array(SpanLink),
    dropped_links_count: dropped("links"),
    flags: Type.Integer({ minimum: 0, description: "W3C trace flags in the lowest 8 bits" }),
    instrumentation_scope: InstrumentationScope,
  },
  { $id: "Span" },
);
