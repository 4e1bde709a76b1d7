import assert from "node:assert/strict";

/** What a field's value must be: one of these words, a list of what it may be, or a check of one's own. */
export type FieldKind = keyof typeof kinds | readonly (string | number)[] | ((value: unknown, at: string) => void);

/** Names and kinds of an object's fields; a name that ends in `?` may be missing. */
export type FieldTable = Readonly<Record<string, FieldKind>>;

const isInteger = (value: unknown) => typeof value === "bigint" || Number.isInteger(value);
const matches = (pattern: RegExp) => (value: unknown) => typeof value === "string" && pattern.test(value);

const kinds = {
  string: (value: unknown) => typeof value === "string",
  boolean: (value: unknown) => typeof value === "boolean",
  number: (value: unknown) => typeof value === "number",
  ratio: (value: unknown) => typeof value === "number" && value >= 0 && value <= 1,
  percentage: (value: unknown) => typeof value === "number" && value >= 0 && value <= 100,
  integer: isInteger,
  count: (value: unknown) => isInteger(value) && (value as number) >= 0,
  "date-time": matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/),
  "trace id": matches(/^[a-f0-9]{32}$/),
  "span id": matches(/^[a-f0-9]{16}$/),
  semver: matches(/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/),
} as const;

/** Asserts that `value` has the fields of `table`, each of its kind, and no others. */
export function assertFields(value: unknown, table: FieldTable, at = "$"): void {
  assert.ok(typeof value === "object" && value !== null && !Array.isArray(value), `${at} must be an object`);
  const left = new Map(Object.entries(value));
  for (const [name, kind] of Object.entries(table)) {
    const key = name.replace(/\?$/, "");
    if (!left.has(key)) {
      assert.ok(name.endsWith("?"), `${at}.${key} is missing`);
      continue;
    }
    const field: unknown = left.get(key);
    left.delete(key);
    if (typeof kind === "function") kind(field, `${at}.${key}`);
    else if (typeof kind === "string")
      assert.ok(kinds[kind](field), `${at}.${key} must be ${kind}, is ${String(field)}`);
    else assert.ok((kind as readonly unknown[]).includes(field), `${at}.${key} is ${String(field)}`);
  }
  assert.deepEqual([...left.keys()], [], `${at} has fields that the specification does not know`);
}

/** An object with the fields of `table`. */
export function object(table: FieldTable): FieldKind {
  return (value, at) => assertFields(value, table, at);
}

/** An array of objects with the fields of `table`. */
export function listOf(table: FieldTable): FieldKind {
  return (value, at) => {
    assert.ok(Array.isArray(value), `${at} must be an array`);
    for (const [i, item] of value.entries()) assertFields(item, table, `${at}[${i}]`);
  };
}

/** An array of texts. */
export const texts: FieldKind = (value, at) =>
  assert.ok(Array.isArray(value) && value.every((item) => typeof item === "string"), `${at} must be texts`);

/** What `kind` says, or null. */
export function orNull(kind: keyof typeof kinds): FieldKind {
  return (value, at) => assert.ok(value === null || kinds[kind](value), `${at} must be ${kind} or null`);
}

const keyValues = listOf({ key: "string", value: "string" });
const optionalTexts = (names: string) =>
  Object.fromEntries(names.split(" ").map((name) => [`${name}?`, "string"] as const));

export const resourceFields: FieldTable = {
  ...optionalTexts(
    "service.name service.namespace service.instance.id service.version telemetry.sdk.name telemetry.sdk.language " +
      "telemetry.sdk.version telemetry.auto.version deployment.environment.name cloud.provider cloud.region " +
      "cloud.availability_zone cloud.account.id cloud.platform host.name host.id host.type host.arch os.type " +
      "os.description os.version process.executable.name process.command_line process.runtime.name " +
      "process.runtime.version container.id container.name container.image.name container.image.tag k8s.cluster.name " +
      "k8s.namespace.name k8s.pod.name k8s.pod.uid k8s.deployment.name",
  ),
  "process.pid?": "integer",
  attributes: keyValues,
  dropped_attributes_count: "count",
};

const scopeFields: FieldTable = {
  name: "string",
  "version?": "string",
  attributes: keyValues,
  dropped_attributes_count: "count",
};

export const severityTexts = ["UNSPECIFIED", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

export const logFields: FieldTable = {
  time_unix_nano: "integer",
  observed_time_unix_nano: "integer",
  severity_number: "count",
  severity_text: severityTexts,
  body: object({
    "string_value?": "string",
    "kv_list_value?": keyValues,
    "array_value?": texts,
    "bytes_value?": "string",
  }),
  resource: object(resourceFields),
  attributes: keyValues,
  dropped_attributes_count: "count",
  flags: "count",
  "trace_id?": "trace id",
  "span_id?": "span id",
  instrumentation_scope: object(scopeFields),
};

export const spanFields: FieldTable = {
  span_id: "span id",
  trace_id: "trace id",
  "parent_span_id?": "span id",
  name: "string",
  kind: [0, 1, 2, 3, 4, 5],
  start_time_unix_nano: "integer",
  end_time_unix_nano: "integer",
  status: object({ code: [0, 1, 2], "message?": "string" }),
  "trace_state?": "string",
  resource: object(resourceFields),
  attributes: keyValues,
  dropped_attributes_count: "count",
  events: listOf({
    name: "string",
    time_unix_nano: "integer",
    attributes: keyValues,
    dropped_attributes_count: "count",
  }),
  dropped_events_count: "count",
  links: listOf({
    trace_id: "trace id",
    span_id: "span id",
    "trace_state?": "string",
    attributes: keyValues,
    dropped_attributes_count: "count",
    flags: "count",
  }),
  dropped_links_count: "count",
  flags: "count",
  instrumentation_scope: object(scopeFields),
};
