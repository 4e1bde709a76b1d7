import { Type } from "typebox";
import { int64, KeyValue, optionalText } from "./schemas.ts";

const dropped = Type.Integer({ minimum: 0, description: "How many attributes the sender left out" });

/** What sent the telemetry. Attributes under other names than these are in `attributes`. */
export const Resource = Type.Object(
  {
    "service.name": optionalText(),
    "service.namespace": optionalText(),
    "service.instance.id": optionalText(),
    "service.version": optionalText("A semantic version, where the sender keeps to that"),
    "telemetry.sdk.name": optionalText(),
    "telemetry.sdk.language": optionalText("cpp dotnet erlang go java nodejs php python ruby rust swift webjs"),
    "telemetry.sdk.version": optionalText(),
    "telemetry.auto.version": optionalText(),
    "deployment.environment.name": optionalText(),
    "cloud.provider": optionalText("alibaba_cloud aws azure gcp heroku ibm_cloud tencent_cloud"),
    "cloud.region": optionalText(),
    "cloud.availability_zone": optionalText(),
    "cloud.account.id": optionalText(),
    "cloud.platform": optionalText(),
    "host.name": optionalText(),
    "host.id": optionalText(),
    "host.type": optionalText(),
    "host.arch": optionalText("amd64 arm32 arm64 ia64 ppc32 ppc64 s390x x86"),
    "os.type": optionalText("windows linux darwin freebsd netbsd openbsd dragonflybsd hpux aix solaris z_os"),
    "os.description": optionalText(),
    "os.version": optionalText(),
    "process.pid": Type.Optional(int64()),
    "process.executable.name": optionalText(),
    "process.command_line": optionalText(),
    "process.runtime.name": optionalText(),
    "process.runtime.version": optionalText(),
    "container.id": optionalText(),
    "container.name": optionalText(),
    "container.image.name": optionalText(),
    "container.image.tag": optionalText(),
    "k8s.cluster.name": optionalText(),
    "k8s.namespace.name": optionalText(),
    "k8s.pod.name": optionalText(),
    "k8s.pod.uid": optionalText(),
    "k8s.deployment.name": optionalText(),
    attributes: Type.Array(KeyValue),
    dropped_attributes_count: dropped,
  },
  { $id: "Resource" },
);

/** The part of the program that made the record or span. */
export const InstrumentationScope = Type.Object(
  {
    name: Type.String(),
    version: optionalText("A semantic version, where the sender keeps to that"),
    attributes: Type.Array(KeyValue),
    dropped_attributes_count: dropped,
  },
  { $id: "InstrumentationScope" },
);
