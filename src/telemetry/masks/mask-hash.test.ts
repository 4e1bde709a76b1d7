import assert from "node:assert/strict";
import { test } from "node:test";
import { LogBlock } from "../blocks/log-block.ts";
import { textView } from "../blocks/growing-bytes.ts";
import { hashMask } from "./mask-hash.ts";

function hashOf(text: string): bigint {
  const bytes = new TextEncoder().encode(text);
  const into = { hi: 0, lo: 0 };
  hashMask(bytes, 0, bytes.length, into);
  return (BigInt(into.hi >>> 0) << 32n) | BigInt(into.lo >>> 0);
}

test("the hash is of the masked form, and stays what rows were stored with", () => {
  assert.equal(hashOf("took 12 ms"), hashOf("took  3.5 s"));
  assert.notEqual(hashOf("took 12 ms"), hashOf("takes 12 ms"));
  assert.equal(hashOf("cannot reach the bank"), 4971690892746058941n);
  assert.equal(hashOf(""), 0n);
  assert.equal(hashOf(" \n"), 0n);
});

test("texts that differ in little have different hashes", () => {
  const texts = new Set<string>();
  const letters = "abcdefghijklmnopqrstuvwxyz";
  for (const a of letters)
    for (const b of letters) for (const c of letters) texts.add(`${a}${b} ${c}`).add(`word ${a}${b}${c}`);
  assert.equal(new Set([...texts].map(hashOf)).size, texts.size);
});

/** The column body_mask of a block, as it is sent. */
function sentMasks(block: LogBlock): bigint[] {
  const column = block.columns.find(({ name }) => name === "body_mask")!;
  const out: Buffer[] = [];
  column.seal(block.rows, out);
  const bytes = Buffer.concat(out);
  return Array.from({ length: block.rows }, (_, row) => bytes.readBigUInt64LE(row * 8));
}

test("a block stores the hash of each body, whatever was rolled back or left out between them", () => {
  const block = new LogBlock();
  const add = (body?: string) => {
    const view = body === undefined ? undefined : textView(body);
    if (view) block.body.set(block.rows, view, 0, view.byteLength);
    block.endRow();
  };
  const long = `long ${"text ".repeat(100)}`;
  add("took 12 ms");
  add();
  const mark = block.mark();
  add("to be rolled back");
  add();
  block.rollback(mark);
  add();
  add(long);
  add("");
  add("done");
  assert.deepEqual(sentMasks(block), [hashOf("took 1 s"), 0n, 0n, hashOf(long), 0n, hashOf("done")]);
  block.reset();
  add();
  add("took 12 ms");
  assert.deepEqual(sentMasks(block), [0n, hashOf("took 1 s")]);
});

test("a body that is not UTF-8 is masked as it is stored", () => {
  const block = new LogBlock();
  const bytes = new DataView(new Uint8Array([0x61, 0x20, 0xff, 0x20, 0x62]).buffer);
  block.body.set(0, bytes, 0, bytes.byteLength);
  block.endRow();
  assert.deepEqual(sentMasks(block), [hashOf("a \uFFFD b")]);
});
