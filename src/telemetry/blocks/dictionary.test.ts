import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Dictionary } from "./dictionary.ts";

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The number of `bytes`, which are added where they are new. */
function intern(dictionary: Dictionary, bytes: Uint8Array): number {
  const view = viewOf(bytes);
  const found = dictionary.find(view, 0, bytes.length);
  return found === -1 ? dictionary.add(view, 0, bytes.length) : found;
}

/** The entries as they are sent. */
function entries(dictionary: Dictionary): string[] {
  const texts: string[] = [];
  const bytes = dictionary.encoded.inUse();
  for (let at = 0; at < bytes.length;) {
    const size = bytes[at]!;
    assert.ok(size < 0x80, "these tests use short texts");
    texts.push(bytes.toString("latin1", at + 1, at + 1 + size));
    at += 1 + size;
  }
  return texts;
}

// Few letters and lengths, so that texts begin, end and are hashed alike.
const text = fc.stringMatching(/^[ab]{0,9}$/);
const key = (value: string) => Buffer.from(value);

test("texts are numbered in the order in which they come, whatever was taken out between", () => {
  fc.assert(
    fc.property(fc.array(text), fc.array(text), fc.array(text), (first, undone, second) => {
      const dictionary = new Dictionary();
      const known = [""];
      const add = (value: string) => {
        const index = intern(dictionary, key(value));
        if (!known.includes(value)) known.push(value);
        assert.equal(index, known.indexOf(value));
      };
      first.forEach(add);
      const size = dictionary.size;
      for (const value of undone) intern(dictionary, key(value));
      dictionary.truncate(size);
      assert.deepEqual(entries(dictionary), known);
      second.forEach(add);
      assert.deepEqual(entries(dictionary), known);
    }),
  );
});

test("it may be truncated any number of times", () => {
  const dictionary = new Dictionary();
  intern(dictionary, key("kept"));
  for (let i = 0; i < 1000; i++) {
    intern(dictionary, key(`text ${i}`));
    dictionary.truncate(2);
  }
  assert.equal(dictionary.find(viewOf(key("text 7")), 0, 6), -1);
  assert.deepEqual(entries(dictionary), ["", "kept"]);
});

test("it grows to any number of texts, and is empty after a reset", () => {
  const dictionary = new Dictionary();
  for (let i = 1; i <= 70_000; i++) assert.equal(intern(dictionary, key(`text ${i}`)), i);
  for (let i = 1; i <= 70_000; i += 777) assert.equal(intern(dictionary, key(`text ${i}`)), i);
  dictionary.reset();
  assert.equal(dictionary.size, 1);
  assert.equal(intern(dictionary, key("text 7")), 1);
  assert.deepEqual(entries(dictionary), ["", "text 7"]);
});

test("an entry is told from other bytes, and from entries that were taken out", () => {
  const dictionary = new Dictionary();
  const bytes = key("http.route");
  const index = intern(dictionary, bytes);
  assert.equal(dictionary.holds(index, viewOf(bytes), 0, bytes.length), true);
  assert.equal(dictionary.holds(index, viewOf(bytes), 0, bytes.length - 1), false);
  dictionary.truncate(index);
  assert.equal(dictionary.holds(index, viewOf(bytes), 0, bytes.length), false);
});
