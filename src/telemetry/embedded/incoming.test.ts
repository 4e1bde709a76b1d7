import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { temporaryDirectory } from "./engine-for-tests.ts";
import { openIncoming } from "./incoming.ts";

test("a body is written as it comes and removed when it is done with", async (t) => {
  const directory = join(temporaryDirectory(t), "incoming");
  const incoming = openIncoming(directory, { maxBytes: 10, maxFiles: 1 });
  const file = await incoming.receive(Readable.from([Buffer.from("12345"), Buffer.from("67890")]));
  assert.equal(file.byteLength, 10);
  assert.equal(readFileSync(file.path, "utf8"), "1234567890");
  await file.remove();
  assert.deepEqual(readdirSync(directory), []);
});

test("a body that is too large leaves nothing, and can still be read to its end", async (t) => {
  const directory = join(temporaryDirectory(t), "incoming");
  const incoming = openIncoming(directory, { maxBytes: 4, maxFiles: 1 });
  const body = new PassThrough();
  body.write("12345");
  await assert.rejects(incoming.receive(body), { code: 307 });
  assert.deepEqual(readdirSync(directory), []);
  assert.equal(body.destroyed, false);
});

test("a body that breaks off leaves nothing", async (t) => {
  const directory = join(temporaryDirectory(t), "incoming");
  const incoming = openIncoming(directory, { maxBytes: 100, maxFiles: 1 });
  const body = new PassThrough();
  body.write("12345");
  const received = incoming.receive(body);
  body.destroy(new Error("broken off"));
  await assert.rejects(received, { message: "broken off" });
  assert.deepEqual(readdirSync(directory), []);
});

test("more bodies at once than may be are refused", async (t) => {
  const incoming = openIncoming(join(temporaryDirectory(t), "incoming"), { maxBytes: 100, maxFiles: 1 });
  const body = new PassThrough();
  const first = incoming.receive(body);
  await assert.rejects(incoming.receive(Readable.from([Buffer.from("x")])), { code: 202 });
  body.end("y");
  await (await first).remove();
  await (await incoming.receive(Readable.from([Buffer.from("z")]))).remove();
});
