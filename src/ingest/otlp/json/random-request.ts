import * as fc from "fast-check";
import type { Signal } from "../signal.ts";

/** OTLP's messages once more, as their .proto files number and type them: the tables under test are not asked. */
const proto = `
ExportTraceServiceRequest ResourceSpans* resource_spans 1
ResourceSpans Resource resource 1, ScopeSpans* scope_spans 2, string schema_url 3
ScopeSpans InstrumentationScope scope 1, Span* spans 2, string schema_url 3
Span id trace_id 1, id span_id 2, string trace_state 3, id parent_span_id 4, string name 5, enum kind 6, fixed64 start_time_unix_nano 7, fixed64 end_time_unix_nano 8, KeyValue* attributes 9, uint32 dropped_attributes_count 10, Event* events 11, uint32 dropped_events_count 12, Link* links 13, uint32 dropped_links_count 14, Status status 15, fixed32 flags 16
Event fixed64 time_unix_nano 1, string name 2, KeyValue* attributes 3, uint32 dropped_attributes_count 4
Link id trace_id 1, id span_id 2, string trace_state 3, KeyValue* attributes 4, uint32 dropped_attributes_count 5, fixed32 flags 6
Status string message 2, enum code 3
ExportLogsServiceRequest ResourceLogs* resource_logs 1
ResourceLogs Resource resource 1, ScopeLogs* scope_logs 2, string schema_url 3
ScopeLogs InstrumentationScope scope 1, LogRecord* log_records 2, string schema_url 3
LogRecord fixed64 time_unix_nano 1, enum severity_number 2, string severity_text 3, AnyValue body 5, KeyValue* attributes 6, uint32 dropped_attributes_count 7, fixed32 flags 8, id trace_id 9, id span_id 10, fixed64 observed_time_unix_nano 11, string event_name 12
ExportMetricsServiceRequest ResourceMetrics* resource_metrics 1
ResourceMetrics Resource resource 1, ScopeMetrics* scope_metrics 2, string schema_url 3
ScopeMetrics InstrumentationScope scope 1, Metric* metrics 2, string schema_url 3
Metric string name 1, string description 2, string unit 3, Gauge gauge 5, Sum sum 7, Histogram histogram 9, ExponentialHistogram exponential_histogram 10, Summary summary 11, KeyValue* metadata 12
Gauge NumberDataPoint* data_points 1
Sum NumberDataPoint* data_points 1, enum aggregation_temporality 2, bool is_monotonic 3
Histogram HistogramDataPoint* data_points 1, enum aggregation_temporality 2
ExponentialHistogram ExponentialHistogramDataPoint* data_points 1, enum aggregation_temporality 2
Summary SummaryDataPoint* data_points 1
NumberDataPoint fixed64 start_time_unix_nano 2, fixed64 time_unix_nano 3, double as_double 4, Exemplar* exemplars 5, sfixed64 as_int 6, KeyValue* attributes 7, uint32 flags 8
HistogramDataPoint fixed64 start_time_unix_nano 2, fixed64 time_unix_nano 3, fixed64 count 4, double sum 5, fixed64* bucket_counts 6, double* explicit_bounds 7, Exemplar* exemplars 8, KeyValue* attributes 9, uint32 flags 10, double min 11, double max 12
ExponentialHistogramDataPoint KeyValue* attributes 1, fixed64 start_time_unix_nano 2, fixed64 time_unix_nano 3, fixed64 count 4, double sum 5, sint32 scale 6, fixed64 zero_count 7, Buckets positive 8, Buckets negative 9, uint32 flags 10, Exemplar* exemplars 11, double min 12, double max 13, double zero_threshold 14
Buckets sint32 offset 1, uint64* bucket_counts 2
SummaryDataPoint fixed64 start_time_unix_nano 2, fixed64 time_unix_nano 3, fixed64 count 4, double sum 5, ValueAtQuantile* quantile_values 6, KeyValue* attributes 7, uint32 flags 8
ValueAtQuantile double quantile 1, double value 2
Exemplar fixed64 time_unix_nano 2, double as_double 3, id span_id 4, id trace_id 5, sfixed64 as_int 6, KeyValue* filtered_attributes 7
Resource KeyValue* attributes 1, uint32 dropped_attributes_count 2, EntityRef* entity_refs 3
EntityRef string schema_url 1, string type 2, string* id_keys 3, string* description_keys 4
InstrumentationScope string name 1, string version 2, KeyValue* attributes 3, uint32 dropped_attributes_count 4
KeyValue string key 1, AnyValue value 2
AnyValue string string_value 1, bool bool_value 2, int64 int_value 3, double double_value 4, ArrayValue array_value 5, KeyValueList kvlist_value 6, bytes bytes_value 7
ArrayValue AnyValue* values 1
KeyValueList KeyValue* values 1`;

