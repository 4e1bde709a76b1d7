import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { LogBlock } from "../../../telemetry/blocks/log-block.ts";
import { SpanBlock } from "../../../telemetry/blocks/span-block.ts";
import { decodeLogs } from "./decode-logs.ts";
import { decodeTraces } from "./decode-traces.ts";
import type { Field, Value } from "./messages-for-tests.ts";
import { anyValue, attributes, field, Pairs, request } from "./messages-for-tests.ts";
import { openStoredRows } from "./stored-rows-for-tests.ts";

const stored = openStoredRows();
after(() => stored.close());

const context = { workspace: "acme", project: "web", nowMs: 1_800_000_000_000 };

// Values, and what the store should have of them by the words of tables/spans.sql.

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom('"', "\\", "\u0000", "é", "😀", "a") }),
  fc.nat(600).map((size) => "x".repeat(size)),
);
const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
const nanos = fc.oneof(
  fc.bigInt(0n, 2n ** 64n - 1n),
  fc.bigInt(1_700_000_000n * 10n ** 9n, 1_800_000_000n * 10n ** 9n),
);
const uint32 = fc.nat(0xffffffff);
const id = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).filter((value) => value.some((byte) => byte !== 0));

const { value: anyOtlpValue } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    fc.boolean(),
    int64,
    fc.double(),
    fc.uint8Array({ maxLength: 40 }),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }).map((pairs) => new Pairs(...pairs)),
  ),
}));
const keyValues = fc.array(fc.tuple(fc.oneof(fc.constantFrom("http.route", "user.id", "a", ""), text), anyOtlpValue), {
  maxLength: 8,
});

function letterOf(value: Value): string {
  if (value === null) return "n";
  if (typeof value === "string") return "s";
  if (typeof value === "boolean") return "b";
  if (typeof value === "bigint") return "i";
  if (typeof value === "number") return "d";
  if (value instanceof Uint8Array) return "y";
  if (value instanceof Pairs) return "m";
  const letters = new Set(value.map(letterOf));
  const [only] = letters;
  return letters.size === 1 && /[sbidymn]/.test(only!) ? only!.toUpperCase() : "a";
}

const numberText = (value: number) => (Object.is(value, -0) ? "-0" : String(value));

function jsonOf(value: Value): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? numberText(value) : JSON.stringify(String(value));
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString("base64"));
  if (value instanceof Pairs)
    return `{${value.pairs.map(([key, inner]) => `${JSON.stringify(key)}:${jsonOf(inner)}`).join(",")}}`;
  return `[${value.map(jsonOf).join(",")}]`;
}

function textOf(value: Value): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "number") return numberText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return jsonOf(value);
}

type Pair = readonly [string, Value];
const lettersOf = (pairs: readonly Pair[]) => pairs.map(([, value]) => letterOf(value)).join("");
const unlessPlain = (letters: string) => (/^[s,]*$/.test(letters) ? "" : letters);
const shown = (pairs: readonly Pair[]) =>
  pairs.map(([key, value]) => `{"key":${JSON.stringify(key)},"value":${JSON.stringify(textOf(value))}}`);
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const clamped = (value: bigint) => (value > 2n ** 63n - 1n ? 2n ** 63n - 1n : value);

/** Fields of a message in any order, as protobuf allows, except that those of one number stay in theirs. */
function shuffled(fields: readonly Field[], order: readonly number[]): Field[] {
  const key = (item: Field) => order[item[0]! % order.length]!;
  return fields.toSorted((a, b) => key(a) - key(b));
}
const order = fc.shuffledSubarray(
  Array.from({ length: 16 }, (_, i) => i),
  { minLength: 16 },
);

const span = fc.record({
  traceId: id(16),
  spanId: id(8),
  parent: fc.option(id(8), { nil: new Uint8Array(8) }),
  state: text,
  name: text,
  kind: fc.nat(5),
  start: nanos,
  end: nanos,
  attributes: keyValues,
  dropped: uint32,
  events: fc.array(fc.record({ time: nanos, name: text, attributes: keyValues, dropped: uint32 }), { maxLength: 2 }),
  status: fc.nat(2),
  message: text,
  flags: uint32,
  order,
});

const log = fc.record({
  time: nanos.filter((time) => time > 0n),
  observed: nanos.filter((time) => time > 0n),
  severity: fc.integer({ min: 1, max: 24 }),
  body: anyOtlpValue,
  attributes: keyValues,
  event: text,
  traceId: id(16),
  flags: uint32,
  order,
});

