import assert from "node:assert/strict";
import { after, test } from "node:test";
import { MetricBlock } from "../../../telemetry/blocks/metric-block.ts";
import { decodeMetrics } from "./decode-metrics.ts";
import type { Field } from "./messages-for-tests.ts";
import { attributes, field, Pairs, request, spanId, traceId } from "./messages-for-tests.ts";
import { openStoredRows, type StoredRow } from "./stored-rows-for-tests.ts";

const stored = openStoredRows();
after(() => stored.close());

const arrival = "1800000000123000000";
const context = { workspace: "acme", project: "web", nowMs: 1_800_000_000_123 };
const block = new MetricBlock();

function storedPoints(...metrics: readonly (readonly Field[])[]): StoredRow[] {
  block.reset();
  assert.deepEqual(decodeMetrics(request({ items: metrics }), block, context), { accepted: block.rows, rejected: 0 });
  return stored.of("metric_points", block);
}

/** The fields of Metric for each type of points. */
const dataField = { gauge: 5, sum: 7, histogram: 9, exponential_histogram: 10, summary: 11 } as const;
const metric = (type: keyof typeof dataField, ...data: readonly Field[]) => [
  field.bytes(1, "m"),
  field.message(dataField[type], ...data),
];
const point = (...fields: readonly Field[]) => field.message(1, ...fields);
const storedPoint = (type: keyof typeof dataField, ...fields: readonly Field[]) =>
  storedPoints(metric(type, point(...fields)))[0]!;

const emptyRow: StoredRow = {
  workspace: "acme",
  project: "web",
  received: 1_800_000_000,
  seq: "4294966784",
  service_namespace: "",
  service_name: "unknown_service",
  service_version: "",
  service_instance: "",
  environment: "",
  resource: '{"attributes":[],"dropped_attributes_count":0}',
  resource_meta: "",
  scope: '{"name":"","attributes":[],"dropped_attributes_count":0}',
  scope_meta: "",
  metric_name: "m",
  description: "",
  unit: "",
  type: "gauge",
  temporality: 0,
  is_monotonic: 0,
  metadata: "",
  start_ts: "0",
  ts: arrival,
  flags: 0,
  value_type: "",
  value: 0,
  value_int: "0",
  count: "0",
  sum: 0,
  min: 0,
  max: 0,
  present: 0,
  bucket_counts: [],
  explicit_bounds: [],
  scale: 0,
  zero_count: "0",
  zero_threshold: 0,
  positive_offset: 0,
  positive_counts: [],
  negative_offset: 0,
  negative_counts: [],
  quantiles: [],
  quantile_values: [],
  exemplars: "",
  attributes: [],
  attribute_types: "",
};

const max64 = 2n ** 64n - 1n;
const times = [field.fixed64(2, 1_790_000_000_000_000_001n), field.fixed64(3, 1_790_000_060_000_000_002n)];
const storedTimes = { start_ts: "1790000000000000001", ts: "1790000060000000002" };

function packed(number: number, ...values: readonly bigint[]): Field {
  const content = Buffer.alloc(values.length * 8);
  values.forEach((value, i) => content.writeBigUInt64LE(value, i * 8));
  return field.bytes(number, content);
}

function packedDoubles(number: number, ...values: readonly number[]): Field {
  const content = Buffer.alloc(values.length * 8);
  values.forEach((value, i) => content.writeDoubleLE(value, i * 8));
  return field.bytes(number, content);
}

test("a point with nothing in it has the defaults, and its arrival for its time", () => {
  assert.deepEqual(storedPoint("gauge"), { ...emptyRow, value_type: "n" });
  assert.deepEqual(storedPoint("histogram"), { ...emptyRow, type: "histogram" });
  assert.deepEqual(storedPoint("exponential_histogram"), { ...emptyRow, type: "exponential_histogram" });
  assert.deepEqual(storedPoint("summary"), { ...emptyRow, type: "summary", present: 1 });
});

