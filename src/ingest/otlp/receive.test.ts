import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreOverloaded, StoreUnavailable } from "../../core/errors.ts";
import { createLog } from "../../core/log.ts";
import { transcode } from "./json/transcode.ts";
import { MalformedPayload } from "./protobuf/malformed-payload.ts";
import { createOtlpReceiver } from "./receive.ts";
import { createRecordingWriter } from "./recording-writer.ts";

const target = { workspace: "default", project: "default" };
const traceId = "5b8efff798038103d269b633813fc60c";
const spanId = "eee19b7ec3c1b174";

/** A traces request with one valid span for each name, and one whose ids are wrong for each of `wrong`. */
function traces(names: readonly string[], wrong = 0): Buffer {
  const valid = names.map((name) => ({ traceId, spanId, name, startTimeUnixNano: "1763690000000000001" }));
  const invalid = Array.from({ length: wrong }, () => ({ traceId: "00", spanId, name: "wrong" }));
  return transcode(
    "traces",
    Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [...valid, ...invalid] }] }] })),
  );
}

function open() {
  const writer = createRecordingWriter();
  return { writer, receiver: createOtlpReceiver({ writer, log: createLog("silent"), now: () => 1_763_690_000_000 }) };
}

test("each signal goes to its table", async () => {
  const { writer, receiver } = open();
  const logs = transcode(
    "logs",
    Buffer.from('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"hi"}},{}]}]}]}'),
  );
  const points =
    '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":{"dataPoints":[{"asInt":"5"}]}}]}]}]}';
  assert.deepEqual(await receiver.receive("traces", traces(["a", "b", "c"]), target), {
    rejected: 0,
    message: undefined,
  });
  await receiver.receive("logs", logs, target);
  await receiver.receive("metrics", transcode("metrics", Buffer.from(points)), target);
  assert.deepEqual(
    writer.recorded.map(({ table, rows }) => [table, rows]),
    [
      ["spans", 3],
      ["logs", 2],
      ["metric_points", 1],
    ],
  );
});

test("nothing is acknowledged before it is stored", async () => {
  const { writer, receiver } = open();
  const disk = Promise.withResolvers<void>();
  writer.store = () => disk.promise;
  let answered = false;
  const received = receiver.receive("traces", traces(["a"]), target).then(() => (answered = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(writer.recorded.length, 1);
  assert.equal(answered, false);
  disk.resolve();
  await received;
});

test("the same payload again is not stored again, and has the same outcome", async () => {
  const { writer, receiver } = open();
  const payload = traces(["a"], 2);
  const first = await receiver.receive("traces", payload, target);
  const second = await receiver.receive("traces", Buffer.from(payload), target);
  assert.equal(first.rejected, 2);
  assert.match(first.message ?? "", /trace id must have 16 bytes/);
  assert.deepEqual(second, first);
  assert.equal(writer.recorded.length, 1);
});

test("the same payload for another project, workspace or signal is another payload", async () => {
  const { writer, receiver } = open();
  const payload = traces(["a"]);
  await receiver.receive("traces", payload, target);
  await receiver.receive("traces", payload, { ...target, project: "other" });
  await receiver.receive("traces", payload, { ...target, workspace: "other" });
  await receiver.receive("traces", traces(["b"]), target);
  assert.equal(writer.recorded.length, 4);
  const empty = Buffer.from("0a00", "hex");
  await receiver.receive("logs", empty, target);
  await receiver.receive("metrics", empty, target);
  assert.equal(writer.recorded.length, 6);
});

test("one that comes while the first is being stored waits for it", async () => {
  const { writer, receiver } = open();
  const disk = Promise.withResolvers<void>();
  writer.store = () => disk.promise;
  const both = [receiver.receive("traces", traces(["a"]), target), receiver.receive("traces", traces(["a"]), target)];
  assert.equal(writer.recorded.length, 1);
  disk.reject(new StoreUnavailable("gone"));
  for (const { status } of await Promise.allSettled(both)) assert.equal(status, "rejected");
});

test("what failed is forgotten: the retry is stored", async () => {
  const { writer, receiver } = open();
  const failures = [
    () => Promise.reject(new StoreUnavailable("the insert failed")),
    () => {
      throw new StoreOverloaded("too much waits");
    },
  ];
  for (const failure of failures) {
    writer.store = failure;
    await assert.rejects(receiver.receive("traces", traces(["a"]), target), /the insert failed|too much waits/);
  }
  writer.store = () => Promise.resolve();
  assert.equal((await receiver.receive("traces", traces(["a"]), target)).rejected, 0);
  assert.equal(writer.recorded.length, 2);
});

test("malformed bytes are refused each time", async () => {
  const { writer, receiver } = open();
  for (let i = 0; i < 2; i++) {
    await assert.rejects(receiver.receive("traces", Buffer.from("0aff", "hex"), target), MalformedPayload);
  }
  assert.equal(writer.recorded.length, 0);
});

test("an empty request is taken without a row, however often", async () => {
  const { writer, receiver } = open();
  writer.store = () => Promise.reject(new StoreUnavailable("away"));
  for (let i = 0; i < 2; i++)
    assert.deepEqual(await receiver.receive("logs", new Uint8Array(), target), { rejected: 0 });
  assert.equal(writer.recorded.length, 0);
});
