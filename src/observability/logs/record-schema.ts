import { Type } from "typebox";
import { int64, KeyValue, traceId } from "../http/schemas.ts";

const text = (description?: string) => Type.Optional(Type.String(description === undefined ? {} : { description }));
const dropped = Type.Integer({ minimum: 0, description: "How many attributes the sender left out" });

/** What sent the telemetry. Attributes under other names than these are in `attributes`. */
export const Resource = Type.Object(
  {
    "service.name": text(),
    "service.namespace": text(),
    "service.instance.id": text(),
    "service.version": text("A semantic version, where the sender keeps to that"),
    "telemetry.sdk.name": text(),
    "telemetry.sdk.language": text("cpp dotnet erlang go java nodejs php python ruby rust swift webjs"),
    "telemetry.sdk.version": text(),
    "telemetry.auto.version": text(),
    "deployment.environment.name": text(),
    "cloud.provider": text("alibaba_cloud aws azure gcp heroku ibm_cloud tencent_cloud"),
    "cloud.region": text(),
    "cloud.availability_zone": text(),
    "cloud.account.id": text(),
    "cloud.platform": text(),
    "host.name": text(),
    "host.id": text(),
    "host.type": text(),
    "host.arch": text("amd64 arm32 arm64 ia64 ppc32 ppc64 s390x x86"),
    "os.type": text("windows linux darwin freebsd netbsd openbsd dragonflybsd hpux aix solaris z_os"),
    "os.description": text(),
    "os.version": text(),
    "process.pid": Type.Optional(int64()),
    "process.executable.name": text(),
    "process.command_line": text(),
    "process.runtime.name": text(),
    "process.runtime.version": text(),
    "container.id": text(),
    "container.name": text(),
    "container.image.name": text(),
    "container.image.tag": text(),
    "k8s.cluster.name": text(),
    "k8s.namespace.name": text(),
    "k8s.pod.name": text(),
    "k8s.pod.uid": text(),
    "k8s.deployment.name": text(),
    attributes: Type.Array(KeyValue),
    dropped_attributes_count: dropped,
  },
  { $id: "Resource" },
);

/** The part of the program that made the record or span. */
export const InstrumentationScope = Type.Object(
  {
    name: Type.String(),
    version: text("A semantic version, where the sender keeps to that"),
    attributes: Type.Array(KeyValue),
    dropped_attributes_count: dropped,
  },
  { $id: "InstrumentationScope" },
);

export const LogBody = Type.Object(
  {
    string_value: text("Text; of a number or a boolean its text"),
    kv_list_value: Type.Optional(Type.Array(KeyValue)),
    array_value: Type.Optional(Type.Array(Type.String())),
    bytes_value: text("base64"),
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
