import type { Block, ResourceEntry, ScopeEntry } from "../../../telemetry/blocks/block.ts";
import { GrowingBytes, textView } from "../../../telemetry/blocks/growing-bytes.ts";
import { appendValueText, readPair, readValue } from "./any-value.ts";
import { Reader } from "./reader.ts";
import { TypeLetters } from "./type-letters.ts";

/** The attributes that the API shows as members of the resource itself. All others are in its `attributes`. */
const members = new Set([
  "service.name",
  "service.namespace",
  "service.instance.id",
  "service.version",
  "telemetry.sdk.name",
  "telemetry.sdk.language",
  "telemetry.sdk.version",
  "telemetry.auto.version",
  "deployment.environment.name",
  "cloud.provider",
  "cloud.region",
  "cloud.availability_zone",
  "cloud.account.id",
  "cloud.platform",
  "host.name",
  "host.id",
  "host.type",
  "host.arch",
  "os.type",
  "os.description",
  "os.version",
  "process.pid",
  "process.executable.name",
  "process.command_line",
  "process.runtime.name",
  "process.runtime.version",
  "container.id",
  "container.name",
  "container.image.name",
  "container.image.tag",
  "k8s.cluster.name",
  "k8s.namespace.name",
  "k8s.pod.name",
  "k8s.pod.uid",
  "k8s.deployment.name",
]);

interface Attribute {
  readonly key: string;
  readonly value: string;
  readonly letter: number;
}

/** Reads a Resource message, and writes what rows of it share into the dictionaries of `block`. */
export function readResource(message: DataView, schemaUrl: DataView, block: Block): ResourceEntry {
  const r = new Reader(message);
  const end = message.byteLength;
  const attributes: Attribute[] = [];
  const entityRefs: unknown[] = [];
  let dropped = 0;
  while (r.pos < end) {
    const tag = r.tag(end);
    if (tag === 0x0a) attributes.push(readAttribute(r, end));
    else if (tag === 0x10) dropped = r.int32(end) >>> 0;
    else if (tag === 0x1a) entityRefs.push(readEntityRef(r, end));
    else r.skip(tag, end, 0b1110);
  }

  const shown: Record<string, string | number | object> = {};
  const shownTypes = new TypeLetters();
  const others: Attribute[] = [];
  for (const attribute of attributes) {
    const { key, value, letter } = attribute;
    // A second value of one name is kept where names may repeat, and so is a process id that is no integer.
    const isMember = members.has(key) && !(key in shown) && (key !== "process.pid" || isInteger(value));
    if (!isMember) {
      others.push(attribute);
      continue;
    }
    shown[key] = key === "process.pid" ? Number(value) : value;
    shownTypes.push(letter);
  }
  for (const { letter } of others) shownTypes.push(letter);
  shown.attributes = others.map(({ key, value }) => ({ key, value }));
  shown.dropped_attributes_count = dropped;

  const valueOf = (key: string) => attributes.find((attribute) => attribute.key === key)?.value ?? "";
  return {
    serviceNamespace: block.serviceNamespace.texts.indexOfText(valueOf("service.namespace")),
    serviceName: block.serviceName.texts.indexOfText(valueOf("service.name") || "unknown_service"),
    serviceVersion: block.serviceVersion.texts.indexOfText(valueOf("service.version")),
    serviceInstance: block.serviceInstance.texts.indexOfText(instanceOf(valueOf)),
    environment: block.environment.texts.indexOfText(
      valueOf("deployment.environment.name") || valueOf("deployment.environment"),
    ),
    resource: block.resource.texts.indexOfText(JSON.stringify(shown)),
    resourceMeta: block.resourceMeta.texts.indexOfText(metaText(schemaUrl, shownTypes, entityRefs)),
    session: textView(valueOf("session.id")),
  };
}

/** Reads an InstrumentationScope message, and writes what rows of it share into the dictionaries of `block`. */
export function readScope(message: DataView, schemaUrl: DataView, block: Block): ScopeEntry {
  const r = new Reader(message);
  const end = message.byteLength;
  const attributes: Attribute[] = [];
  let name = "";
  let version = "";
  let dropped = 0;
  while (r.pos < end) {
    const tag = r.tag(end);
    if (tag === 0x0a) name = readText(r, end);
    else if (tag === 0x12) version = readText(r, end);
    else if (tag === 0x1a) attributes.push(readAttribute(r, end));
    else if (tag === 0x20) dropped = r.int32(end) >>> 0;
    else r.skip(tag, end, 0b11110);
  }
  const types = new TypeLetters();
  for (const { letter } of attributes) types.push(letter);
  const shown = {
    name,
    // A scope without a version has none, not an empty one.
    ...(version !== "" && { version }),
    attributes: attributes.map(({ key, value }) => ({ key, value })),
    dropped_attributes_count: dropped,
  };
  return {
    scope: block.scope.texts.indexOfText(JSON.stringify(shown)),
    scopeMeta: block.scopeMeta.texts.indexOfText(metaText(schemaUrl, types, [])),
  };
}

function isInteger(text: string): boolean {
  return /^-?(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text));
}

/** Which of a service's instances this is: what names it best of what there is. */
function instanceOf(valueOf: (key: string) => string): string {
  const named = valueOf("service.instance.id") || valueOf("k8s.pod.uid") || valueOf("k8s.pod.name");
  if (named !== "") return named;
  const host = valueOf("host.name") || valueOf("host.id");
  const pid = valueOf("process.pid");
  return host !== "" && pid !== "" ? `${host}:${pid}` : valueOf("container.id");
}

/**
 * JSON of what the API does not show of a resource or scope, with only what is there: `schema_url`, `types` (the
 * letters of its attributes in the order in which its own JSON has them), `entity_refs`.
 */
function metaText(schemaUrl: DataView, types: TypeLetters, entityRefs: readonly unknown[]): string {
  const letters = types.toString();
  const url = textOf(schemaUrl, 0, schemaUrl.byteLength);
  const meta = {
    ...(url === "" ? {} : { schema_url: url }),
    ...(letters === "" ? {} : { types: letters }),
    ...(entityRefs.length === 0 ? {} : { entity_refs: entityRefs }),
  };
  return Object.keys(meta).length === 0 ? "" : JSON.stringify(meta);
}

function readAttribute(r: Reader, messageEnd: number): Attribute {
  const end = r.enter(messageEnd);
  const pair = readPair(r, end);
  const text = new GrowingBytes();
  r.pos = pair.valueStart;
  const letter = appendValueText(r, readValue(r, pair.valueEnd), text);
  r.pos = end;
  return { key: textOf(r.view, pair.keyStart, pair.keyEnd), value: text.inUse().toString(), letter };
}

function readEntityRef(r: Reader, messageEnd: number): object {
  const end = r.enter(messageEnd);
  const ref = { schema_url: "", type: "", id_keys: [] as string[], description_keys: [] as string[] };
  while (r.pos < end) {
    const tag = r.tag(end);
    if (tag === 0x0a) ref.schema_url = readText(r, end);
    else if (tag === 0x12) ref.type = readText(r, end);
    else if (tag === 0x1a) ref.id_keys.push(readText(r, end));
    else if (tag === 0x22) ref.description_keys.push(readText(r, end));
    else r.skip(tag, end, 0b11110);
  }
  return ref;
}

function readText(r: Reader, end: number): string {
  r.pass(end);
  return textOf(r.view, r.from, r.to);
}

/** A range as text; what is not UTF-8 becomes U+FFFD. */
function textOf(view: DataView, start: number, end: number): string {
  return Buffer.from(view.buffer, view.byteOffset + start, end - start).toString();
}
