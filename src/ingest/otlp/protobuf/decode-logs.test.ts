import assert from "node:assert/strict";
import { after, test } from "node:test";
import { LogBlock } from "../../../telemetry/blocks/log-block.ts";
import { decodeLogs } from "./decode-logs.ts";
import type { Field, Value } from "./messages-for-tests.ts";
import { anyValue, attributes, field, Pairs, request, spanId, traceId } from "./messages-for-tests.ts";
import { openStoredRows, type StoredRow } from "./stored-rows-for-tests.ts";

const stored = openStoredRows();
after(() => stored.close());

const nowMs = 1_800_000_000_123;
const arrival = "1800000000123000000";
const context = { workspace: "acme", project: "web", nowMs };
const block = new LogBlock();

/** What the engine has of a request in which nothing is refused. */
function storedLogs(bytes: Uint8Array): StoredRow[] {
  block.reset();
  assert.deepEqual(decodeLogs(bytes, block, context), { accepted: block.rows, rejected: 0 });
  return stored.of("logs", block);
}

const storedLog = (...fields: readonly Field[]) => storedLogs(request({ items: [fields] }))[0]!;

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
  ts: arrival,
  observed_ts: arrival,
  severity_number: 0,
  severity_text: "UNSPECIFIED",
  event_name: "",
  body: "",
  body_mask: "0",
  body_type: "n",
  trace_id: "0".repeat(32),
  span_id: "0".repeat(16),
  flags: 0,
  session_id: "",
  attributes: [],
  attribute_types: "",
  dropped_attributes: 0,
};

test("a record with nothing in it has the defaults, and its arrival for its times", () => {
  assert.deepEqual(storedLog(), emptyRow);
});

test("every field of a log record is stored", () => {
  const row = storedLog(
    field.fixed64(1, 1_790_000_000_123_456_789n),
    field.fixed64(11, 1_790_000_000_200_000_000n),
    field.varint(2, 17),
    field.bytes(3, "Error"),
    field.message(5, ...anyValue("cannot reach the bank")),
    ...attributes(6, [
      ["session.id", "s1"],
      ["retries", 3n],
    ]),
    field.varint(7, 2),
    field.fixed32(8, 1),
    field.bytes(9, traceId),
    field.bytes(10, spanId),
    field.bytes(12, "payment.failed"),
  );
  assert.deepEqual(row, {
    ...emptyRow,
    ts: "1790000000123456789",
    observed_ts: "1790000000200000000",
    severity_number: 17,
    severity_text: "ERROR",
    event_name: "payment.failed",
    body: "cannot reach the bank",
    // Stored for good, so another number here would part old rows from new ones.
    body_mask: "4971690892746058941",
    body_type: "s",
    trace_id: traceId.toString("hex"),
    span_id: spanId.toString("hex"),
    flags: 1,
    session_id: "s1",
    attributes: [
      ["session.id", "s1"],
      ["retries", "3"],
    ],
    attribute_types: "si",
    dropped_attributes: 2,
  });
});

test("a body of any type is stored as text or JSON", () => {
  const cases: [Value, string, string][] = [
    ["text", "text", "s"],
    ["", "", "s"],
    [true, "true", "b"],
    [-12n, "-12", "i"],
    [0.25, "0.25", "d"],
    [[1n, ["x"], new Pairs(["k", null])], '[1,["x"],{"k":null}]', "a"],
    [["only", "text"], '["only","text"]', "a"],
    [[], "[]", "a"],
    [new Pairs(["user", "Ada"], ["ids", [9_007_199_254_740_993n]]), '{"user":"Ada","ids":[9007199254740993]}', "m"],
    [new Pairs(), "{}", "m"],
    [new Uint8Array([1, 2, 3, 4]), "AQIDBA==", "y"],
    [null, "", "n"],
  ];
  const rows = storedLogs(request({ items: cases.map(([value]) => [field.message(5, ...anyValue(value))]) }));
  assert.deepEqual(
    rows.map((row) => [row.body, row.body_type]),
    cases.map(([, body, type]) => [body, type]),
  );
});

