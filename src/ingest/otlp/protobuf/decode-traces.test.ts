import assert from "node:assert/strict";
import { after, test } from "node:test";
import { SpanBlock } from "../../../telemetry/blocks/span-block.ts";
import { decodeTraces } from "./decode-traces.ts";
import type { Field } from "./messages-for-tests.ts";
import { attributes, field, hex, Pairs, request, spanId, spanIds, traceId } from "./messages-for-tests.ts";
import { openStoredRows, type StoredRow } from "./stored-rows-for-tests.ts";

const stored = openStoredRows();
after(() => stored.close());

const context = { workspace: "acme", project: "web", nowMs: 1_800_000_000_000 };
const block = new SpanBlock();

/** What the engine has of a request in which nothing is refused. */
function storedSpans(bytes: Uint8Array): StoredRow[] {
  block.reset();
  const decoded = decodeTraces(bytes, block, context);
  assert.deepEqual(decoded, { accepted: block.rows, rejected: 0 });
  return stored.of("spans", block);
}

const storedSpan = (...fields: readonly Field[]) => storedSpans(request({ items: [[...spanIds, ...fields]] }))[0]!;

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
  ts: "0",
  duration_ns: "0",
  trace_id: traceId.toString("hex"),
  span_id: spanId.toString("hex"),
  parent_span_id: "0000000000000000",
  trace_state: "",
  flags: 0,
  name: "",
  kind: 0,
  status_code: 0,
  status_message: "",
  session_id: "",
  attributes: [],
  attribute_types: "",
  dropped_attributes: 0,
  events: "",
  event_types: "",
  dropped_events: 0,
  links: "",
  link_types: "",
  dropped_links: 0,
};

test("a span with nothing but its ids has the default everywhere", () => {
  assert.deepEqual(storedSpan(), emptyRow);
});

test("a request without spans makes no rows", () => {
  for (const bytes of [Buffer.alloc(0), request({ items: [] }), field.message(1)]) {
    block.reset();
    assert.deepEqual(decodeTraces(bytes, block, context), { accepted: 0, rejected: 0 });
    assert.equal(block.byteLength, 0);
  }
});

