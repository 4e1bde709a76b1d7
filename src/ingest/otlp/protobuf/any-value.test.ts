import assert from "node:assert/strict";
import { after, test } from "node:test";
import { SpanBlock } from "../../../telemetry/blocks/span-block.ts";
import { decodeTraces } from "./decode-traces.ts";
import type { Field, Value } from "./messages-for-tests.ts";
import { attributes, field, Pairs, request, spanIds } from "./messages-for-tests.ts";
import { openStoredRows, type StoredRow } from "./stored-rows-for-tests.ts";

const stored = openStoredRows();
after(() => stored.close());

const block = new SpanBlock();

/** What the engine has of a request's spans. */
function storedSpans(bytes: Uint8Array): StoredRow[] {
  block.reset();
  decodeTraces(bytes, block, { workspace: "acme", project: "web" });
  return stored.of("spans", block);
}

const storedSpan = (...fields: readonly Field[]) => storedSpans(request({ items: [[...spanIds, ...fields]] }))[0]!;

test("values of every type are text, with a letter each", () => {
  const bytes = new Uint8Array([0, 255, 16]);
  const cases: [Value, string, string][] = [
    ["plain", "plain", "s"],
    ["", "", "s"],
    ["é".repeat(100), "é".repeat(100), "s"],
    ["x".repeat(300), "x".repeat(300), "s"],
    [true, "true", "b"],
    [false, "false", "b"],
    [0n, "0", "i"],
    [-1n, "-1", "i"],
    [9_007_199_254_740_993n, "9007199254740993", "i"],
    [-9_223_372_036_854_775_808n, "-9223372036854775808", "i"],
    [0.1, "0.1", "d"],
    [5, "5", "d"],
    [-0, "-0", "d"],
    [5e-324, "5e-324", "d"],
    [1.7976931348623157e308, "1.7976931348623157e+308", "d"],
    [Number.NaN, "NaN", "d"],
    [Number.NEGATIVE_INFINITY, "-Infinity", "d"],
    [["a", 'b"'], '["a","b\\""]', "S"],
    [[1n, -9_223_372_036_854_775_808n], "[1,-9223372036854775808]", "I"],
    [[1.5, Number.NaN], '[1.5,"NaN"]', "D"],
    [[true], "[true]", "B"],
    [[bytes], '["AP8Q"]', "Y"],
    [[new Pairs()], "[{}]", "M"],
    [[null], "[null]", "N"],
    [[], "[]", "a"],
    [[1n, "x", null], '[1,"x",null]', "a"],
    [[["deep"]], '[["deep"]]', "a"],
    [new Pairs(["b", 1n], ["a", [true]], ["b", new Pairs()]), '{"b":1,"a":[true],"b":{}}', "m"],
    [bytes, "AP8Q", "y"],
    [null, "", "n"],
  ];
  const row = storedSpan(
    ...attributes(
      9,
      cases.map(([value], i) => [`key ${i}`, value]),
    ),
  );
  assert.deepEqual(
    row.attributes,
    cases.map(([, text], i) => [`key ${i}`, text]),
  );
  assert.equal(row.attribute_types, cases.map(([, , letter]) => letter).join(""));
});

test("attributes that lack a part, or say it twice, are stored as protobuf reads them", () => {
  const row = storedSpan(
    field.message(9),
    field.message(9, field.bytes(1, "only a key")),
    field.message(9, field.message(2, field.varint(3, 7)), field.bytes(1, "value first")),
    field.message(
      9,
      field.bytes(1, "old"),
      field.bytes(1, "last"),
      field.message(2, field.bytes(1, "x"), field.varint(2, 1)),
    ),
    ...attributes(9, [
      ["twice", "1"],
      ["twice", "2"],
    ]),
  );
  assert.deepEqual(row.attributes, [
    ["", ""],
    ["only a key", ""],
    ["value first", "7"],
    ["last", "true"],
    ["twice", "1"],
    ["twice", "2"],
  ]);
  assert.equal(row.attribute_types, "nnibss");
});

test("a length may take more bytes than it needs", () => {
  const padding = field.bytes(15, Buffer.alloc(125));
  const value = Buffer.concat([Buffer.from([0x12, 0x85, 0x00]), field.bytes(1, "abc"), padding]);
  const text = Buffer.from([0x0a, 0x83, 0x00, 0x61, 0x62, 0x63]);
  const row = storedSpan(
    field.message(9, field.bytes(1, "k"), value),
    field.message(9, field.bytes(1, "l"), field.bytes(2, text)),
  );
  assert.deepEqual(row.attributes, [
    ["k", "abc"],
    ["l", "abc"],
  ]);
});

test("text that is no UTF-8 is repaired wherever it is", () => {
  const broken = Buffer.from([0x61, 0xff, 0x62]);
  const row = storedSpans(
    request({
      resource: [field.message(1, field.bytes(1, "service.name"), field.message(2, field.bytes(1, broken)))],
      items: [
        [
          ...spanIds,
          field.bytes(3, broken),
          field.bytes(5, broken),
          field.message(9, field.bytes(1, broken), field.message(2, field.bytes(1, broken))),
          field.message(
            9,
            field.bytes(1, "list"),
            field.message(2, field.message(5, field.message(1, field.bytes(1, broken)))),
          ),
          field.message(11, field.bytes(2, broken)),
          field.message(15, field.bytes(2, Buffer.concat([Buffer.alloc(300, 0x61), broken]))),
        ],
      ],
    }),
  )[0]!;
  assert.equal(row.service_name, "a\ufffdb");
  assert.equal(row.trace_state, "a\ufffdb");
  assert.equal(row.name, "a\ufffdb");
  assert.deepEqual(row.attributes, [
    ["a\ufffdb", "a\ufffdb"],
    ["list", '["a\ufffdb"]'],
  ]);
  assert.match(row.events as string, /"name":"a\ufffdb"/);
  assert.equal(row.status_message, `${"a".repeat(300)}a\ufffdb`);
});
