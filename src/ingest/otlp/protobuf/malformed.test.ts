import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as fc from "fast-check";
import type { Block } from "../../../telemetry/blocks/block.ts";
import { LogBlock } from "../../../telemetry/blocks/log-block.ts";
import { MetricBlock } from "../../../telemetry/blocks/metric-block.ts";
import { SpanBlock } from "../../../telemetry/blocks/span-block.ts";
import type { BaseTable } from "../../../telemetry/ddl.ts";
import { decodeLogs } from "./decode-logs.ts";
import { decodeMetrics } from "./decode-metrics.ts";
import { decodeTraces } from "./decode-traces.ts";
import { MalformedPayload } from "./malformed-payload.ts";
import type { Field, Value } from "./messages-for-tests.ts";
import { anyValue, attributes, field, Pairs, request, spanIds, traceId } from "./messages-for-tests.ts";
import { openStoredRows } from "./stored-rows-for-tests.ts";

const stored = openStoredRows();
after(() => stored.close());

const context = { workspace: "acme", project: "web", nowMs: 1_800_000_000_000 };

interface Decoder {
  readonly table: BaseTable;
  readonly make: () => Block;
  readonly decode: (bytes: Uint8Array, block: Block) => { accepted: number; rejected: number };
  /** Has every field of its signal. */
  readonly sample: Buffer;
}

const pairs = (number: number) =>
  attributes(number, [
    ["text", "x".repeat(200)],
    ["count", -1n],
    ["list", ["a", 1n, new Pairs(["k", [0.5, true, new Uint8Array([1])]])]],
  ]);

function sampleOf(...items: readonly (readonly Field[])[]): Buffer {
  const shared = {
    resource: [...pairs(1), field.varint(2, 1), field.message(3, field.bytes(2, "host"), field.bytes(3, "host.id"))],
    resourceSchemaUrl: "https://example.com/1",
    scope: [field.bytes(1, "scope"), field.bytes(2, "1"), ...pairs(3)],
    scopeSchemaUrl: "https://example.com/2",
  };
  return request({ ...shared, items });
}

const exemplar = (number: number) =>
  field.message(
    number,
    ...pairs(7),
    field.fixed64(2, 5n),
    field.double(3, 1),
    field.bytes(4, "abcdefgh"),
    field.bytes(5, traceId),
  );
const bounds = Buffer.alloc(16);
const point = (attributesField: number, ...fields: readonly Field[]) =>
  field.message(1, ...pairs(attributesField), field.fixed64(2, 1n), field.fixed64(3, 2n), ...fields);

const decoders: readonly Decoder[] = [
  {
    table: "spans",
    make: () => new SpanBlock(),
    decode: (bytes, block) => decodeTraces(bytes, block as SpanBlock, context),
    sample: sampleOf(
      [
        ...spanIds,
        field.bytes(3, "a=b"),
        field.bytes(4, "parentid"),
        field.bytes(5, "name"),
        field.varint(6, 2),
        field.fixed64(7, 1n),
        field.fixed64(8, 2n),
        ...pairs(9),
        field.varint(10, 300),
        field.message(11, field.fixed64(1, 1n), field.bytes(2, "event"), ...pairs(3), field.varint(4, 1)),
        field.varint(12, 1),
        field.message(13, field.bytes(1, traceId), field.bytes(2, "linkedid"), ...pairs(4), field.fixed32(6, 1)),
        field.varint(14, 1),
        field.message(15, field.bytes(2, "message"), field.varint(3, 2)),
        field.fixed32(16, 1),
      ],
      [...spanIds, field.bytes(5, "second")],
    ),
  },
  {
    table: "logs",
    make: () => new LogBlock(),
    decode: (bytes, block) => decodeLogs(bytes, block as LogBlock, context),
    sample: sampleOf([
      field.fixed64(1, 1n),
      field.varint(2, 9),
      field.bytes(3, "notice"),
      field.message(5, ...anyValue(["a", new Pairs(["k", 1n])])),
      ...pairs(6),
      field.varint(7, 1),
      field.fixed32(8, 1),
      field.bytes(9, traceId),
      field.bytes(10, "abcdefgh"),
      field.fixed64(11, 2n),
      field.bytes(12, "event"),
    ]),
  },
  {
    table: "metric_points",
    make: () => new MetricBlock(),
    decode: (bytes, block) => decodeMetrics(bytes, block as MetricBlock, context),
    sample: sampleOf(
      [field.bytes(1, "gauge"), ...pairs(12), field.message(5, point(7, field.double(4, 1), exemplar(5)))],
      [
        field.bytes(1, "histogram"),
        field.message(
          9,
          point(
            9,
            field.fixed64(4, 1n),
            field.double(5, 1),
            field.bytes(6, bounds),
            field.bytes(7, bounds),
            exemplar(8),
          ),
          field.varint(2, 1),
        ),
      ],
      [
        field.bytes(1, "exponential"),
        field.message(
          10,
          point(1, field.varint(6, 3), field.message(8, field.varint(1, 2), field.bytes(2, Buffer.from([1, 200, 1])))),
        ),
      ],
      [
        field.bytes(1, "summary"),
        field.message(11, point(7, field.message(6, field.double(1, 0.5), field.double(2, 2)))),
      ],
    ),
  },
];

