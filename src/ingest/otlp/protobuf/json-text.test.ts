import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";
import { appendHex, appendJsonString } from "./json-text.ts";

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function jsonOf(content: Uint8Array): string {
  const out = new GrowingBytes();
  appendJsonString(out, viewOf(content), 0, content.length);
  return out.inUse().toString();
}

test("any text is written as JSON.stringify writes it", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom('"', "\\", "\u0000", "\n", "é", "😀") }),
  );
  fc.assert(
    fc.property(text, (value) => {
      assert.equal(jsonOf(Buffer.from(value)), JSON.stringify(value));
    }),
  );
});

test("bytes that are no text are repaired, and the rest is JSON all the same", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (content) => {
      assert.equal(JSON.parse(jsonOf(content)), Buffer.from(content).toString());
    }),
  );
});

test("hexadecimal digits are small", () => {
  const out = new GrowingBytes();
  appendHex(out, viewOf(new Uint8Array([0, 0x0f, 0xa0, 0xff])), 0, 4);
  assert.equal(out.inUse().toString(), "000fa0ff");
});
