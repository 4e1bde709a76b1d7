import type { Variant } from "./table.ts";

/** For forms in which `attributes` is no map: without the columns that are made of it. */
const noneDerived = { peer: "" };
const shippedSettings = ["fsync_after_insert = 1", "fsync_part_directory = 1", "min_bytes_for_wide_part = 134217728"];
const tokens = "arrayMap((k, v) -> concat(k, '=', v), mapKeys(attributes), mapValues(attributes))";
const traceProjection = "PROJECTION by_trace INDEX trace_id TYPE basic";
const traceBloom = "INDEX trace_id_bloom trace_id TYPE bloom_filter(0.01) GRANULARITY 1";
const keysAndValues = ["keys", "values"].map(
  (part) =>
    `INDEX attribute_${part} map${part === "keys" ? "Keys" : "Values"}(attributes) TYPE bloom_filter(0.01) GRANULARITY 1`,
);
const wordIndex = "INDEX body_words lower(body) TYPE text(tokenizer = 'splitByNonAlpha')";

type Form = Omit<Variant, "signal">;

const spans: Form[] = [
  { name: "shipped" },
  { name: "no-indexes", indexes: [] },
  { name: "plain", indexes: [], orderBy: "(workspace, ts)", settings: [] },
  { name: "ts-seq", indexes: [], orderBy: "(workspace, ts, seq)" },
  { name: "minute-service", indexes: [], orderBy: "(workspace, toStartOfMinute(ts), service_name, ts)" },
  { name: "5min-service", indexes: [], orderBy: "(workspace, toStartOfFiveMinutes(ts), service_name, ts)" },
  { name: "service-ts", indexes: [], orderBy: "(workspace, service_name, ts)" },
  { name: "trace-bloom", indexes: [traceBloom] },
  { name: "trace-projection", indexes: [traceProjection] },
  {
    name: "trace-offsets",
    indexes: ["PROJECTION by_trace (SELECT trace_id, _part_offset ORDER BY trace_id)"],
  },
  { name: "trace-text", indexes: ["INDEX trace_text trace_id TYPE text(tokenizer = 'array')"] },
  { name: "keys-values-bloom", indexes: keysAndValues },
  { name: "values-bloom", indexes: ["INDEX attribute_values mapValues(attributes) TYPE bloom_filter(0.01)"] },
  {
    name: "values-text",
    indexes: ["INDEX attribute_values mapValues(attributes) TYPE text(tokenizer = 'array')"],
  },
  {
    name: "pairs-text",
    indexes: [`INDEX pairs ${tokens} TYPE text(tokenizer = 'array')`],
    conditions: { attribute: `has(${tokens}, concat({key}, '=', {value}))` },
  },
  {
    name: "pairs-text-packed",
    indexes: [`INDEX pairs ${tokens} TYPE text(tokenizer = 'array', posting_list_codec = 'bitpacking')`],
    conditions: { attribute: `has(${tokens}, concat({key}, '=', {value}))` },
  },
  {
    name: "pairs-bloom",
    indexes: [`INDEX pairs ${tokens} TYPE bloom_filter(0.01)`],
    conditions: { attribute: `has(${tokens}, concat({key}, '=', {value}))` },
  },
  {
    name: "arrays",
    indexes: [],
    columns: {
      ...noneDerived,
      attributes: "",
      attribute_keys: "Array(LowCardinality(String)) CODEC(ZSTD(3))",
      attribute_values: "Array(String) CODEC(ZSTD(3))",
    },
    fill: { attributes: "mapKeys(attributes) AS attribute_keys, mapValues(attributes) AS attribute_values" },
    conditions: { attribute: "attribute_values[indexOf(attribute_keys, {key})] = {value}" },
  },
  {
    name: "json-text",
    indexes: [],
    columns: { ...noneDerived, attributes: "String CODEC(ZSTD(3))" },
    fill: { attributes: "toJSONString(attributes) AS attributes" },
    conditions: { attribute: "JSONExtractString(attributes, {key}) = {value}" },
  },
  {
    name: "json-type",
    indexes: [],
    columns: { ...noneDerived, attributes: "JSON" },
    fill: { attributes: "CAST(toJSONString(attributes), 'JSON') AS attributes" },
    conditions: { attribute: "attributes.{path} = {value}" },
  },
  { name: "map-buckets", indexes: [], settings: ["map_serialization_version = 'with_buckets'"] },
  { name: "map-lz4", indexes: [], columns: { attributes: "Map(LowCardinality(String), String) CODEC(LZ4)" } },
  { name: "map-zstd1", indexes: [], columns: { attributes: "Map(LowCardinality(String), String) CODEC(ZSTD(1))" } },
  {
    name: "number-codecs",
    indexes: [],
    columns: {
      ts: "DateTime64(9, 'UTC') CODEC(DoubleDelta, ZSTD)",
      seq: "UInt64 CODEC(DoubleDelta, ZSTD)",
      received: "DateTime('UTC') CODEC(DoubleDelta, ZSTD)",
      duration_ns: "Int64 CODEC(T64, ZSTD)",
    },
  },
  {
    name: "ids-raw",
    indexes: [],
    columns: { span_id: "FixedString(8) CODEC(NONE)", trace_id: "FixedString(16) CODEC(LZ4)" },
  },
  { name: "granules-4096", settings: [...shippedSettings, "index_granularity = 4096"] },
  { name: "granules-2048", settings: [...shippedSettings, "index_granularity = 2048"] },
  { name: "granules-1024", settings: [...shippedSettings, "index_granularity = 1024"] },
  { name: "hour-partitions", partitionBy: "toStartOfHour(received)" },
  { name: "wide", indexes: [], settings: ["min_bytes_for_wide_part = 0"] },
  {
    name: "compact",
    indexes: [],
    settings: ["min_bytes_for_wide_part = 100000000000", "min_rows_for_wide_part = 1000000000000"],
  },
  {
    name: "resource-map",
    indexes: [],
    columns: { resource: "Map(LowCardinality(String), String) CODEC(ZSTD)" },
    fill: {
      resource:
        "mapFromArrays(arrayMap(x -> JSONExtractString(x, 'key'), JSONExtractArrayRaw(resource)), arrayMap(x -> JSONExtractString(x, 'value'), JSONExtractArrayRaw(resource))) AS resource",
    },
  },
];

