import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  cursorBinding,
  hexKey,
  int64Key,
  makeCursor,
  makeJsonPage,
  makePage,
  pageRequest,
  readCursor,
  textKey,
  uint64Key,
} from "./paging.ts";
import type { Page } from "./paging.ts";

interface Row {
  readonly rank: number;
  readonly id: number;
}

const keysOf = (row: Row): string[] => [String(row.rank), String(row.id)];
const keyChecks = [int64Key, int64Key];
const inOrder = (a: Row, b: Row): number => b.rank - a.rank || b.id - a.id;

/** A list as a store would answer it: by rank, newest first, ids break ties. */
function read(table: readonly Row[], binding: string, text: string | undefined, limit: number): Page<Row> {
  const cursor = readCursor(text, binding, keyChecks);
  assert.ok(cursor !== null, "a cursor that the list made is its own");
  const request = pageRequest(cursor, limit, binding);
  const sorted = table.toSorted(inOrder);
  if (request.direction === "prev") sorted.reverse();
  const [rank, id] = (request.keys ?? []).map(Number) as [number, number];
  const past = sorted.filter(
    (row) => !request.keys || (request.direction === "next" ? 1 : -1) * inOrder({ rank, id }, row) < 0,
  );
  return makePage(request, past.slice(0, limit + 1), keysOf);
}

const ranks = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 });
const limits = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

test("every row that stays is shown exactly once, forwards and backwards, while rows come and go", () => {
  fc.assert(
    fc.property(
      ranks,
      limits,
      fc.array(fc.record({ rank: fc.integer({ min: 0, max: 3 }), stays: fc.boolean() }), { maxLength: 30 }),
      (first, sizes, moves) => {
        const kept: Row[] = first.map((rank, id) => ({ rank, id }));
        let table = [...kept];
        let nextId = first.length;
        const waiting = [...moves];
        // Between pages others insert rows, and take out rows that were not there at first.
        const meddle = (): void => {
          const move = waiting.pop();
          if (!move) return;
          if (move.stays) table.push({ rank: move.rank, id: nextId++ });
          else table = table.filter((row) => row.id < first.length || row.id % 2 === 0);
        };

        const forwards: Row[] = [];
        let cursor: string | undefined;
        let page: Page<Row>;
        let turn = 0;
        do {
          page = read(table, "b", cursor, sizes[turn++ % sizes.length]!);
          assert.equal(page.has_more, page.next_cursor !== null);
          assert.equal(page.prev_cursor === null, cursor === undefined, "only the first page has nothing before it");
          assert.deepEqual(page.items.toSorted(inOrder), page.items);
          forwards.push(...page.items);
          cursor = page.next_cursor ?? undefined;
          meddle();
        } while (cursor !== undefined);
        const original = (rows: readonly Row[]): Row[] => rows.filter((row) => row.id < first.length);
        assert.deepEqual(original(forwards), kept.toSorted(inOrder));

        const backwards: Row[] = [...page.items];
        while (page.prev_cursor !== null) {
          page = read(table, "b", page.prev_cursor, sizes[turn++ % sizes.length]!);
          assert.equal(page.has_more, page.next_cursor !== null);
          assert.deepEqual(page.items.toSorted(inOrder), page.items, "a page backwards is in the list's order");
          backwards.unshift(...page.items);
          meddle();
        }
        assert.deepEqual(original(backwards), kept.toSorted(inOrder));
      },
    ),
  );
});

test("paging back gives the page that paging forth gave", () => {
  const table = Array.from({ length: 25 }, (_, id) => ({ rank: id % 3, id }));
  const one = read(table, "b", undefined, 10);
  const two = read(table, "b", one.next_cursor!, 10);
  const back = read(table, "b", two.prev_cursor!, 10);
  assert.deepEqual(back.items, one.items);
  assert.equal(back.prev_cursor, null);
  assert.deepEqual(read(table, "b", back.next_cursor!, 10).items, two.items);
});