/** Decodes as the writer does: what a bad payload has appended is taken out again. Returns whether it was good. */
function append(decoder: Decoder, block: Block, bytes: Uint8Array): boolean {
  const mark = block.mark();
  try {
    const before = block.rows;
    const { accepted } = decoder.decode(bytes, block);
    assert.equal(block.rows, before + accepted);
    return true;
  } catch (error) {
    assert.ok(error instanceof MalformedPayload, String(error));
    assert.match(error.message, /^[A-Z].*\.$/);
    block.rollback(mark);
    return false;
  }
}

function sealed(block: Block): Buffer {
  return Buffer.concat(block.seal({ receivedSeconds: 1, seq: { hi: 0, lo: 0 } }));
}

for (const decoder of decoders) {
  const { table, sample } = decoder;

  test(`${table}: a rollback leaves a block as if nothing had been appended since the mark`, () => {
    const first = Buffer.concat([sample, request({ items: [[...spanIds]] })]);
    const other = request({
      resource: attributes(1, [["service.name", "other"]]),
      scope: [field.bytes(1, "other")],
      items: [[...spanIds, field.bytes(5, "other"), ...attributes(9, [["other", "value"]])]],
    });
    for (const before of [[], [first], [first, sample]]) {
      const [plain, disturbed] = [decoder.make(), decoder.make()];
      for (const block of [plain, disturbed]) for (const bytes of before) append(decoder, block, bytes);
      const mark = disturbed.mark();
      append(decoder, disturbed, other);
      append(decoder, disturbed, sample.subarray(0, sample.length - 5));
      append(decoder, disturbed, sample);
      disturbed.rollback(mark);
      assert.equal(disturbed.rows, plain.rows);
      assert.equal(disturbed.byteLength, plain.byteLength);
      for (const block of [plain, disturbed]) append(decoder, block, first);
      assert.deepEqual(sealed(disturbed), sealed(plain));
    }
  });

  test(`${table}: a block that was reset is as good as new`, () => {
    const used = decoder.make();
    for (let i = 0; i < 40; i++) append(decoder, used, sample);
    sealed(used);
    used.reset();
    const fresh = decoder.make();
    for (const block of [used, fresh]) append(decoder, block, sample);
    assert.deepEqual(sealed(used), sealed(fresh));
  });

  test(`${table}: a message that is cut anywhere is refused whole`, () => {
    const block = decoder.make();
    for (let size = 1; size < sample.length; size++) {
      assert.equal(append(decoder, block, sample.subarray(0, size)), false, `cut at ${size}`);
      assert.equal(block.rows, 0);
    }
    assert.equal(append(decoder, block, sample), true);
  });

  test(`${table}: random bytes are refused or read, and nothing else happens`, () => {
    const block = decoder.make();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        append(decoder, block, bytes);
      }),
      { numRuns: 2000 },
    );
  });

  test(`${table}: what is read of a damaged message is a block that the engine takes`, () => {
    const block = decoder.make();
    const damage = fc.array(fc.tuple(fc.nat(sample.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(damage, (changes) => {
        const bytes = Buffer.from(sample);
        for (const [at, byte] of changes) bytes[at] = byte;
        append(decoder, block, bytes);
      }),
      { numRuns: 1500 },
    );
    assert.ok(block.rows > 100);
    assert.equal(stored.of(table, block).length, block.rows);
  });
}

const [traces] = decoders;
const withAttribute = (value: readonly Field[]) =>
  request({ items: [[...spanIds, field.message(9, field.bytes(1, "k"), field.message(2, ...value))]] });

test("values may be nested 32 deep and no deeper", () => {
  const nested = (depth: number, wrap: (inner: Value) => Value): Value =>
    depth === 0 ? 1n : wrap(nested(depth - 1, wrap));
  for (const wrap of [(inner: Value) => [inner], (inner: Value) => new Pairs(["k", inner])]) {
    const block = new SpanBlock();
    assert.equal(append(traces!, block, withAttribute(anyValue(nested(32, wrap)))), true);
    assert.equal(append(traces!, block, withAttribute(anyValue(nested(33, wrap)))), false);
    assert.equal(append(traces!, block, withAttribute(anyValue(nested(300, wrap)))), false);
  }
});

test("a field with another wire type than its own is refused", () => {
  const block = new SpanBlock();
  const refused = (...fields: readonly Field[]) =>
    assert.equal(append(traces!, block, request({ items: [fields] })), false);
  refused(...spanIds, field.varint(5, 1));
  refused(...spanIds, field.varint(7, 1));
  refused(...spanIds, field.bytes(8, "12345678"));
  refused(...spanIds, field.bytes(6, "x"));
  refused(...spanIds, field.varint(16, 1));
  refused(field.varint(1, 1));
  assert.equal(append(traces!, block, field.varint(1, 1)), false);
  assert.equal(append(traces!, block, withAttribute([field.varint(1, 1)])), false);
  assert.equal(append(traces!, block, withAttribute([field.fixed64(3, 1n)])), false);
});

test("numbers, tags and groups that protobuf does not have are refused", () => {
  const refused = (...bytes: readonly number[]) =>
    assert.equal(append(traces!, new SpanBlock(), Buffer.from(bytes)), false, Buffer.from(bytes).toString("hex"));
  refused(0x00);
  refused(0x06);
  refused(0x07);
  // An end of a group that has not begun, one of another group, and a group without an end.
  refused(0x24);
  refused(0x23, 0x2c);
  refused(0x23);
  refused(...Array.from({ length: 100 }, () => 0x23));
  // A number of eleven bytes, as a tag and as a value; a length beyond the end, and beyond 32 bits.
  refused(...Array.from({ length: 10 }, () => 0x80), 0x01);
  refused(0x50, ...Array.from({ length: 10 }, () => 0xff), 0x01);
  refused(0x0a, 0x05, 0x00);
  refused(0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01);
  refused(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f);
});

test("a payload of more rows than memory is meant for is refused", () => {
  const records = (count: number) => {
    const empty = Buffer.alloc(count * 2);
    for (let at = 0; at < empty.length; at += 2) empty[at] = 0x12;
    return field.message(1, field.message(2, empty));
  };
  const points = Buffer.alloc(2_000_002);
  for (let at = 0; at < points.length; at += 2) points[at] = 0x0a;
  const [, logs, metrics] = decoders;
  assert.equal(append(logs!, new LogBlock(), records(1000)), true);
  assert.equal(append(logs!, new LogBlock(), records(1_000_001)), false);
  assert.equal(append(metrics!, new MetricBlock(), request({ items: [[field.message(5, points)]] })), false);
});