interface Row {
  readonly type: string;
  readonly repeated: boolean;
  readonly name: string;
  readonly number: number;
}

const messages = new Map<string, Row[]>(
  proto
    .trim()
    .split("\n")
    .map((line) => {
      const [, name = "", rows = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
      const fields = rows.split(", ").map((row) => {
        const [type = "", fieldName = "", number = ""] = row.split(" ");
        return { type: type.replace("*", ""), repeated: type.endsWith("*"), name: fieldName, number: Number(number) };
      });
      return [name, fields];
    }),
);

const requests: Record<Signal, string> = {
  traces: "ExportTraceServiceRequest",
  logs: "ExportLogsServiceRequest",
  metrics: "ExportMetricsServiceRequest",
};

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

const sized = (content: Buffer) => Buffer.concat([varint(BigInt(content.length)), content]);

function fixed(value: bigint, bits: 32 | 64): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return bytes.subarray(0, bits / 8);
}

/** The same request in both forms. */
export interface RandomRequest {
  readonly json: string;
  readonly protobuf: Buffer;
}

/** The same thing in both forms: JSON text, and protobuf without its tag. */
interface Pair {
  readonly json: string;
  readonly protobuf: Buffer;
  readonly wire: 0 | 1 | 2 | 5;
}

/** What a property asks for its random values. */
export type Draw = fc.GeneratorValue;