test("a page whose rows are gone leads on from that end of the list", () => {
  const table = Array.from({ length: 6 }, (_, id) => ({ rank: 0, id }));
  const one = read(table, "b", undefined, 3);
  const two = read(table, "b", one.next_cursor!, 3);
  const lower = table.slice(0, 3);
  const before = read(lower, "b", two.prev_cursor!, 3);
  assert.deepEqual(before, { items: [], has_more: true, next_cursor: before.next_cursor, prev_cursor: null });
  assert.deepEqual(read(lower, "b", before.next_cursor!, 3).items, two.items);
  const upper = table.slice(3);
  const after = read(upper, "b", one.next_cursor!, 3);
  assert.equal(after.next_cursor, null);
  assert.deepEqual(read(upper, "b", after.prev_cursor!, 3).items, one.items);
});

test("an empty list has one page, without cursors", () => {
  assert.deepEqual(read([], "b", undefined, 5), { items: [], has_more: false, next_cursor: null, prev_cursor: null });
});

test("a cursor gives back its keys, whatever text they are", () => {
  const keys = fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.string(), fc.constantFrom("next", "prev"), keys, (binding, direction, texts) => {
      const checks = texts.map(() => textKey);
      const cursor = makeCursor(binding, direction, texts);
      assert.match(cursor, /^[A-Za-z0-9_-]+$/);
      assert.deepEqual(readCursor(cursor, binding, checks), { direction, keys: texts });
      assert.equal(readCursor(cursor, `${binding}!`, checks), null);
      assert.equal(readCursor(cursor, binding, [...checks, textKey]), null);
    }),
  );
});

test("no text but a cursor is one, and none with a character changed", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => assert.equal(readCursor(text, "b", [textKey]), null)));
  const cursor = makeCursor("b", "next", ["key", "12"]);
  const checks = [textKey, int64Key];
  for (let at = 0; at < cursor.length; at++) {
    for (const other of ["A", "b", "_", "=", "+", "%", ""]) {
      const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
      if (changed !== cursor) assert.equal(readCursor(changed, "b", checks), null, changed);
    }
  }
  assert.equal(readCursor(`${cursor}=`, "b", checks), null);
  for (const json of ["[]", "{}", '"x"', "[1,2]", '["s"]', '["s","next",1]', '["s","up","a","1"]']) {
    assert.equal(readCursor(Buffer.from(json).toString("base64url"), undefined, checks), null, json);
  }
});

test("keys that the store could not compare with are refused, though somebody made the digest right", () => {
  const cases = [
    [
      int64Key,
      ["0", "-1", "9223372036854775807", "-9223372036854775808"],
      ["", "-0", "01", "1.5", "1e3", " 1", "9223372036854775808", "-9223372036854775809", "x"],
    ],
    [uint64Key, ["0", "18446744073709551615"], ["-1", "18446744073709551616", "99999999999999999999", "0x1"]],
    [hexKey(4), ["00ff"], ["00fF", "0ff", "00ff0", "00fg"]],
  ] as const;
  for (const [check, right, wrong] of cases) {
    for (const key of right) assert.deepEqual(readCursor(makeCursor("b", "next", [key]), "b", [check])?.keys, [key]);
    for (const key of wrong) assert.equal(readCursor(makeCursor("b", "next", [key]), "b", [check]), null, key);
  }
});

test("a binding is the same for the same filters in any order, and another for any other", () => {
  const binding = cursorBinding("r", { a: "1", b: undefined, c: ["x"] });
  assert.equal(cursorBinding("r", { c: ["x"], a: "1" }), binding);
  const others = [{ a: 1, c: ["x"] }, { a: "1", c: ["y"] }, { a: "1" }, { a: "1", c: ["x"], d: "" }];
  for (const other of others) assert.notEqual(cursorBinding("r", other), binding);
  assert.notEqual(cursorBinding("s", { a: "1", c: ["x"] }), binding);
});

test("a page of bytes is the page of the same rows", () => {
  for (const direction of ["next", "prev"] as const) {
    for (const count of [0, 1, 3, 4]) {
      const request = pageRequest({ direction, keys: ["50"] }, 3, "b");
      const rows = Array.from({ length: count }, (_, i) => ({
        keys: [String(i)],
        json: Buffer.from(`{"n":${i},"big":18446744073709551615}`),
      }));
      const text = makeJsonPage(request, rows).toString();
      const { items, ...edges } = makePage(request, rows, (row) => row.keys);
      assert.equal(text, `{"items":[${items.map(({ json }) => json).join(",")}],${JSON.stringify(edges).slice(1)}`);
      assert.equal((JSON.parse(text) as Page<unknown>).items.length, Math.min(count, 3));
    }
  }
});