/** Where rows share a block, each may disturb the next: several requests of several spans go into one. */
const batches = <T>(item: fc.Arbitrary<T>) =>
  fc.array(fc.array(item, { maxLength: 8 }), { minLength: 1, maxLength: 5 });

test("any spans are read back from the engine as they were sent", () => {
  const block = new SpanBlock();
  fc.assert(
    fc.property(batches(span), (requests) => {
      block.reset();
      for (const spans of requests) {
        const items = spans.map((each) =>
          shuffled(
            [
              field.bytes(1, each.traceId),
              field.bytes(2, each.spanId),
              field.bytes(3, each.state),
              field.bytes(4, each.parent),
              field.bytes(5, each.name),
              field.varint(6, each.kind),
              field.fixed64(7, each.start),
              field.fixed64(8, each.end),
              ...attributes(9, each.attributes),
              field.varint(10, each.dropped),
              ...each.events.map((event) =>
                field.message(
                  11,
                  ...shuffled(
                    [
                      field.fixed64(1, event.time),
                      field.bytes(2, event.name),
                      ...attributes(3, event.attributes),
                      field.varint(4, event.dropped),
                    ],
                    each.order,
                  ),
                ),
              ),
              field.message(15, field.bytes(2, each.message), field.varint(3, each.status)),
              field.fixed32(16, each.flags),
            ],
            each.order,
          ),
        );
        assert.equal(decodeTraces(request({ items }), block, context).accepted, spans.length);
      }
      const expected = requests.flat().map((each) => ({
        trace_id: hexOf(each.traceId),
        span_id: hexOf(each.spanId),
        parent_span_id: hexOf(each.parent),
        trace_state: each.state,
        name: each.name,
        kind: each.kind,
        ts: String(clamped(each.start)),
        duration_ns: String(clamped(each.end) - clamped(each.start)),
        attributes: each.attributes.map(([key, value]) => [key, textOf(value)]),
        attribute_types: unlessPlain(lettersOf(each.attributes)),
        dropped_attributes: each.dropped,
        events:
          each.events.length === 0
            ? ""
            : `[${each.events
                .map(
                  (event) =>
                    `{"name":${JSON.stringify(event.name)},"time_unix_nano":${event.time},` +
                    `"attributes":[${shown(event.attributes).join(",")}],"dropped_attributes_count":${event.dropped}}`,
                )
                .join(",")}]`,
        event_types: unlessPlain(each.events.map((event) => lettersOf(event.attributes)).join(",")),
        status_code: each.status,
        status_message: each.message,
        flags: each.flags,
      }));
      const names = Object.keys(expected[0] ?? {});
      const rows = block.rows === 0 ? [] : stored.of("spans", block);
      const picked = rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
      assert.deepEqual(picked, expected);
    }),
    { numRuns: 30 },
  );
});

test("any log records are read back from the engine as they were sent", () => {
  const block = new LogBlock();
  fc.assert(
    fc.property(batches(log), (requests) => {
      block.reset();
      for (const logs of requests) {
        const items = logs.map((each) =>
          shuffled(
            [
              field.fixed64(1, each.time),
              field.fixed64(11, each.observed),
              field.varint(2, each.severity),
              field.message(5, ...anyValue(each.body)),
              ...attributes(6, each.attributes),
              field.fixed32(8, each.flags),
              field.bytes(9, each.traceId),
              field.bytes(12, each.event),
            ],
            each.order,
          ),
        );
        assert.equal(decodeLogs(request({ items }), block, context).accepted, logs.length);
      }
      const expected = requests.flat().map((each) => ({
        ts: String(clamped(each.time)),
        observed_ts: String(clamped(each.observed)),
        severity_number: each.severity,
        body: textOf(each.body),
        body_type: letterOf(each.body).replace(/[A-Z]/, "a"),
        attributes: each.attributes.map(([key, value]) => [key, textOf(value)]),
        attribute_types: unlessPlain(lettersOf(each.attributes)),
        event_name: each.event,
        trace_id: hexOf(each.traceId),
        flags: each.flags,
      }));
      const names = Object.keys(expected[0] ?? {});
      const rows = block.rows === 0 ? [] : stored.of("logs", block);
      const picked = rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
      assert.deepEqual(picked, expected);
    }),
    { numRuns: 30 },
  );
});
