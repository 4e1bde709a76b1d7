import assert from "node:assert/strict";
import { connect as connectHttp2 } from "node:http2";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import { OperatorError, StoreOverloaded, StoreUnavailable } from "../../core/errors.ts";
import { createLog } from "../../core/log.ts";
import { startOtlpGrpc } from "./grpc.ts";
import { MalformedPayload } from "./protobuf/malformed-payload.ts";
import type { OtlpReceiver, Outcome } from "./receive.ts";

const paths = {
  traces: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
  logs: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
  metrics: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
};

async function start(t: TestContext, answer: () => Promise<Outcome> = async () => ({ rejected: 0 })) {
  const received: Parameters<OtlpReceiver["receive"]>[] = [];
  const grpc = await startOtlpGrpc({
    listen: "127.0.0.1:0",
    receiver: {
      receive(...payload) {
        received.push(payload);
        return answer();
      },
    },
    log: createLog("silent"),
    limits: { maxBodyBytes: 100_000 },
    identify: () => ({ workspace: "w", project: "p" }),
  });
  const clients: Client[] = [];
  t.after(async () => {
    for (const client of clients) client.close();
    await grpc.close({ deadlineMs: 0 });
  });
  const open = (options = {}) => {
    const client = new Client(grpc.address, credentials.createInsecure(), options);
    clients.push(client);
    return (path: string, bytes: Buffer) =>
      new Promise<Buffer>((resolve, reject) => {
        const done = (error: ServiceError | null, response?: Buffer) =>
          error === null ? resolve(response!) : reject(error);
        client.makeUnaryRequest(
          path,
          (b: Buffer) => b,
          (b) => b,
          bytes,
          new Metadata(),
          done,
        );
      });
  };
  return { grpc, received, open };
}

async function failureOf(call: Promise<Buffer>): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    return error as ServiceError;
  }
  return assert.fail("the call succeeded");
}

test("each signal is received, compressed or not", async (t) => {
  const { open, received } = await start(t);
  const payload = Buffer.from("0a00".repeat(500), "hex");
  for (const compression of [0, 1, 2]) {
    const call = open({ "grpc.default_compression_algorithm": compression });
    for (const path of Object.values(paths)) assert.equal((await call(path, payload)).length, 0);
  }
  assert.deepEqual(
    received.map(([signal]) => signal),
    Array.from({ length: 3 }, () => Object.keys(paths)).flat(),
  );
  for (const [, bytes, target] of received) {
    assert.ok(payload.equals(bytes));
    assert.deepEqual(target, { workspace: "w", project: "p" });
  }
  assert.equal((await open()(paths.traces, Buffer.alloc(0))).length, 0);
});

test("partial success is in the response", async (t) => {
  const { open } = await start(t, async () => ({ rejected: 2, message: "why" }));
  assert.equal((await open()(paths.logs, Buffer.alloc(2))).toString("hex"), "0a0708021203776879");
});

test("errors have the codes that OTLP gives them, and RetryInfo where a retry makes sense", async (t) => {
  let error = new Error();
  const { open } = await start(t, () => Promise.reject(error));
  const call = open();
  const cases: readonly (readonly [Error, status, boolean])[] = [
    [new MalformedPayload("Odd bytes."), status.INVALID_ARGUMENT, false],
    [new StoreUnavailable("secret", 3), status.UNAVAILABLE, true],
    [new StoreOverloaded("secret", 3), status.RESOURCE_EXHAUSTED, true],
    [new Error("secret"), status.INTERNAL, false],
  ];
  for (const [thrown, code, retry] of cases) {
    error = thrown;
    const failure = await failureOf(call(paths.traces, Buffer.from([10, 0])));
    assert.equal(failure.code, code);
    assert.doesNotMatch(failure.details, /secret/);
    const [details] = failure.metadata.get("grpc-status-details-bin") as Buffer[];
    assert.deepEqual([...details!.subarray(0, 2)], [8, code]);
    // Any { type_url, value: RetryInfo { retry_delay { seconds: 3 } } } comes last.
    assert.equal(details!.includes("type.googleapis.com/google.rpc.RetryInfo"), retry);
    assert.equal(details!.subarray(-6).equals(Buffer.from([18, 4, 10, 2, 8, 3])), retry);
  }
});

test("a message over the limit is RESOURCE_EXHAUSTED and not to be retried, compressed or not", async (t) => {
  const { open, received } = await start(t);
  for (const compression of [0, 2]) {
    const call = open({ "grpc.default_compression_algorithm": compression });
    const failure = await failureOf(call(paths.traces, Buffer.alloc(20_000_000)));
    assert.equal(failure.code, status.RESOURCE_EXHAUSTED);
    assert.deepEqual(failure.metadata.get("grpc-status-details-bin"), []);
    await call(paths.traces, Buffer.alloc(99_000));
  }
  assert.equal(received.length, 2);
});

test("unknown methods and garbage leave the server standing", async (t) => {
  const { grpc, open, received } = await start(t);
  assert.equal(
    (await failureOf(open()("/opentelemetry.proto.collector.trace.v1.TraceService/Nothing", Buffer.alloc(1)))).code,
    status.UNIMPLEMENTED,
  );
  for (const frame of [
    Buffer.from("garbage"),
    Buffer.concat([Buffer.from([1, 0, 0, 0, 9]), gzipSync("short").subarray(0, 9)]),
  ]) {
    const session = connectHttp2(`http://${grpc.address}`);
    session.on("error", () => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": paths.traces,
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-encoding": "gzip",
    });
    stream.on("error", () => stream.destroy());
    stream.end(frame);
    await new Promise((resolve) => stream.resume().once("close", resolve));
    session.destroy();
  }
  assert.equal(received.length, 0);
  await open()(paths.traces, Buffer.from([10, 0]));
  assert.equal(received.length, 1);
});

test("an address that cannot be had is a sentence that names the option", async (t) => {
  const taken = createServer().listen(0, "127.0.0.1");
  t.after(() => taken.close());
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as AddressInfo;
  const listenOn = (listen: string) =>
    startOtlpGrpc({
      listen,
      receiver: { receive: async () => ({ rejected: 0 }) },
      log: createLog("silent"),
      limits: { maxBodyBytes: 1000 },
      identify: () => ({ workspace: "w", project: "p" }),
    });
  await assert.rejects(listenOn(`127.0.0.1:${port}`), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.equal(
      error.message,
      `OTLP over gRPC cannot listen on 127.0.0.1:${port}: another program listens there already. Choose another address with --grpc-listen.`,
    );
    return true;
  });
  await assert.rejects(listenOn("192.0.2.1:0"), /this machine has no such address/);
});

test("closing answers what is under way, and takes nothing new", async (t) => {
  const disk = Promise.withResolvers<Outcome>();
  const { grpc, open, received } = await start(t, () => disk.promise);
  const call = open();
  const underWay = call(paths.traces, Buffer.from([10, 0]));
  while (received.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const closed = grpc.close({ deadlineMs: 60_000 });
  assert.equal((await failureOf(open()(paths.traces, Buffer.alloc(1)))).code, status.UNAVAILABLE);
  disk.resolve({ rejected: 0 });
  assert.equal((await underWay).length, 0);
  await closed;
});

test("closing cuts what is not answered by the deadline", async (t) => {
  const { grpc, open, received } = await start(t, () => new Promise(() => {}));
  const underWay = failureOf(open()(paths.traces, Buffer.from([10, 0])));
  while (received.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await grpc.close({ deadlineMs: 10 });
  assert.ok((await underWay).code !== status.OK);
});