const ranges: Record<string, readonly [bigint, bigint]> = {
  fixed64: [0n, 2n ** 64n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
  sfixed64: [-(2n ** 63n), 2n ** 63n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  fixed32: [0n, 2n ** 32n - 1n],
  sint32: [-(2n ** 31n), 2n ** 31n - 1n],
};

/** A way to write an integer in JSON. */
function integerText(draw: Draw, value: bigint): string {
  const plain = String(value);
  const zeros = /0+$/.exec(plain)?.[0].length ?? 0;
  const forms = [plain, `"${plain}"`, `${plain}.0`, `"${plain}.00e0"`];
  if (value !== 0n) forms.push(`${plain}0e-1`);
  if (value !== 0n && zeros > 0) forms.push(`${plain.slice(0, -zeros)}E+${zeros}`);
  return draw(fc.constantFrom, ...forms);
}

function integer(draw: Draw, type: string): Pair {
  const [least, most] = ranges[type]!;
  const value = draw(fc.bigInt, { min: least, max: most });
  const json = integerText(draw, value);
  switch (type) {
    case "fixed64":
    case "sfixed64":
      return { json, protobuf: fixed(value, 64), wire: 1 };
    case "fixed32":
      return { json, protobuf: fixed(value, 32), wire: 5 };
    case "sint32":
      return { json, protobuf: varint(value < 0n ? -2n * value - 1n : 2n * value), wire: 0 };
    default:
      return { json, protobuf: varint(value), wire: 0 };
  }
}

const anyString = () =>
  fc.oneof(fc.string({ unit: "binary" }), fc.string({ maxLength: 300 }), fc.string({ unit: "grapheme" }));

function stringPair(draw: Draw): Pair {
  const value = draw(anyString).toWellFormed();
  const escape = draw(fc.boolean) ? /[^g-z]/ : /[^ !#-Z\]-\uffff]/;
  const units = Array.from({ length: value.length }, (_, i) => value.charCodeAt(i));
  const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, "0")}`;
  const json = units
    .map((unit) => (escape.test(String.fromCharCode(unit)) ? escaped(unit) : String.fromCharCode(unit)))
    .join("");
  return { json: draw(fc.boolean) ? `"${json}"` : JSON.stringify(value), protobuf: sized(Buffer.from(value)), wire: 2 };
}

function scalar(draw: Draw, type: string, name: string): Pair {
  switch (type) {
    case "string":
      return stringPair(draw);
    case "bool": {
      const value = draw(fc.boolean);
      return { json: String(value), protobuf: Buffer.from([value ? 1 : 0]), wire: 0 };
    }
    case "double": {
      const short = draw(fc.integer, { min: -999_999, max: 999_999 }) / 10 ** draw(fc.nat, { max: 6 });
      const value = draw(fc.boolean) ? draw(fc.double) : short;
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(value);
      const plain = Object.is(value, -0) ? "-0.0" : String(value);
      return { json: Number.isFinite(value) && draw(fc.boolean) ? plain : `"${plain}"`, protobuf: bytes, wire: 1 };
    }
    case "id": {
      const value = Buffer.from(draw(fc.uint8Array, { maxLength: 17 }));
      const hex = value.toString("hex");
      return { json: `"${draw(fc.boolean) ? hex.toUpperCase() : hex}"`, protobuf: sized(value), wire: 2 };
    }
    case "bytes": {
      const value = Buffer.from(draw(fc.uint8Array));
      const coded = value.toString(draw(fc.constantFrom, "base64" as const, "base64url" as const));
      return {
        json: JSON.stringify(coded).replaceAll("/", draw(fc.constantFrom, "/", "\\/")),
        protobuf: sized(value),
        wire: 2,
      };
    }
    case "enum": {
      const names: Record<string, readonly [string, number]> = {
        kind: ["SPAN_KIND_CONSUMER", 5],
        code: ["STATUS_CODE_ERROR", 2],
        severity_number: ["SEVERITY_NUMBER_FATAL4", 24],
        aggregation_temporality: ["AGGREGATION_TEMPORALITY_CUMULATIVE", 2],
      };
      const [word, number] = names[name]!;
      if (draw(fc.boolean)) return { json: `"${word}"`, protobuf: varint(BigInt(number)), wire: 0 };
      const value = draw(fc.integer, { min: -1, max: 40 });
      return { json: integerText(draw, BigInt(value)), protobuf: varint(BigInt(value)), wire: 0 };
    }
    default:
      return integer(draw, type);
  }
}

/** White space, or none. */
export const space = (draw: Draw) => draw(fc.constantFrom, "", "", "", " ", "\n\t", " \r\n ");

function single(draw: Draw, row: Row, depth: number): Pair {
  if (!messages.has(row.type)) return scalar(draw, row.type, row.name);
  const { json, protobuf } = message(draw, row.type, depth + 1);
  return { json, protobuf: sized(protobuf), wire: 2 };
}

function field(draw: Draw, row: Row, depth: number): Pair {
  if (!row.repeated) return single(draw, row, depth);
  const items = Array.from({ length: draw(fc.integer, { min: 0, max: 3 }) }, () => single(draw, row, depth));
  const json = `[${space(draw)}${items.map((i) => i.json).join(`${space(draw)},${space(draw)}`)}${space(draw)}]`;
  if (messages.has(row.type) || row.type === "string") {
    return {
      json,
      protobuf: Buffer.concat(items.map((i) => Buffer.concat([varint(BigInt((row.number << 3) | 2)), i.protobuf]))),
      wire: 2,
    };
  }
  const packed = Buffer.concat([
    varint(BigInt((row.number << 3) | 2)),
    sized(Buffer.concat(items.map((i) => i.protobuf))),
  ]);
  return { json, protobuf: items.length === 0 ? Buffer.alloc(0) : packed, wire: 2 };
}

/** A random message of a type: some of its fields in any order, and things that mean nothing. */
function message(draw: Draw, type: string, depth: number): RandomRequest {
  // AnyValue may hold itself: from some depth on, only what ends.
  const rows = messages.get(type)!.filter((row) => depth < 12 || !messages.has(row.type));
  const chosen =
    depth < 4 && rows.length > 0 ? rows : draw(fc.shuffledSubarray, rows, { maxLength: Math.min(5, rows.length) });
  const members: string[] = [];
  const parts: Buffer[] = [];
  for (const row of chosen) {
    const camel = row.name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const key = JSON.stringify(draw(fc.constantFrom, camel, camel, row.name));
    if (draw(fc.integer, { min: 0, max: 15 }) === 0) {
      members.push(`${key}:null`);
      continue;
    }
    if (draw(fc.integer, { min: 0, max: 15 }) === 0) {
      members.push(`"${row.name}X":${JSON.stringify(draw(fc.json))},"other":${draw(fc.json)}`);
    }
    const { json, protobuf, wire } = field(draw, row, depth);
    members.push(`${key}${space(draw)}:${space(draw)}${json}`);
    parts.push(row.repeated ? protobuf : Buffer.concat([varint(BigInt((row.number << 3) | wire)), protobuf]));
  }
  return { json: `{${space(draw)}${members.join(`${space(draw)},`)}${space(draw)}}`, protobuf: Buffer.concat(parts) };
}

/**
 * A random Export…ServiceRequest of a signal, as JSON and as protobuf: from level `depth` of 12 on down, so that a
 * larger one makes smaller requests. It is written in all the ways that ProtoJSON allows.
 */
export function randomRequest(draw: Draw, signal: Signal, depth = 0): RandomRequest {
  return message(draw, requests[signal], depth);
}