const logs: Form[] = [
  { name: "shipped" },
  { name: "no-indexes", indexes: [] },
  { name: "plain", indexes: [], orderBy: "(workspace, ts)", settings: [] },
  { name: "5min-service", indexes: [], orderBy: "(workspace, toStartOfFiveMinutes(ts), service_name, ts)" },
  { name: "service-ts", indexes: [], orderBy: "(workspace, service_name, ts)" },
  { name: "keys-values-bloom", indexes: keysAndValues },
  { name: "words-text", indexes: [wordIndex] },
  {
    name: "words-text-packed",
    indexes: [wordIndex.replace("')", "', posting_list_codec = 'bitpacking')")],
  },
  {
    name: "words-tokenbf",
    indexes: ["INDEX body_words lower(body) TYPE tokenbf_v1(32768, 3, 0) GRANULARITY 1"],
    conditions: { word: "hasToken(lower(body), lower({word}))" },
  },
  { name: "values-bloom", indexes: ["INDEX attribute_values mapValues(attributes) TYPE bloom_filter(0.01)"] },
  {
    name: "pairs-bloom",
    indexes: [`INDEX pairs ${tokens} TYPE bloom_filter(0.01)`],
    conditions: { attribute: `has(${tokens}, concat({key}, '=', {value}))` },
  },
  { name: "trace-bloom", indexes: [traceBloom] },
  { name: "trace-projection", indexes: [traceProjection] },
  // Answers with too few rows in engine 26.7, which the comparison of answers reports.
  {
    name: "words-preprocessor",
    indexes: [
      "INDEX body_words body TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(body), posting_list_codec = 'bitpacking')",
    ],
    conditions: { word: "hasAllTokens(body, {word})" },
  },
  { name: "granules-4096", settings: [...shippedSettings, "index_granularity = 4096"] },
  { name: "granules-8192", settings: shippedSettings },
  { name: "granules-1024", settings: [...shippedSettings, "index_granularity = 1024"] },
  { name: "hour-partitions", partitionBy: "toStartOfHour(received)" },
  { name: "body-zstd3", indexes: [], columns: { body: "String CODEC(ZSTD(3))" } },
  { name: "body-lz4", indexes: [], columns: { body: "String CODEC(LZ4)" } },
  { name: "severity-minmax", indexes: ["INDEX severity severity_number TYPE minmax GRANULARITY 1"] },
  { name: "service-set", indexes: ["INDEX service service_name TYPE set(0) GRANULARITY 1"] },
  { name: "severity-text", indexes: ["INDEX severity severity_text TYPE text(tokenizer = 'array')"] },
];

/** The first of each signal is the shipped form; the later ones are compared with it. */
export const variants: readonly Variant[] = [
  ...spans.map((v): Variant => ({ ...v, signal: "spans" })),
  ...logs.map((v): Variant => ({ ...v, signal: "logs" })),
];