test("every field of a span is stored", () => {
  const row = storedSpans(
    request({
      resource: [
        ...attributes(1, [
          ["service.name", "checkout"],
          ["service.namespace", "shop"],
          ["service.version", "1.2.3"],
          ["service.instance.id", "a1"],
          ["deployment.environment.name", "production"],
          ["process.pid", 4711n],
          ["session.id", "of the resource"],
          ["team", new Pairs(["lead", "Ada"], ["size", 7n])],
        ]),
        field.varint(2, 3),
        field.message(
          3,
          field.bytes(1, "https://e"),
          field.bytes(2, "service"),
          field.bytes(3, "service.name"),
          field.bytes(4, "team"),
        ),
      ],
      resourceSchemaUrl: "https://opentelemetry.io/schemas/1.37.0",
      scope: [field.bytes(1, "lib"), field.bytes(2, "0.1.0"), ...attributes(3, [["short", true]]), field.varint(4, 1)],
      scopeSchemaUrl: "https://example.com/1",
      items: [
        [
          ...spanIds,
          field.bytes(3, "vendor=value"),
          field.bytes(4, hex("00f067aa0ba902b7")),
          field.bytes(5, "POST /cart"),
          field.varint(6, 2),
          field.fixed64(7, 1_790_000_000_123_456_789n),
          field.fixed64(8, 1_790_000_001_000_000_000n),
          ...attributes(9, [
            ["http.route", "/cart"],
            ["http.response.status_code", 503n],
          ]),
          field.varint(10, 4),
          field.message(
            11,
            field.fixed64(1, 1_790_000_000_500_000_001n),
            field.bytes(2, "exception"),
            ...attributes(3, [
              ["exception.message", 'say "no"\n\\ \u0001 é'],
              ["exception.escaped", true],
            ]),
            field.varint(4, 5),
          ),
          field.message(11, field.bytes(2, "done")),
          field.varint(12, 6),
          field.message(
            13,
            field.bytes(1, traceId),
            field.bytes(2, hex("1111111111111111")),
            field.bytes(3, "a=b"),
            ...attributes(4, [["n", 9_223_372_036_854_775_807n]]),
            field.varint(5, 7),
            field.fixed32(6, 0xffffffff),
          ),
          field.varint(14, 8),
          field.message(15, field.bytes(2, "upstream is away"), field.varint(3, 2)),
          field.fixed32(16, 0x301),
        ],
      ],
    }),
  )[0];
  assert.deepEqual(row, {
    ...emptyRow,
    service_namespace: "shop",
    service_name: "checkout",
    service_version: "1.2.3",
    service_instance: "a1",
    environment: "production",
    resource: JSON.stringify({
      "service.name": "checkout",
      "service.namespace": "shop",
      "service.version": "1.2.3",
      "service.instance.id": "a1",
      "deployment.environment.name": "production",
      "process.pid": 4711,
      attributes: [
        { key: "session.id", value: "of the resource" },
        { key: "team", value: '{"lead":"Ada","size":7}' },
      ],
      dropped_attributes_count: 3,
    }),
    resource_meta: JSON.stringify({
      schema_url: "https://opentelemetry.io/schemas/1.37.0",
      types: "sssssism",
      entity_refs: [
        { schema_url: "https://e", type: "service", id_keys: ["service.name"], description_keys: ["team"] },
      ],
    }),
    scope: JSON.stringify({
      name: "lib",
      version: "0.1.0",
      attributes: [{ key: "short", value: "true" }],
      dropped_attributes_count: 1,
    }),
    scope_meta: JSON.stringify({ schema_url: "https://example.com/1", types: "b" }),
    ts: "1790000000123456789",
    duration_ns: "876543211",
    parent_span_id: "00f067aa0ba902b7",
    trace_state: "vendor=value",
    flags: 0x301,
    name: "POST /cart",
    kind: 2,
    status_code: 2,
    status_message: "upstream is away",
    session_id: "of the resource",
    attributes: [
      ["http.route", "/cart"],
      ["http.response.status_code", "503"],
    ],
    attribute_types: "si",
    dropped_attributes: 4,
    events:
      '[{"name":"exception","time_unix_nano":1790000000500000001,"attributes":[' +
      '{"key":"exception.message","value":"say \\"no\\"\\n\\\\ \\u0001 é"},{"key":"exception.escaped","value":"true"}' +
      '],"dropped_attributes_count":5},' +
      '{"name":"done","time_unix_nano":0,"attributes":[],"dropped_attributes_count":0}]',
    event_types: "sb,",
    dropped_events: 6,
    links:
      '[{"trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"1111111111111111","trace_state":"a=b",' +
      '"attributes":[{"key":"n","value":"9223372036854775807"}],"dropped_attributes_count":7,"flags":4294967295}]',
    link_types: "i",
    dropped_links: 8,
  });
});

test("the extremes of time are stored", () => {
  const max = 2n ** 64n - 1n;
  const latest = String(2n ** 63n - 1n);
  const times = (start: bigint, end: bigint) => {
    const { ts, duration_ns } = storedSpan(field.fixed64(7, start), field.fixed64(8, end));
    return [ts, duration_ns];
  };
  assert.deepEqual(times(max, max), [latest, "0"]);
  assert.deepEqual(times(0n, max), ["0", latest]);
  assert.deepEqual(times(1n, 2n ** 63n - 1n), ["1", String(2n ** 63n - 2n)]);
  assert.deepEqual(times(5n, 0n), ["5", "-5"]);
  assert.deepEqual(times(2n ** 32n, 1n), [String(2n ** 32n), String(1n - 2n ** 32n)]);
  assert.deepEqual(times(2n ** 63n - 1n, 0n), [latest, `-${latest}`]);
});

test("numbers outside an enumeration are kept as far as the column reaches", () => {
  const { kind, status_code } = storedSpan(field.varint(6, 77), field.message(15, field.varint(3, -1)));
  assert.deepEqual([kind, status_code], [77, 0]);
  assert.equal(storedSpan(field.varint(6, 100_000)).kind, 255);
});

