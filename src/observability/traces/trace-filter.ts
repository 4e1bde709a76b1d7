import type { ParamValue } from "../../telemetry/contract.ts";

export const spanStatuses = ["unset", "ok", "error"] as const;
type SpanStatus = (typeof spanStatuses)[number];

/** A trace matches when one of its spans satisfies all that is asked of a span, and the trace what is asked of it. */
export interface TraceFilter {
  readonly workspace: string;
  /** Of a span: */
  readonly serviceName?: string;
  readonly operationName?: string;
  readonly status?: SpanStatus;
  /** Each of them stands in the span's name, its status message or the value of one of its attributes. */
  readonly words?: readonly string[];
  /** Attributes of the span or of its resource, with exactly these values. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Of the trace: bounds of its start in Unix nanoseconds, inclusive and exclusive. */
  readonly start?: bigint;
  readonly end?: bigint;
  /** Bounds of its duration in nanoseconds, both inclusive. */
  readonly minDuration?: bigint;
  readonly maxDuration?: bigint;
}

/** SQL over the columns of `spans`; every text of a client is bound. */
export interface Condition {
  readonly sql: string;
  readonly params: Readonly<Record<string, ParamValue>>;
}

/**
 * What is asked of one span; undefined where any will do. `isInResource` says of which tags a resource may have them: of
 * those that none has only attributes are looked at, for which there is an index.
 */
export function spanCondition(
  { serviceName, operationName, status, words = [], tags = {} }: TraceFilter,
  isInResource: (key: string) => boolean = () => true,
): Condition | undefined {
  const params: Record<string, ParamValue> = {};
  const bind = binder(params);
  const conditions: string[] = [];
  if (serviceName !== undefined) conditions.push(`service_name = ${bind(serviceName)}`);
  if (operationName !== undefined) conditions.push(`name = ${bind(operationName)}`);
  if (status !== undefined) conditions.push(`status_code = ${spanStatuses.indexOf(status)}`);
  for (const [key, value] of Object.entries(tags)) {
    const own = attributeCondition(key, value, bind);
    conditions.push(isInResource(key) ? `((${own}) OR ${resourceCondition(key, value, bind)})` : own);
  }
  for (const word of words) conditions.push(wordCondition(bind(word)));
  return conditions.length === 0 ? undefined : { sql: conditions.join(" AND "), params };
}

/** A column `tag_<n>` for each of the filter's tags, in order: 1 where `resource` has it. Undefined without tags. */
export function resourceTags({ tags = {} }: TraceFilter): Condition | undefined {
  const params: Record<string, ParamValue> = {};
  const bind = binder(params);
  const columns = Object.entries(tags).map(([key, value], i) => `${resourceCondition(key, value, bind)} AS tag_${i}`);
  return columns.length === 0 ? undefined : { sql: columns.join(", "), params };
}

/** What is asked of the whole trace's duration, an aggregate over its spans; undefined where any will do. */
export function durationCondition({ minDuration, maxDuration }: TraceFilter): Condition | undefined {
  const conditions: string[] = [];
  const params: Record<string, ParamValue> = {};
  if (minDuration !== undefined) {
    conditions.push(`${traceDuration} >= {min_duration:Int64}`);
    params["min_duration"] = minDuration;
  }
  if (maxDuration !== undefined) {
    conditions.push(`${traceDuration} <= {max_duration:Int64}`);
    params["max_duration"] = maxDuration;
  }
  return conditions.length === 0 ? undefined : { sql: conditions.join(" AND "), params };
}

/** Where a trace ends, in Unix nanoseconds. A span that ends before it starts does not shorten its trace. */
export const traceEnd = "max(toUnixTimestamp64Nano(ts) + greatest(duration_ns, 0))";
const traceDuration = `(${traceEnd} - toUnixTimestamp64Nano(min(ts)))`;

type Bind = (value: string) => string;

/** Adds texts to `params` and answers their placeholders. */
function binder(params: Record<string, ParamValue>): Bind {
  return (value) => {
    const name = `span_${Object.keys(params).length}`;
    params[name] = value;
    return `{${name}:String}`;
  };
}

function wordCondition(word: string): string {
  const holds = (text: string) => `positionCaseInsensitiveUTF8(${text}, ${word}) > 0`;
  return `(${holds("name")} OR ${holds("status_message")} OR arrayExists(value -> ${holds("value")}, mapValues(attributes)))`;
}

function attributeCondition(key: string, value: string, bind: Bind): string {
  const [boundKey, boundValue] = [bind(key), bind(value)];
  const isEqual = `attributes[${boundKey}] = ${boundValue}`;
  // An attribute that is not there reads as empty too.
  return value === "" ? `mapContains(attributes, ${boundKey}) AND ${isEqual}` : isEqual;
}

/**
 * `resource` is JSON text: well-known keys are members, the others `{"key":…,"value":…}` in `attributes`. A quote inside
 * a JSON string is escaped, so that `"key":` with its bare quotes can only be the member. The column is LowCardinality:
 * the engine evaluates this once a distinct resource.
 */
function resourceCondition(key: string, value: string, bind: Bind): string {
  const [name, text] = [JSON.stringify(key), JSON.stringify(value)];
  const needles = [`{"key":${name},"value":${text}`];
  // These two are members of every attribute, and of no resource.
  if (key !== "key" && key !== "value") needles.push(`${name}:${text}`);
  // The one well-known key that is printed as an integer.
  if (key === "process.pid" && /^\d+$/.test(value)) needles.push(`${name}:${value},`, `${name}:${value}}`);
  return `multiSearchAny(resource, [${needles.map((needle) => bind(needle)).join(", ")}])`;
}
