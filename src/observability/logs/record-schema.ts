import { Type } from "typebox";
import { int64, KeyValue, optionalText, traceId } from "../http/schemas.ts";
import { InstrumentationScope, Resource } from "../http/telemetry-schemas.ts";

const dropped = Type.Integer({ minimum: 0, description: "How many attributes the sender left out" });

const LogBody = Type.Object(
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

/** For the documentation. */
export const exampleRecord = {
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