test("spans with wrong ids are refused and counted, and leave nothing behind", () => {
  const good = [...spanIds, field.bytes(5, "good"), ...attributes(9, [["a", "b"]])];
  const bad = (trace: Buffer, span: Buffer, ...parent: Buffer[]) => [
    field.bytes(1, trace),
    field.bytes(2, span),
    ...parent.map((id) => field.bytes(4, id)),
    field.bytes(5, "bad"),
    ...attributes(9, [
      ["bad", 1n],
      ["session.id", "bad"],
    ]),
    field.message(11, field.bytes(2, "bad")),
  ];
  const zero = Buffer.alloc(16);
  const items = [
    bad(zero, spanId),
    good,
    bad(traceId, zero.subarray(0, 8)),
    bad(traceId.subarray(0, 15), spanId),
    bad(Buffer.alloc(0), spanId),
    bad(traceId, Buffer.alloc(0)),
    bad(traceId, spanId, spanId.subarray(1)),
    good,
  ];
  block.reset();
  const decoded = decodeTraces(request({ items }), block, context);
  assert.equal(decoded.accepted, 2);
  assert.equal(decoded.rejected, 6);
  assert.match(decoded.message!, /^6 of the spans were not stored: /);
  const expected = { ...emptyRow, name: "good", attributes: [["a", "b"]] };
  assert.deepEqual(stored.of("spans", block), [expected, { ...expected, seq: "4294967040" }]);
});

test("a link is kept with ids of the right length, and otherwise counted as dropped", () => {
  const link = (trace: Buffer, span: Buffer) =>
    field.message(13, field.bytes(1, trace), field.bytes(2, span), ...attributes(4, [["n", 1n]]));
  const row = storedSpan(
    link(traceId.subarray(1), spanId),
    link(Buffer.alloc(16), Buffer.alloc(8)),
    link(traceId, Buffer.alloc(0)),
    field.varint(14, 10),
  );
  const links = JSON.parse(row.links as string) as { trace_id: string }[];
  assert.deepEqual(
    links.map((kept) => kept.trace_id),
    ["0".repeat(32)],
  );
  assert.equal(row.link_types, "i");
  assert.equal(row.dropped_links, 12);
});

test("dictionaries around 256 entries keep theirs apart", () => {
  for (const count of [255, 256, 257]) {
    const items = Array.from({ length: count }, (_, i) => [...spanIds, field.bytes(5, `name ${i}`)]);
    const names = storedSpans(request({ items })).map((row) => row.name);
    assert.deepEqual(
      names,
      items.map((_, i) => `name ${i}`),
    );
  }
});

test("a dictionary of more than 65,536 entries, and strings of megabytes, pass", () => {
  const items = Array.from({ length: 70_000 }, (_, i) => [...spanIds, field.bytes(5, `name ${i}`)]);
  const huge = "0123456789abcdef".repeat(200_000);
  items[0]!.push(...attributes(9, [["huge", huge]]));
  const rows = storedSpans(request({ items }));
  assert.equal(rows.length, 70_000);
  assert.ok(rows.every((row, i) => row.name === `name ${i}`));
  assert.deepEqual(rows[0]!.attributes, [["huge", huge]]);
});

test("fields that OTLP does not have yet are passed over", () => {
  const group = [Buffer.from([0xfb, 0x07]), field.varint(1, 1), Buffer.from([0x23, 0x24]), Buffer.from([0xfc, 0x07])];
  const unknown = [
    field.varint(100, 2n ** 63n),
    field.fixed64(101, 5n),
    field.bytes(102, "text"),
    field.fixed32(103, 5),
    Buffer.concat(group),
  ];
  const bytes = request({
    resource: [...attributes(1, [["service.name", "s"]]), ...unknown],
    scope: unknown,
    items: [[...spanIds, ...unknown, field.bytes(5, "n")]],
  });
  const row = storedSpans(Buffer.concat([...unknown, bytes]))[0]!;
  assert.deepEqual([row.name, row.service_name], ["n", "s"]);
});
