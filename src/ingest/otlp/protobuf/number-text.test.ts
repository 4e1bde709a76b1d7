import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";
import { appendDigits, appendDouble, appendInt64, appendUint64 } from "./number-text.ts";

function textOf(append: (out: GrowingBytes) => void): string {
  const out = new GrowingBytes();
  append(out);
  return out.inUse().toString();
}

const halves = (value: bigint): [number, number] => [
  Number(BigInt.asIntN(32, value >> 32n)),
  Number(BigInt.asIntN(32, value)),
];

/** 64-bit numbers of every size, those around powers of two and ten among them. */
const edges = Array.from({ length: 64 }, (_, bit) => 2n ** BigInt(bit)).concat(
  Array.from({ length: 20 }, (_, digits) => 10n ** BigInt(digits)),
);
const nearEdge = fc.tuple(fc.constantFrom(...edges), fc.bigInt(-2n, 2n)).map(([edge, step]) => edge + step);
const anyBits = fc.oneof(nearEdge, fc.bigInt(0n, 2n ** 64n - 1n)).map((value) => BigInt.asUintN(64, value));

test("unsigned 64-bit numbers have all their digits", () => {
  fc.assert(
    fc.property(anyBits, (value) => {
      assert.equal(
        textOf((out) => appendUint64(out, ...halves(value))),
        String(value),
      );
    }),
    { numRuns: 1000 },
  );
});

test("signed 64-bit numbers have all their digits", () => {
  fc.assert(
    fc.property(anyBits, (bits) => {
      const value = BigInt.asIntN(64, bits);
      assert.equal(
        textOf((out) => appendInt64(out, ...halves(value))),
        String(value),
      );
    }),
    { numRuns: 1000 },
  );
});

test("whole numbers up to 2^53 have all their digits", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (value) =>
      assert.equal(
        textOf((out) => appendDigits(out, value)),
        String(value),
      ),
    ),
  );
});

test("a double reads back as itself", () => {
  fc.assert(
    fc.property(fc.double(), (value) => {
      assert.ok(Object.is(Number(textOf((out) => appendDouble(out, value))), value));
    }),
  );
});