test("a sum is stored with what describes it and its exemplars", () => {
  const exemplar = (...fields: Field[]) => field.message(5, ...fields);
  const [row] = storedPoints([
    field.message(
      7,
      field.message(
        1,
        ...attributes(7, [
          ["route", "/"],
          ["code", 200n],
        ]),
        ...times,
        field.fixed64(6, 2n ** 63n),
        exemplar(
          ...attributes(7, [
            ["user", "Ada"],
            ["vip", true],
          ]),
          field.fixed64(2, max64),
          field.fixed64(6, -5n),
          field.bytes(4, spanId),
          field.bytes(5, traceId),
        ),
        exemplar(field.double(3, 0.5)),
        exemplar(field.double(3, Number.POSITIVE_INFINITY)),
        exemplar(),
        field.varint(8, 1),
      ),
      field.varint(2, 2),
      field.varint(3, 1),
    ),
    field.bytes(1, "http.requests"),
    field.bytes(2, "how many"),
    field.bytes(3, "{request}"),
    ...attributes(12, [
      ["source", "agent"],
      ["limits", new Pairs(["max", 5n])],
    ]),
  ]);
  assert.deepEqual(row, {
    ...emptyRow,
    ...storedTimes,
    metric_name: "http.requests",
    description: "how many",
    unit: "{request}",
    type: "sum",
    temporality: 2,
    is_monotonic: 1,
    metadata: '{"source":"agent","limits":{"max":5}}',
    flags: 1,
    value_type: "i",
    value: -(2 ** 63),
    value_int: String(-(2n ** 63n)),
    exemplars:
      '[{"time_unix_nano":18446744073709551615,"value":-5,"value_type":"i",' +
      '"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331",' +
      '"attributes":[{"key":"user","value":"Ada"},{"key":"vip","value":"true"}],"types":"sb"},' +
      '{"time_unix_nano":0,"value":0.5,"value_type":"d","trace_id":"","span_id":"","attributes":[],"types":""},' +
      '{"time_unix_nano":0,"value":"Infinity","value_type":"d","trace_id":"","span_id":"","attributes":[],"types":""},' +
      '{"time_unix_nano":0,"value":null,"value_type":"n","trace_id":"","span_id":"","attributes":[],"types":""}]',
    attributes: [
      ["route", "/"],
      ["code", "200"],
    ],
    attribute_types: "si",
  });
});

test("a gauge's number is an integer or a double, and the last of both where it says two", () => {
  const value = (...fields: Field[]) => {
    const row = storedPoint("gauge", ...fields);
    return [row.value_type, row.value, row.value_int];
  };
  assert.deepEqual(value(field.double(4, 1.5)), ["d", 1.5, "0"]);
  assert.deepEqual(value(field.double(4, 0)), ["d", 0, "0"]);
  assert.deepEqual(value(field.double(4, Number.NaN)), ["d", "nan", "0"]);
  assert.deepEqual(value(field.double(4, Number.NEGATIVE_INFINITY)), ["d", "-inf", "0"]);
  assert.deepEqual(value(field.fixed64(6, 9_007_199_254_740_993n)), ["i", 9_007_199_254_740_992, "9007199254740993"]);
  assert.deepEqual(value(field.fixed64(6, 5n), field.double(4, 2)), ["d", 2, "0"]);
  assert.deepEqual(value(field.double(4, 2), field.fixed64(6, 5n)), ["i", 5, "5"]);
});

test("a histogram is stored, packed or not, with the fields that it has", () => {
  const row = storedPoint(
    "histogram",
    ...attributes(9, [["a", "b"]]),
    ...times,
    field.fixed64(4, max64),
    field.double(5, 0),
    packed(6, 1n, max64),
    field.fixed64(6, 3n),
    packedDoubles(7, 0.5),
    field.double(7, 10),
    field.message(8, field.double(3, 1)),
    field.varint(10, 0xffffffff),
    field.double(11, -1),
    field.double(12, 99.5),
  );
  assert.deepEqual(row, {
    ...emptyRow,
    ...storedTimes,
    type: "histogram",
    count: String(max64),
    sum: 0,
    min: -1,
    max: 99.5,
    present: 7,
    bucket_counts: ["1", String(max64), "3"],
    explicit_bounds: [0.5, 10],
    flags: 0xffffffff,
    exemplars:
      '[{"time_unix_nano":0,"value":1,"value_type":"d","trace_id":"","span_id":"","attributes":[],"types":""}]',
    attributes: [["a", "b"]],
  });
  assert.equal(storedPoint("histogram", field.double(12, 0)).present, 4);
  assert.equal(storedPoint("histogram", field.double(11, 0)).present, 2);
});

