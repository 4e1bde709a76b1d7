import { Type } from "typebox";
import { int64, nullable, timestamp, traceId } from "../http/schemas.ts";
import { deviceTypes } from "./device-type.ts";

const count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) });
const countryCode = Type.String({ description: "ISO 3166-1 alpha-2; ZZ where it is not known" });
const percentage = Type.Number({ minimum: 0, maximum: 100 });

export const Session = Type.Object(
  {
    session_id: Type.String(),
    user_id: nullable(Type.String({ description: "The user named last; null where nobody was" })),
    start_time: timestamp(),
    end_time: timestamp("Of the last activity, the end of a span included"),
    duration_ms: Type.Number({ minimum: 0 }),
    is_active: Type.Boolean({ description: "The last activity is less than 30 minutes ago" }),
    trace_count: count(),
    span_count: count(),
    log_count: count(),
    error_count: count("Spans and log records that tell of an error"),
    page_count: count("Distinct pages; where none is known, root spans"),
    device_type: Type.Enum([...deviceTypes]),
    country_code: countryCode,
    services: Type.Array(Type.String()),
    has_genai: Type.Boolean({ description: "A span has an attribute gen_ai.*" }),
  },
  { $id: "Session" },
);

export const SessionStats = Type.Object(
  {
    active_sessions: count("Of these sessions, those whose last activity is less than 30 minutes ago"),
    total_sessions: count("Sessions with any activity in the window"),
    unique_users: count(),
    avg_duration_ms: Type.Number({ minimum: 0 }),
    sessions_with_errors: count(),
    sessions_with_genai: count(),
    bounce_rate: Type.Number({ minimum: 0, maximum: 1, description: "Share of sessions that saw at most one page" }),
    by_device_type: Type.Array(Type.Object({ device_type: Type.Enum([...deviceTypes]), count: count(), percentage })),
    by_country: Type.Array(
      Type.Object({ country_code: countryCode, country_name: Type.String(), count: count(), percentage }),
    ),
  },
  { $id: "SessionStats" },
);

/** A component that the routes of traces declare. */
const Span = Type.Ref("#/components/schemas/Span");

export const SessionTrace = Type.Object(
  {
    trace_id: traceId(),
    spans: Type.Array(Span, { maxItems: 1000, description: "By start; the first 1,000" }),
    span_count: count("All spans of the trace"),
    duration_ns: int64(),
    start_time: timestamp(),
    end_time: timestamp(),
    services: Type.Array(Type.String(), { description: "In alphabetical order" }),
    has_error: Type.Boolean({ description: "The status of a span is error" }),
    root_span: Span,
  },
  { $id: "SessionTrace" },
);
