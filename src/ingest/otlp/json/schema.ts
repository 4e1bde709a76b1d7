/**
 * OTLP's messages as field tables, from opentelemetry-proto 1.10
 * (common, resource, trace, logs, metrics and their collector requests).
 */
import { messageType } from "./message-type.ts";
import type { FieldTables, MessageType } from "./message-type.ts";
import type { Signal } from "../signal.ts";

const spanKinds = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"].map((n) => `SPAN_KIND_${n}`);
const statusCodes = ["UNSET", "OK", "ERROR"].map((n) => `STATUS_CODE_${n}`);
const temporalities = ["UNSPECIFIED", "DELTA", "CUMULATIVE"].map((n) => `AGGREGATION_TEMPORALITY_${n}`);
const severities = [
  "UNSPECIFIED",
  ...["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"].flatMap((n) => [n, `${n}2`, `${n}3`, `${n}4`]),
].map((n) => `SEVERITY_NUMBER_${n}`);

const attributes = (number: number) => ({ number, kind: "message", message: "KeyValue", repeated: true }) as const;
const many = (number: number, message: string) => ({ number, kind: "message", message, repeated: true }) as const;
const one = (number: number, message: string) => ({ number, kind: "message", message }) as const;

const tables: FieldTables = {
  ExportTraceServiceRequest: { resourceSpans: many(1, "ResourceSpans") },
  ResourceSpans: {
    resource: one(1, "Resource"),
    scopeSpans: many(2, "ScopeSpans"),
    schemaUrl: { number: 3, kind: "string" },
  },
  ScopeSpans: {
    scope: one(1, "InstrumentationScope"),
    spans: many(2, "Span"),
    schemaUrl: { number: 3, kind: "string" },
  },
  Span: {
    traceId: { number: 1, kind: "id" },
    spanId: { number: 2, kind: "id" },
    traceState: { number: 3, kind: "string" },
    parentSpanId: { number: 4, kind: "id" },
    name: { number: 5, kind: "string" },
    kind: { number: 6, kind: "enum", names: spanKinds },
    startTimeUnixNano: { number: 7, kind: "fixed64" },
    endTimeUnixNano: { number: 8, kind: "fixed64" },
    attributes: attributes(9),
    droppedAttributesCount: { number: 10, kind: "uint32" },
    events: many(11, "SpanEvent"),
    droppedEventsCount: { number: 12, kind: "uint32" },
    links: many(13, "SpanLink"),
    droppedLinksCount: { number: 14, kind: "uint32" },
    status: one(15, "Status"),
    flags: { number: 16, kind: "fixed32" },
  },
  SpanEvent: {
    timeUnixNano: { number: 1, kind: "fixed64" },
    name: { number: 2, kind: "string" },
    attributes: attributes(3),
    droppedAttributesCount: { number: 4, kind: "uint32" },
  },
  SpanLink: {
    traceId: { number: 1, kind: "id" },
    spanId: { number: 2, kind: "id" },
    traceState: { number: 3, kind: "string" },
    attributes: attributes(4),
    droppedAttributesCount: { number: 5, kind: "uint32" },
    flags: { number: 6, kind: "fixed32" },
  },
  Status: {
    message: { number: 2, kind: "string" },
    code: { number: 3, kind: "enum", names: statusCodes },
  },

  ExportLogsServiceRequest: { resourceLogs: many(1, "ResourceLogs") },
  ResourceLogs: {
    resource: one(1, "Resource"),
    scopeLogs: many(2, "ScopeLogs"),
    schemaUrl: { number: 3, kind: "string" },
  },
  ScopeLogs: {
    scope: one(1, "InstrumentationScope"),
    logRecords: many(2, "LogRecord"),
    schemaUrl: { number: 3, kind: "string" },
  },
  LogRecord: {
    timeUnixNano: { number: 1, kind: "fixed64" },
    severityNumber: { number: 2, kind: "enum", names: severities },
    severityText: { number: 3, kind: "string" },
    body: one(5, "AnyValue"),
    attributes: attributes(6),
    droppedAttributesCount: { number: 7, kind: "uint32" },
    flags: { number: 8, kind: "fixed32" },
    traceId: { number: 9, kind: "id" },
    spanId: { number: 10, kind: "id" },
    observedTimeUnixNano: { number: 11, kind: "fixed64" },
    eventName: { number: 12, kind: "string" },
  },

  ExportMetricsServiceRequest: { resourceMetrics: many(1, "ResourceMetrics") },
  ResourceMetrics: {
    resource: one(1, "Resource"),
    scopeMetrics: many(2, "ScopeMetrics"),
    schemaUrl: { number: 3, kind: "string" },
  },
  ScopeMetrics: {
    scope: one(1, "InstrumentationScope"),
    metrics: many(2, "Metric"),
    schemaUrl: { number: 3, kind: "string" },
  },
  Metric: {
    name: { number: 1, kind: "string" },
    description: { number: 2, kind: "string" },
    unit: { number: 3, kind: "string" },
    gauge: one(5, "Gauge"),
    sum: one(7, "Sum"),
    histogram: one(9, "Histogram"),
    exponentialHistogram: one(10, "ExponentialHistogram"),
    summary: one(11, "Summary"),
    metadata: attributes(12),
  },
  Gauge: { dataPoints: many(1, "NumberDataPoint") },
  Sum: {
    dataPoints: many(1, "NumberDataPoint"),
    aggregationTemporality: { number: 2, kind: "enum", names: temporalities },
    isMonotonic: { number: 3, kind: "bool" },
  },
  Histogram: {
    dataPoints: many(1, "HistogramDataPoint"),
    aggregationTemporality: { number: 2, kind: "enum", names: temporalities },
  },
  ExponentialHistogram: {
    dataPoints: many(1, "ExponentialHistogramDataPoint"),
    aggregationTemporality: { number: 2, kind: "enum", names: temporalities },
  },
  Summary: { dataPoints: many(1, "SummaryDataPoint") },
  NumberDataPoint: {
    startTimeUnixNano: { number: 2, kind: "fixed64" },
    timeUnixNano: { number: 3, kind: "fixed64" },
    asDouble: { number: 4, kind: "double" },
    exemplars: many(5, "Exemplar"),
    asInt: { number: 6, kind: "sfixed64" },
    attributes: attributes(7),
    flags: { number: 8, kind: "uint32" },
  },
  HistogramDataPoint: {
    startTimeUnixNano: { number: 2, kind: "fixed64" },
    timeUnixNano: { number: 3, kind: "fixed64" },
    count: { number: 4, kind: "fixed64" },
    sum: { number: 5, kind: "double" },
    bucketCounts: { number: 6, kind: "fixed64", repeated: true },
    explicitBounds: { number: 7, kind: "double", repeated: true },
    exemplars: many(8, "Exemplar"),
    attributes: attributes(9),
    flags: { number: 10, kind: "uint32" },
    min: { number: 11, kind: "double" },
    max: { number: 12, kind: "double" },
  },
  ExponentialHistogramDataPoint: {
    attributes: attributes(1),
    startTimeUnixNano: { number: 2, kind: "fixed64" },
    timeUnixNano: { number: 3, kind: "fixed64" },
    count: { number: 4, kind: "fixed64" },
    sum: { number: 5, kind: "double" },
    scale: { number: 6, kind: "sint32" },
    zeroCount: { number: 7, kind: "fixed64" },
    positive: one(8, "Buckets"),
    negative: one(9, "Buckets"),
    flags: { number: 10, kind: "uint32" },
    exemplars: many(11, "Exemplar"),
    min: { number: 12, kind: "double" },
    max: { number: 13, kind: "double" },
    zeroThreshold: { number: 14, kind: "double" },
  },
  Buckets: {
    offset: { number: 1, kind: "sint32" },
    bucketCounts: { number: 2, kind: "uint64", repeated: true },
  },
  SummaryDataPoint: {
    startTimeUnixNano: { number: 2, kind: "fixed64" },
    timeUnixNano: { number: 3, kind: "fixed64" },
    count: { number: 4, kind: "fixed64" },
    sum: { number: 5, kind: "double" },
    quantileValues: many(6, "ValueAtQuantile"),
    attributes: attributes(7),
    flags: { number: 8, kind: "uint32" },
  },
  ValueAtQuantile: { quantile: { number: 1, kind: "double" }, value: { number: 2, kind: "double" } },
  Exemplar: {
    timeUnixNano: { number: 2, kind: "fixed64" },
    asDouble: { number: 3, kind: "double" },
    spanId: { number: 4, kind: "id" },
    traceId: { number: 5, kind: "id" },
    asInt: { number: 6, kind: "sfixed64" },
    filteredAttributes: attributes(7),
  },

  Resource: {
    attributes: attributes(1),
    droppedAttributesCount: { number: 2, kind: "uint32" },
    entityRefs: many(3, "EntityRef"),
  },
  EntityRef: {
    schemaUrl: { number: 1, kind: "string" },
    type: { number: 2, kind: "string" },
    idKeys: { number: 3, kind: "string", repeated: true },
    descriptionKeys: { number: 4, kind: "string", repeated: true },
  },
  InstrumentationScope: {
    name: { number: 1, kind: "string" },
    version: { number: 2, kind: "string" },
    attributes: attributes(3),
    droppedAttributesCount: { number: 4, kind: "uint32" },
  },
  KeyValue: { key: { number: 1, kind: "string" }, value: one(2, "AnyValue") },
  AnyValue: {
    stringValue: { number: 1, kind: "string" },
    boolValue: { number: 2, kind: "bool" },
    intValue: { number: 3, kind: "int64" },
    doubleValue: { number: 4, kind: "double" },
    arrayValue: one(5, "ArrayValue"),
    kvlistValue: one(6, "KeyValueList"),
    bytesValue: { number: 7, kind: "bytes" },
  },
  ArrayValue: { values: many(1, "AnyValue") },
  KeyValueList: { values: many(1, "KeyValue") },
};

/** The request message of each signal. */
export const requestTypes: Readonly<Record<Signal, MessageType>> = {
  traces: messageType("ExportTraceServiceRequest", tables),
  logs: messageType("ExportLogsServiceRequest", tables),
  metrics: messageType("ExportMetricsServiceRequest", tables),
};
