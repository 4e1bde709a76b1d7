import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createSequence, seqStep } from "./sequence.ts";
import type { Seq } from "./sequence.ts";

const toBigInt = ({ hi, lo }: Seq) => (BigInt(hi) << 32n) | BigInt(lo);

test("a number is the millisecond, the counter and the node", () => {
  const ms = Date.UTC(2026, 10, 21);
  const first = toBigInt(createSequence(() => ms, 7).take(1));
  assert.equal(first >> 22n, BigInt(ms));
  assert.equal(first & 255n, 7n);
  assert.equal((first >> 8n) & 0x3fffn, 0n);
});

test("both halves are unsigned 32-bit numbers until the year 2109", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 42 - 1_000 }),
      fc.nat(255),
      fc.array(fc.nat(20_000), { maxLength: 5 }),
      (ms, node, counts) => {
        const sequence = createSequence(() => ms, node);
        for (const count of counts) {
          const { hi, lo } = sequence.take(count);
          assert.equal(hi, hi >>> 0);
          assert.equal(lo, lo >>> 0);
        }
      },
    ),
  );
});

test("ranges never overlap and always rise, whatever the clock does", () => {
  const step = fc.record({
    drift: fc.integer({ min: -5_000, max: 5_000 }),
    count: fc.integer({ min: 1, max: 300_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), fc.nat(255), (steps, node) => {
      let clock = Date.UTC(2026, 0, 1);
      const sequence = createSequence(() => clock, node);
      let next = 0n;
      for (const { drift, count } of steps) {
        clock += drift;
        const first = toBigInt(sequence.take(count));
        assert.ok(first >= next);
        assert.equal(first & 255n, BigInt(node));
        next = first + BigInt(count) * BigInt(seqStep);
      }
    }),
  );
});

test("a range that passes its millisecond keeps to its node's numbers", () => {
  const count = 100_000;
  const first = toBigInt(createSequence(() => 1_000_000, 255).take(count));
  const last = first + BigInt(count - 1) * BigInt(seqStep);
  assert.equal(last & 255n, 255n);
  assert.equal(last >> 22n, 1_000_006n);
});
