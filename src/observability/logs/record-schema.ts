import { Type } from "typebox";
import { int64, KeyValue, optionalText, traceId } from "../http/schemas.ts";
import { InstrumentationScope, Resource } from "../http/telemetry-schemas.ts";

const dropped = Type.Integer({ minimum: 0, description: "How many attributes the sender left out" });

export const LogBody = Type.Object(
  {
    string_value: optionalText("Text; of a number or a boolean its text"),
    kv_list_value: Type.Optional(Type.Array(KeyValue)),
    array_value: Type.Optional(Type.Array(Type.String())),
    bytes_value: optionalText("base64"),
  },
  { $id: "LogBody", description: "One of its members, or none where the record has no body" },
);

export const LogRecord = Type.Object(
  {
    time_unix_nano: int64("When it happened; as observed, or when it arrived, where the record does not say"),
    observed_time_unix_nano: int64(),
    severity_number: Type.Integer({ minimum: 0, maximum: 24 }),
    severity_text: Type.Enum(["UNSPECIFIED", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"]),
    body: LogBody,
    resource: Resource,
    attributes: Type.Array(KeyValue),
    dropped_attributes_count: dropped,
    flags: Type.Integer({ minimum: 0, description: "W3C trace flags in the lowest 8 bits" }),
    trace_id: Type.Optional(traceId()),
    span_id: Type.Optional(Type.String({ pattern: "^[a-f0-9]{16}$" })),
    instrumentation_scope: InstrumentationScope,
  },
  { $id: "LogRecord" },
);
