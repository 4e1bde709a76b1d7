import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { GrowingBytes } from "./growing-bytes.ts";

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Reads the String at the start: its length as a varint, then its text. */
function readString(bytes: Buffer): { text: string; size: number } {
  let size = 0;
  let at = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[at++]!;
    size += (byte & 0x7f) * factor;
    if (byte < 0x80) break;
  }
  assert.equal(bytes.length, at + size);
  return { text: bytes.toString("utf8", at), size };
}

test("any bytes become the text that a decoder makes of them", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.string({ unit: "binary", maxLength: 200 }).map((text) => new Uint8Array(Buffer.from(text))),
  );
  fc.assert(
    fc.property(bytes, fc.nat(5), (content, before) => {
      const out = new GrowingBytes();
      // The range lies anywhere in what is read from.
      const from = Buffer.concat([Buffer.alloc(before, 0xff), content, Buffer.alloc(3, 0xff)]);
      out.appendString(viewOf(from), before, before + content.length);
      const { text, size } = readString(out.inUse());
      const expected = Buffer.from(content).toString("utf8");
      assert.equal(text, expected);
      assert.equal(size, Buffer.byteLength(expected));
    }),
  );
});

test("bytes are appended as they are, and told to be ASCII or not", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (content) => {
      const out = new GrowingBytes();
      const seen = out.appendBytes(viewOf(content), 0, content.length);
      assert.deepEqual([...out.inUse()], [...content]);
      assert.equal(
        seen === 0,
        content.every((byte) => byte < 0x80),
      );
    }),
  );
});

test("a byte order mark is text", () => {
  const out = new GrowingBytes();
  const content = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff]);
  out.appendText(viewOf(content), 0, content.length);
  assert.equal(out.inUse().toString(), "\ufeffa\ufffd");
});

test("memory of a burst is given back after some smaller rounds, not at once", () => {
  const out = new GrowingBytes();
  const round = (size: number) => {
    out.appendBytes(new DataView(new ArrayBuffer(size)), 0, size);
    out.reset();
  };
  round(1 << 20);
  assert.ok(out.bytes.length >= 1 << 20);
  for (let i = 0; i < 12; i++) round(100);
  assert.ok(out.bytes.length < 1 << 16);
  out.appendAscii("still works");
  assert.equal(out.inUse().toString(), "still works");
});