test("the time is the record's, else when it was observed, else its arrival", () => {
  const time = field.fixed64(1, 10n);
  const observed = field.fixed64(11, 20n);
  const far = field.fixed64(1, 2n ** 64n - 1n);
  const rows = storedLogs(
    request({ items: [[time, observed], [time], [observed], [far, field.fixed64(11, 2n ** 63n)]] }),
  );
  const latest = String(2n ** 63n - 1n);
  assert.deepEqual(
    rows.map((row) => [row.ts, row.observed_ts]),
    [
      ["10", "20"],
      ["10", arrival],
      ["20", "20"],
      [latest, latest],
    ],
  );
});

test("the severity's word comes from its number, and from the sender's text where there is no number", () => {
  const own = (text: string) => [["vigil.severity_text", text]];
  const words = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];
  const byNumber = Array.from({ length: 24 }, (_, i) => {
    const word = words[Math.floor(i / 4)]!;
    return [
      { number: i + 1, text: "", stored: [i + 1, word, []] },
      { number: i + 1, text: word.toLowerCase(), stored: [i + 1, word, []] },
    ];
  });
  const cases = [
    ...byNumber.flat(),
    { number: 9, text: "warning", stored: [9, "INFO", own("warning")] },
    { number: 0, text: "Warning", stored: [0, "WARN", own("Warning")] },
    { number: 0, text: "warn", stored: [0, "WARN", []] },
    { number: 0, text: "crit", stored: [0, "FATAL", own("crit")] },
    { number: 0, text: "err", stored: [0, "ERROR", own("err")] },
    { number: 0, text: "NOTICE", stored: [0, "INFO", own("NOTICE")] },
    { number: 0, text: "constructor", stored: [0, "UNSPECIFIED", own("constructor")] },
    { number: 0, text: "", stored: [0, "UNSPECIFIED", []] },
    { number: 25, text: "", stored: [24, "FATAL", []] },
    { number: -3, text: "", stored: [0, "UNSPECIFIED", []] },
  ];
  const rows = storedLogs(
    request({ items: cases.map(({ number, text }) => [field.varint(2, number), field.bytes(3, text)]) }),
  );
  assert.deepEqual(
    rows.map((row) => [row.severity_number, row.severity_text, row.attributes]),
    cases.map((each) => each.stored),
  );
});

test("ids may be missing or zero, and a wrong length refuses the record", () => {
  const ids = (trace: Buffer, span: Buffer) => [
    field.bytes(9, trace),
    field.bytes(10, span),
    ...attributes(6, [["a", 1n]]),
  ];
  const none = Buffer.alloc(0);
  block.reset();
  const decoded = decodeLogs(
    request({
      items: [
        ids(traceId, spanId),
        ids(traceId.subarray(1), spanId),
        ids(Buffer.alloc(16), Buffer.alloc(8)),
        ids(traceId, Buffer.alloc(7)),
        ids(traceId, none),
        ids(none, spanId),
      ],
    }),
    block,
    context,
  );
  assert.equal(decoded.accepted, 4);
  assert.equal(decoded.rejected, 2);
  assert.match(decoded.message!, /^2 of the log records were not stored: /);
  const [trace, span, noTrace, noSpan] = [
    traceId.toString("hex"),
    spanId.toString("hex"),
    "0".repeat(32),
    "0".repeat(16),
  ];
  assert.deepEqual(
    stored.of("logs", block).map((row) => [row.trace_id, row.span_id, row.attributes]),
    [
      [trace, span, [["a", "1"]]],
      [noTrace, noSpan, [["a", "1"]]],
      [trace, noSpan, [["a", "1"]]],
      [noTrace, span, [["a", "1"]]],
    ],
  );
});
