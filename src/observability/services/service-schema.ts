import { Type } from "typebox";
import { nullable, timestamp } from "../http/schemas.ts";
import { Resource } from "../http/telemetry-schemas.ts";

const rate = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const entry = {
  name: Type.String(),
  namespace_name: nullable(Type.String()),
  version: Type.Optional(Type.String({ description: "The version last seen" })),
  instance_count: Type.Integer({ minimum: 0, description: "Distinct instances of the last 24 hours" }),
  last_seen: timestamp(),
};

export const Service = Type.Object(entry, { $id: "Service" });

export const ServiceDetail = Type.Object(
  {
    ...entry,
    resource_attributes: Resource,
    instrumentation_libraries: Type.Array(Type.Object({ name: Type.String(), version: Type.Optional(Type.String()) }), {
      description: "Of its spans in the window",
    }),
    request_rate: Type.Number({ minimum: 0, description: "Requests a second of the window" }),
    error_rate: rate("The share of requests whose status is error"),
    avg_latency_ms: nullable(Type.Number({ description: "Null where there were no requests" })),
    p99_latency_ms: nullable(Type.Number({ description: "Within 0.4 %; null where there were no requests" })),
  },
  { $id: "ServiceDetail", description: "resource_attributes are those of its newest record." },
);

export const ServiceDependency = Type.Object(
  {
    source_service: Type.String(),
    target_service: Type.String({
      description:
        "A service, or what a call nobody answered names: peer.service, a database or messaging system, an address",
    }),
    request_count: count("Calls that began in the window"),
    error_rate: rate("The share of them whose answer has the status error"),
    avg_latency_ms: Type.Number({ description: "Of the answers; of calls that nobody answered, as the caller saw it" }),
  },
  { $id: "ServiceDependency" },
);

export const ServiceOperation = Type.Object(
  {
    name: Type.String(),
    span_kind: Type.Integer({ description: "0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer" }),
    request_count: count("Spans that began in the window"),
    error_count: count("Those whose status is error"),
    avg_duration_ms: Type.Number(),
    p99_duration_ms: Type.Number({ description: "Within 0.4 %" }),
  },
  { $id: "ServiceOperation" },
);