test("an exponential histogram is stored, packed or not", () => {
  const zigzag = (value: bigint) => BigInt.asUintN(32, (value << 1n) ^ (value >> 31n));
  const row = storedPoint(
    "exponential_histogram",
    ...attributes(1, [["a", 1n]]),
    ...times,
    field.fixed64(4, 12n),
    field.double(5, 3.5),
    field.varint(6, zigzag(-10n)),
    field.fixed64(7, 2n),
    field.message(
      8,
      field.varint(1, zigzag(-(2n ** 31n))),
      field.bytes(2, Buffer.from([1, 0xac, 0x02])),
      field.varint(2, max64),
    ),
    field.message(9, field.varint(1, zigzag(2n ** 31n - 1n)), field.varint(2, 7n)),
    field.varint(10, 1),
    field.message(11, field.double(3, 1)),
    field.double(12, 0.25),
    field.double(13, 0.5),
    field.double(14, 0.001),
  );
  assert.deepEqual(row, {
    ...emptyRow,
    ...storedTimes,
    type: "exponential_histogram",
    count: "12",
    sum: 3.5,
    min: 0.25,
    max: 0.5,
    present: 7,
    scale: -10,
    zero_count: "2",
    zero_threshold: 0.001,
    positive_offset: -(2 ** 31),
    positive_counts: ["1", "300", String(max64)],
    negative_offset: 2 ** 31 - 1,
    negative_counts: ["7"],
    flags: 1,
    exemplars:
      '[{"time_unix_nano":0,"value":1,"value_type":"d","trace_id":"","span_id":"","attributes":[],"types":""}]',
    attributes: [["a", "1"]],
    attribute_types: "i",
  });
});

test("a summary is stored with its quantiles", () => {
  const row = storedPoint(
    "summary",
    ...attributes(7, [["a", "b"]]),
    ...times,
    field.fixed64(4, 5n),
    field.double(5, 1.25),
    field.message(6, field.double(1, 0.5), field.double(2, 10)),
    field.message(6, field.double(2, 20)),
    field.varint(8, 1),
  );
  assert.deepEqual(row, {
    ...emptyRow,
    ...storedTimes,
    type: "summary",
    count: "5",
    sum: 1.25,
    present: 1,
    quantiles: [0.5, 0],
    quantile_values: [10, 20],
    flags: 1,
    attributes: [["a", "b"]],
  });
});

test("points of different metrics and types lie side by side", () => {
  const rows = storedPoints(
    metric("gauge", point(field.double(4, 1)), point(field.double(4, 2))),
    metric("histogram", point(packed(6, 1n), field.double(5, 1)), field.varint(2, 1)),
    [field.bytes(1, "no points")],
    metric("sum", point(field.fixed64(6, 3n)), field.varint(2, 2), field.varint(3, 1)),
    metric("summary", point(field.message(6, field.double(1, 1), field.double(2, 2)))),
    metric("exponential_histogram", point(field.message(8, field.varint(2, 4n)))),
    metric("gauge", point(field.double(4, 5))),
  );
  assert.deepEqual(
    rows.map((row) => [
      row.type,
      row.value,
      row.temporality,
      row.is_monotonic,
      row.bucket_counts,
      row.positive_counts,
      row.quantiles,
    ]),
    [
      ["gauge", 1, 0, 0, [], [], []],
      ["gauge", 2, 0, 0, [], [], []],
      ["histogram", 0, 1, 0, ["1"], [], []],
      ["sum", 3, 2, 1, [], [], []],
      ["summary", 0, 0, 0, [], [], [1]],
      ["exponential_histogram", 0, 0, 0, [], ["4"], []],
      ["gauge", 5, 0, 0, [], [], []],
    ],
  );
});
