import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { fastify } from "fastify";
import { StoreOverloaded, StoreUnavailable } from "../../core/errors.ts";
import { registerOtlpHttp } from "./http.ts";
import type { OtlpHttpOptions } from "./http.ts";
import { MalformedPayload } from "./protobuf/malformed-payload.ts";
import type { Outcome } from "./receive.ts";
import type { Signal, Target } from "./signal.ts";

interface Received {
  readonly signal: Signal;
  readonly bytes: Buffer;
  readonly target: Target;
}

/** A server on a free port of loopback; what it received; `answer` is what its receiver does. */
async function start(
  t: TestContext,
  answer: () => Promise<Outcome> = async () => ({ rejected: 0 }),
  more: Partial<OtlpHttpOptions> = {},
) {
  const received: Received[] = [];
  const app = fastify({ forceCloseConnections: true });
  registerOtlpHttp(app, {
    receiver: {
      receive(signal, bytes, target) {
        received.push({ signal, bytes: Buffer.from(bytes), target });
        return answer();
      },
    },
    corsOrigins: ["https://app.example.com"],
    limits: { maxBodyBytes: 100_000, bodyTimeoutMs: 10_000 },
    identify: () => ({ workspace: "w", project: "p" }),
    ...more,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  t.after(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  const post = (path: string, body: Uint8Array | string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      body: typeof body === "string" ? body : new Uint8Array(body),
      headers: { "content-type": "application/x-protobuf", ...headers },
    });
  return { app, port, post, received };
}

const payload = Buffer.from("0a00".repeat(500), "hex");
const json = '{"resourceSpans":[{"schemaUrl":"s"}]}';
const jsonAsProtobuf = "0a031a0173";

/** google.rpc.Status { code, message } in protobuf, for messages of up to 127 bytes. */
const status = (code: number, message: string) =>
  Buffer.concat([Buffer.from([8, code, 18, Buffer.byteLength(message)]), Buffer.from(message)]);

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

test("each signal is received in protobuf and in JSON, and answered in kind", async (t) => {
  const { post, received } = await start(t);
  for (const signal of ["traces", "logs", "metrics"]) {
    const response = await post(`/v1/${signal}`, payload);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/x-protobuf");
    assert.equal((await bytesOf(response)).length, 0);
  }
  assert.deepEqual(
    received.map((r) => r.signal),
    ["traces", "logs", "metrics"],
  );
  for (const { bytes, target } of received) {
    assert.ok(bytes.equals(payload));
    assert.deepEqual(target, { workspace: "w", project: "p" });
  }
  for (const type of ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"']) {
    const response = await post("/v1/traces", json, { "content-type": type });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(await response.text(), "{}");
    assert.equal(received.at(-1)?.bytes.toString("hex"), jsonAsProtobuf);
  }
  assert.equal((await post("/v1/traces", payload, { "content-type": "application/protobuf" })).status, 200);
});

test("an empty request is taken, in both encodings", async (t) => {
  const { post, received } = await start(t);
  assert.equal((await post("/v1/logs", "")).status, 200);
  assert.equal((await post("/v1/logs", "{}", { "content-type": "application/json" })).status, 200);
  assert.deepEqual(
    received.map((r) => r.bytes.length),
    [0, 0],
  );
});

test("partial success says how many were rejected, and why", async (t) => {
  const { post } = await start(t, async () => ({ rejected: 300, message: "bad ids" }));
  const names = { traces: "rejectedSpans", logs: "rejectedLogRecords", metrics: "rejectedDataPoints" };
  for (const [signal, name] of Object.entries(names)) {
    const inProtobuf = await post(`/v1/${signal}`, payload);
    assert.equal(inProtobuf.status, 200);
    assert.equal(
      (await bytesOf(inProtobuf)).toString("hex"),
      `0a0c08ac021207${Buffer.from("bad ids").toString("hex")}`,
    );
    const inJson = await post(`/v1/${signal}`, "{}", { "content-type": "application/json" });
    assert.equal(inJson.status, 200);
    assert.deepEqual(await inJson.json(), { partialSuccess: { [name]: "300", errorMessage: "bad ids" } });
  }
});

test("every content coding is undone, several in a row too", async (t) => {
  const { post, received } = await start(t);
  const cases: readonly (readonly [string, Buffer])[] = [
    ["identity", payload],
    ["", payload],
    ["gzip", gzipSync(payload)],
    ["x-gzip", gzipSync(payload)],
    ["GZIP", gzipSync(payload)],
    ["gzip", Buffer.concat([gzipSync(payload.subarray(0, 100)), gzipSync(payload.subarray(100))])],
    ["deflate", deflateSync(payload)],
    ["br", brotliCompressSync(payload)],
    ["zstd", zstdCompressSync(payload)],
    ["gzip, zstd", zstdCompressSync(gzipSync(payload))],
    ["br, identity , deflate,gzip", gzipSync(deflateSync(brotliCompressSync(payload)))],
  ];
  for (const [coding, body] of cases) {
    const response = await post("/v1/traces", body, { "content-encoding": coding });
    assert.equal(response.status, 200, coding);
    assert.ok(received.at(-1)?.bytes.equals(payload), coding);
  }
});

test("what is broken in its coding is 400, and nothing of it is received", async (t) => {
  const { post, received } = await start(t);
  const whole = {
    gzip: gzipSync(payload),
    deflate: deflateSync(payload),
    br: brotliCompressSync(payload),
    zstd: zstdCompressSync(payload),
  };
  for (const [coding, body] of Object.entries(whole)) {
    const broken = [
      body.subarray(0, -3),
      Buffer.from("not compressed at all"),
      Buffer.concat([body, Buffer.from("more")]),
      Buffer.alloc(0),
    ];
    for (const bytes of broken) {
      const response = await post("/v1/traces", bytes, { "content-encoding": coding });
      assert.equal(response.status, 400, `${coding} ${bytes.length}`);
      assert.equal((await bytesOf(response))[1], 3);
    }
  }
  assert.equal(received.length, 0);
});

test("unknown types and codings are 415", async (t) => {
  const { post, port, received } = await start(t);
  const cases: readonly Record<string, string>[] = [
    { "content-type": "text/plain" },
    { "content-type": "application/json; charset=utf-16" },
    { "content-type": "nonsense" },
    { "content-encoding": "compress" },
    { "content-encoding": "toString" },
    { "content-encoding": "gzip, gzip, gzip, gzip, gzip" },
  ];
  for (const headers of cases) {
    const response = await post("/v1/traces", payload, headers);
    assert.equal(response.status, 415, JSON.stringify(headers));
    if (headers["content-type"] === undefined) assert.equal((await bytesOf(response))[1], 3);
    else assert.equal(((await response.json()) as { code: number }).code, 3);
  }
  const untyped = await fetch(`http://127.0.0.1:${port}/v1/traces`, { method: "POST", body: new Uint8Array(4) });
  assert.equal(untyped.status, 415);
  assert.equal(received.length, 0);
});

test("a payload over the limit is 413 in its encoding: as sent, as decompressed, declared or not", async (t) => {
  const { port, post, received } = await start(t);
  const limit = "The payload is larger than 100000 bytes, as sent or decompressed.";
  const plain = await post("/v1/traces", Buffer.alloc(100_001));
  assert.equal(plain.status, 413);
  assert.deepEqual(await bytesOf(plain), status(8, limit));
  const inJson = await post("/v1/logs", " ".repeat(100_001), { "content-type": "application/json" });
  assert.deepEqual([inJson.status, await inJson.json()], [413, { code: 8, message: limit }]);

  const bomb = Buffer.alloc(50 * 2 ** 20);
  for (const [coding, body] of Object.entries({
    gzip: gzipSync(bomb),
    br: brotliCompressSync(bomb),
    zstd: zstdCompressSync(bomb),
  })) {
    assert.ok(body.length < 100_000);
    assert.equal((await post("/v1/traces", body, { "content-encoding": coding })).status, 413, coding);
  }
  const twice = gzipSync(gzipSync(bomb));
  assert.equal((await post("/v1/traces", twice, { "content-encoding": "gzip, gzip" })).status, 413);

  const endless = httpRequest({
    port,
    method: "POST",
    path: "/v1/traces",
    headers: { "content-type": "application/x-protobuf" },
  });
  endless.on("error", () => endless.destroy());
  const more = () => {
    while (endless.writable && endless.write(Buffer.alloc(65_536)));
  };
  endless.on("drain", more);
  more();
  const [response] = (await once(endless, "response")) as [IncomingMessage];
  assert.equal(response.statusCode, 413);
  assert.equal(response.headers.connection, "close");
  assert.deepEqual(Buffer.concat(await response.toArray()), status(8, limit));
  endless.destroy();
  assert.equal((await post("/v1/traces", Buffer.alloc(100_000))).status, 200);
  assert.deepEqual(
    received.map((r) => r.bytes.length),
    [100_000],
  );
});

test("the receiver's errors become statuses that say whether to come back", async (t) => {
  let error: Error = new Error();
  const { post } = await start(t, () => Promise.reject(error));
  const cases: readonly (readonly [Error, number, number, string, string | null])[] = [
    [new MalformedPayload("The body is odd."), 400, 3, "The body is odd.", null],
    [new StoreUnavailable("secret detail", 7), 503, 14, "The store is away at the moment.", "7"],
    [new StoreOverloaded("secret detail", 0.2), 503, 8, "More telemetry waits to be stored than memory allows.", "1"],
    [new Error("secret detail"), 500, 13, "Vigil failed to take this payload; its log says why.", null],
  ];
  for (const [thrown, httpStatus, code, message, retryAfter] of cases) {
    error = thrown;
    const response = await post("/v1/traces", payload);
    assert.equal(response.status, httpStatus);
    assert.equal(response.headers.get("retry-after"), retryAfter);
    const bytes = await bytesOf(response);
    assert.deepEqual(bytes.subarray(0, status(code, message).length), status(code, message));
    const inJson = await post("/v1/traces", "{}", { "content-type": "application/json" });
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfter}s` }];
    assert.deepEqual(await inJson.json(), { code, message, ...(retryAfter === null ? {} : { details }) });
  }
  error = new StoreUnavailable("", 7);
  const type = "type.googleapis.com/google.rpc.RetryInfo";
  const any = Buffer.concat([Buffer.from([10, type.length]), Buffer.from(type), Buffer.from([18, 4, 10, 2, 8, 7])]);
  const expected = Buffer.concat([status(14, "The store is away at the moment."), Buffer.from([26, any.length]), any]);
  assert.deepEqual(await bytesOf(await post("/v1/traces", payload)), expected);
});

test("malformed JSON is 400 with a path", async (t) => {
  const { post } = await start(t);
  const response = await post("/v1/traces", '{"resourceSpans":[{"scopeSpans":5}]}', {
    "content-type": "application/json",
  });
  const message = "The body is not a valid ExportTraceServiceRequest: resourceSpans[0].scopeSpans must be an array.";
  assert.deepEqual([response.status, await response.json()], [400, { code: 3, message }]);
});

test("refusals before the route and by identify are statuses too; other routes are left alone", async (t) => {
  const refuse = (statusCode: number, message: string, headers: Record<string, string>) =>
    Object.assign(new Error(message), { statusCode, headers });
  const { app, post, port } = await start(t, undefined, {
    identify({ headers }) {
      if (headers.authorization === undefined) throw refuse(401, "No token.", { "www-authenticate": "Bearer" });
      if (headers.authorization === "slow down") throw refuse(429, "Too many.", { "retry-after": "30" });
      if (headers.authorization === "away")
        throw Object.assign(refuse(503, "Nobody knows the tokens.", {}), { retryAfter: 2 });
      throw refuse(403, "Wrong token.", {});
    },
  });
  const none = await post("/v1/traces", payload);
  assert.equal(none.status, 401);
  assert.equal(none.headers.get("www-authenticate"), "Bearer");
  assert.deepEqual(await bytesOf(none), status(16, "No token."));
  const wrong = await post("/v1/traces", "{}", { "content-type": "application/json", authorization: "x" });
  assert.deepEqual([wrong.status, await wrong.json()], [403, { code: 7, message: "Wrong token." }]);
  const fast = await post("/v1/traces", payload, { authorization: "slow down" });
  assert.deepEqual([fast.status, fast.headers.get("retry-after")], [429, "30"]);
  const away = await post("/v1/traces", payload, { authorization: "away" });
  assert.deepEqual([away.status, away.headers.get("retry-after")], [503, "2"]);
  assert.equal((await post("/v1/nothing", payload)).status, 404);
  assert.equal(
    (await fetch(`http://127.0.0.1:${port}/v1/traces`)).headers.get("content-type"),
    "application/json; charset=utf-8",
  );
  assert.equal(app.hasContentTypeParser("application/json"), true);
});

test("a body that stops arriving is given up, and its sender asked to come back", async (t) => {
  const { port, received } = await start(t, undefined, { limits: { maxBodyBytes: 1000, bodyTimeoutMs: 50 } });
  const headers = { "content-type": "application/json", "content-length": "100" };
  const request = httpRequest({ port, method: "POST", path: "/v1/logs", headers });
  request.on("error", () => request.destroy());
  request.write("{");
  const [response] = (await once(request, "response")) as [IncomingMessage];
  assert.equal(response.statusCode, 503);
  assert.equal(response.headers["retry-after"], "1");
  assert.equal(response.headers.connection, "close");
  request.destroy();
  assert.equal(received.length, 0);
});

test("a sender that goes away in the middle leaves nothing behind", async (t) => {
  const { app, port, post, received } = await start(t, undefined, {
    limits: { maxBodyBytes: 2000, bodyTimeoutMs: 10_000 },
  });
  // More such bodies than may be held at once: were their bytes still counted, the last request would be refused.
  for (let i = 0; i < 10; i++) {
    const socket = connect(port, "127.0.0.1");
    const arrived = once(app.server, "request");
    socket.write(
      "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\ncontent-length: 2000\r\n\r\n",
    );
    socket.write(Buffer.alloc(1999));
    const [request] = (await arrived) as [IncomingMessage];
    const gone = new Promise((resolve) => request.once("close", resolve));
    socket.destroy();
    await gone;
  }
  const response = await post("/v1/traces", Buffer.alloc(2000));
  assert.equal(response.status, 200);
  assert.equal(received.length, 1);
});

test("no more than four of the largest bodies are held at once", async (t) => {
  const { port, post } = await start(t, undefined, { limits: { maxBodyBytes: 2000, bodyTimeoutMs: 60_000 } });
  const headers = { "content-type": "application/x-protobuf", "content-length": "2000" };
  const waiting = Array.from({ length: 4 }, () => {
    const request = httpRequest({ port, method: "POST", path: "/v1/traces", headers });
    request.write(Buffer.alloc(1999));
    return request;
  });
  // The four bodies arrive when they do: until then a small one still finds room.
  let response = await post("/v1/traces", Buffer.alloc(100));
  while (response.status === 200) response = await post("/v1/traces", Buffer.alloc(100));
  assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "1"]);
  const answers = waiting.map((request) => once(request, "response"));
  for (const request of waiting) request.end(Buffer.alloc(1));
  for (const [answer] of await Promise.all(answers)) {
    assert.equal((answer as IncomingMessage).statusCode, 200);
    (answer as IncomingMessage).resume();
  }
  assert.equal((await post("/v1/traces", Buffer.alloc(100))).status, 200);
});

test("answers and refusals have the CORS headers of their origin, preflights have no body", async (t) => {
  const { post, port } = await start(t);
  for (const [origin, allowed] of [
    ["http://localhost:5173", "http://localhost:5173"],
    ["https://evil.example", null],
  ] as const) {
    const headers = { origin, "access-control-request-method": "POST" };
    const asked = await fetch(`http://127.0.0.1:${port}/v1/traces`, { method: "OPTIONS", headers });
    assert.deepEqual([asked.status, await asked.text()], [204, ""]);
    const sent = await post("/v1/traces", payload, { origin });
    assert.equal(sent.status, 200);
    const refused = await post("/v1/traces", payload, { origin, "content-type": "text/plain" });
    assert.equal(refused.status, 415);
    for (const response of [asked, sent, refused]) {
      assert.equal(response.headers.get("access-control-allow-origin"), allowed);
      assert.equal(response.headers.get("vary"), "Origin");
    }
  }
});
