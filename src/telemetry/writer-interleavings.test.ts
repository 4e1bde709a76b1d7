import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import * as fc from "fast-check";
import { StoreOverloaded } from "../core/errors.ts";
import { bench } from "./writer-for-tests.ts";
import type { Insert } from "./writer-for-tests.ts";

test("whatever interleaves: every row is inserted once, in order, and nobody is answered before", async (t) => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("append" as const),
        logs: fc.boolean(),
        rows: fc.nat(4),
        fails: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.nat(120) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("settle" as const), which: fc.nat(3), fails: fc.boolean() }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { writer, add, pass, inserts } = bench(t, { maxRows: 6, maxBytes: 60, maxWaitingBytes: 150 });
      const waiters: { words: string[]; table: string; state: string }[] = [];
      const settled = new Map<string, string>();
      const underWay: Insert[] = [];
      let seen = 0;
      let row = 0;
      const look = async () => {
        await turn();
        for (; seen < inserts.length; seen++) {
          const insert = inserts[seen]!;
          assert.ok(!underWay.some((other) => other.table === insert.table), "one insert of a table at a time");
          underWay.push(insert);
        }
        for (const { words, state } of waiters) {
          const expected = new Set(words.map((word) => settled.get(word) ?? "waits"));
          assert.deepEqual([state], [...expected], "rows of one request share their insert's fate");
        }
      };
      const settle = (insert: Insert, fails: boolean) => {
        underWay.splice(underWay.indexOf(insert), 1);
        for (const word of insert.words) settled.set(word, fails ? "StoreUnavailable" : "stored");
        if (fails) insert.reject(new Error("no"));
        else insert.resolve();
      };
      for (const s of steps) {
        if (s.do === "pass") {
          await pass(s.ms);
        } else if (s.do === "settle") {
          const insert = underWay[s.which % Math.max(1, underWay.length)];
          if (insert) settle(insert, s.fails);
        } else {
          const words = Array.from({ length: s.rows }, () => `row ${row++}`);
          const table = s.logs ? "logs" : "spans";
          try {
            if (s.fails) {
              writer.append(table, (block) => {
                block.words.push(...words);
                throw new RangeError("malformed");
              });
            }
            const stored = add(table, ...words);
            if (words.length > 0) {
              const waiter = { words, table, state: "waits" };
              waiters.push(waiter);
              stored.then(
                () => (waiter.state = "stored"),
                (error: Error) => (waiter.state = error.name),
              );
            }
          } catch (error) {
            assert.ok(error instanceof RangeError || error instanceof StoreOverloaded);
          }
        }
        await look();
      }
      const closing = writer.close();
      for (await look(); underWay.length > 0; await look()) settle(underWay[0]!, false);
      await closing;
      for (const table of ["spans", "logs"]) {
        const inserted = inserts.filter((i) => i.table === table).flatMap((i) => i.words);
        assert.deepEqual(
          inserted,
          waiters.filter((w) => w.table === table).flatMap((w) => w.words),
        );
      }
      const numbers = inserts.map((i) => i.seq);
      assert.ok(numbers.every((n, i) => i === 0 || n > numbers[i - 1]!));
      t.mock.timers.reset();
    }),
    { numRuns: 300 },
  );
});
