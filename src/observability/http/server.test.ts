import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { QueryTimeout, StoreOverloaded, StoreUnavailable } from "../../core/errors.ts";
import { defineRoute } from "./define-route.ts";
import { NotFoundProblem, Problem } from "./problem.ts";
import { closed, int64 } from "./schemas.ts";
import { parseRaw, problemIn, startTestApi } from "./start-test-api.ts";

const failures: Record<string, () => Error> = {
  unforeseen: () => new Error("SELECT secret FROM /var/lib/store"),
  away: () => new StoreUnavailable("connect ECONNREFUSED /var/lib/store", 7),
  overloaded: () => new StoreOverloaded("134217728 bytes wait", 0.2),
  timeout: () => new QueryTimeout("Code: 159. DB::Exception"),
  missing: () => new NotFoundProblem("trace", "abc"),
  conflict: () => new Problem(409, "Already there."),
  throttled: () => new Problem(429, "Too many.", { headers: { "retry-after": "9" } }),
};

function define(app: FastifyInstance): void {
  const response = Type.Object({ ok: Type.Boolean() });
  const shared = { summary: "s", tag: "Test" };
  defineRoute(app, {
    ...shared,
    method: "GET",
    path: "/things",
    response,
    alsoUnder: "/v1",
    handler: () => ({ ok: true }),
  });
  defineRoute(app, {
    ...shared,
    method: "POST",
    path: "/things",
    body: closed({ name: Type.String() }),
    response: Type.Object({ name: Type.String() }),
    handler: ({ body }) => ({ name: body.name }),
  });
  defineRoute(app, {
    ...shared,
    method: "PATCH",
    path: "/things/:id",
    params: { id: Type.String() },
    response: Type.Object({ id: Type.String() }),
    handler: ({ params }) => ({ id: params.id }),
  });
  defineRoute(app, {
    ...shared,
    method: "GET",
    path: "/numbers",
    response: Type.Object({ start_time_unix_nano: int64(), count: int64(), nothing: Type.Optional(Type.String()) }),
    handler: () => ({ start_time_unix_nano: 1_769_420_000_123_456_789n, count: 3, nothing: undefined }),
  });
  defineRoute(app, {
    ...shared,
    method: "GET",
    path: "/bytes",
    response: Type.Object({ n: int64() }),
    handler: () => Buffer.from('{"n":18446744073709551615}'),
  });
  defineRoute(app, {
    ...shared,
    method: "GET",
    path: "/failures/:kind",
    params: { kind: Type.String() },
    response,
    handler: ({ params }) => {
      throw failures[params.kind]!();
    },
  });
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("routes answer under /api/v1, and under /v1 where they say so", async (t) => {
  const { url } = await startTestApi(t, define);
  for (const path of ["/api/v1/things", "/v1/things"]) {
    const response = await fetch(url + path);
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type")!, /^application\/json/);
    assert.deepEqual(await response.json(), { ok: true });
  }
  assert.equal((await fetch(`${url}/v1/numbers`)).status, 404);
});

test("integers keep all their digits, from objects and from bytes", async (t) => {
  const { url } = await startTestApi(t, define);
  assert.equal(
    await (await fetch(`${url}/api/v1/numbers`)).text(),
    '{"start_time_unix_nano":1769420000123456789,"count":3}',
  );
  const bytes = await fetch(`${url}/api/v1/bytes`);
  assert.match(bytes.headers.get("content-type")!, /^application\/json/);
  assert.equal(await bytes.text(), '{"n":18446744073709551615}');
});

test("every answer has its ids and the security headers", async (t) => {
  const { url } = await startTestApi(t, define);
  const targets = [
    "/api/v1/things",
    "/nowhere",
    "/api/v1/failures/unforeseen",
    "/api/v1/things?x=1",
    "/%zz",
    "/docs",
    "/openapi.json",
  ];
  const kept = { "x-request-id": "Mine_1.2-3", traceparent };
  for (const path of targets) {
    const fresh = (await fetch(url + path)).headers;
    assert.match(fresh.get("x-request-id")!, /^[0-9a-f-]{36}$/, path);
    assert.match(fresh.get("x-trace-id")!, /^[0-9a-f]{32}$/, path);
    assert.equal(fresh.get("x-content-type-options"), "nosniff", path);
    assert.equal(fresh.get("referrer-policy"), "no-referrer", path);
    assert.match(fresh.get("content-security-policy")!, /frame-ancestors 'none'/, path);
    const own = (await fetch(url + path, { headers: kept })).headers;
    assert.equal(own.get("x-request-id"), "Mine_1.2-3", path);
    assert.equal(own.get("x-trace-id"), "0af7651916cd43dd8448eb211c80319c", path);
  }
  for (const sent of ["with space", "a".repeat(129), "<script>", "ü"]) {
    const { headers } = await fetch(`${url}/api/v1/things`, { headers: { "x-request-id": sent } });
    assert.notEqual(headers.get("x-request-id"), sent);
  }
});

test("an unknown route is problem details with its path", async (t) => {
  const { url } = await startTestApi(t, define);
  for (const path of ["/", "/api/v1/nothing", "/api/v1/things/", "/api/v1/../secret", "/v1"]) {
    const response = await fetch(`${url}${path}?a=b`);
    assert.equal(response.status, 404);
    assert.equal(response.headers.get("content-type"), "application/problem+json");
    const problem = await problemIn(response);
    const asked = new URL(url + path).pathname;
    assert.equal(problem.type, "about:blank");
    assert.equal(problem.title, "Not Found");
    assert.equal(problem.status, 404);
    assert.equal(problem.instance, asked);
    assert.equal(problem.resource_type, "route");
    assert.equal(problem.resource_id, asked);
    assert.ok(!Number.isNaN(Date.parse(problem.timestamp)));
  }
});

test("a parameter of the path that is empty names no route", async (t) => {
  const { url } = await startTestApi(t, define);
  const response = await fetch(`${url}/api/v1/failures/`);
  assert.equal((await problemIn(response)).resource_type, "route");
});

test("a wrong method is 405 with Allow, a method that HTTP does not know too", async (t) => {
  const { url, raw } = await startTestApi(t, define);
  const cases = [
    ["DELETE", "/api/v1/things", "GET, HEAD, POST"],
    ["OPTIONS", "/api/v1/things", "GET, HEAD, POST"],
    ["GET", "/api/v1/things/7", "PATCH"],
    ["POST", "/v1/things", "GET, HEAD"],
    ["PUT", "/openapi.json", "GET, HEAD"],
  ] as const;
  for (const [method, path, allow] of cases) {
    const response = await fetch(url + path, { method, ...(method === "POST" && { body: "not json at all" }) });
    assert.equal(response.status, 405, `${method} ${path}`);
    assert.equal(response.headers.get("allow"), allow);
    assert.equal((await problemIn(response)).title, "Method Not Allowed");
  }
  const odd = parseRaw(await raw("PROPFIND /api/v1/things HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
  assert.equal(odd.status, 405);
  assert.equal(odd.headers.get("allow"), "GET, HEAD, POST");
});

test("HEAD is answered like GET, without a body", async (t) => {
  const { url } = await startTestApi(t, define);
  const response = await fetch(`${url}/api/v1/things`, { method: "HEAD" });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-length"), "11");
});

test("a failure tells the client a stable word and the log the rest", async (t) => {
  const { url, lines } = await startTestApi(t, define);
  const response = await fetch(`${url}/api/v1/failures/unforeseen`, { headers: { "x-request-id": "find-me" } });
  assert.equal(response.status, 500);
  const text = await response.text();
  assert.doesNotMatch(text, /SELECT|secret|\/var|stack|\.ts/);
  const problem = JSON.parse(text) as Record<string, unknown>;
  assert.equal(problem.title, "Internal Server Error");
  assert.equal(problem.error_code, "internal.unhandled");
  const line = lines.find(({ level }) => level === "error")!;
  assert.equal(line.request_id, "find-me");
  assert.match(JSON.stringify(line.err), /SELECT secret/);
});

test("what the store says is told in our words, with the time to wait", async (t) => {
  const { url } = await startTestApi(t, define);
  const cases = [
    ["away", "store.unavailable", "7"],
    ["overloaded", "store.unavailable", "1"],
    ["timeout", "query.timeout", "30"],
  ] as const;
  for (const [kind, code, seconds] of cases) {
    const response = await fetch(`${url}/api/v1/failures/${kind}`);
    assert.equal(response.status, 503);
    assert.equal(response.headers.get("retry-after"), seconds);
    const problem = await problemIn(response);
    assert.equal(problem.title, "Service Unavailable");
    assert.equal(problem.error_code, code);
    assert.doesNotMatch(problem.detail, /ECONN|Exception|134217728/);
    if (kind === "timeout") assert.match(problem.detail, /[Nn]arrow/);
  }
});

test("problems that handlers throw keep their status, members and headers", async (t) => {
  const { url } = await startTestApi(t, define);
  const missing = await fetch(`${url}/api/v1/failures/missing`);
  assert.equal(missing.status, 404);
  const { resource_type, resource_id } = await problemIn(missing);
  assert.deepEqual({ resource_type, resource_id }, { resource_type: "trace", resource_id: "abc" });
  assert.equal((await problemIn(await fetch(`${url}/api/v1/failures/conflict`))).title, "Conflict");
  const throttled = await fetch(`${url}/api/v1/failures/throttled`);
  assert.equal(throttled.headers.get("retry-after"), "9");
});

test("bodies that are not what they should be", async (t) => {
  const { url } = await startTestApi(t, define);
  const post = (
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = { "content-type": "application/json" },
  ) => fetch(`${url}/api/v1/things`, { method: "POST", headers, body });
  const notJson = ['{"name":', "", " ", "nonsense", '{"name":"a"} x', '{"__proto__":{"a":1},"name":"a"}'];
  for (const text of notJson) {
    const response = await post(text);
    assert.equal(response.status, 400, text);
    const { title, errors } = await problemIn(response);
    assert.equal(title, "Validation Failed");
    assert.equal(errors!.length, 1);
    assert.equal(errors![0]!.field, "body");
    assert.equal(errors![0]!.code, text === "" ? "required" : "format", text);
    assert.doesNotMatch(JSON.stringify(errors), /nonsense/);
    if (text.endsWith("x")) assert.equal(errors![0]!.message, "Is not valid JSON (line 1 column 14).");
    if (text.includes("__proto__")) assert.match(errors![0]!.message, /__proto__/);
  }
  assert.equal(
    (await problemIn(await post(Buffer.from('{"name":"\xff"}', "latin1")))).errors![0]!.message,
    "Is not valid UTF-8.",
  );
  assert.deepEqual(await (await post('\ufeff{"name":"with a byte order mark"}')).json(), {
    name: "with a byte order mark",
  });
  assert.equal(
    (await post('{"name":"a"}', { "content-type": "application/json; charset=utf-8", "content-encoding": "identity" }))
      .status,
    200,
  );
  for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
    const response = await post('{"name":"a"}', { "content-type": type });
    assert.equal(response.status, 415);
    assert.equal((await problemIn(response)).title, "Unsupported Media Type");
  }
  assert.equal(
    (await post('{"name":"a"}', { "content-type": "application/json", "content-encoding": "gzip" })).status,
    415,
  );
});

test("a body that is too large is answered, whether or not its length was told", async (t) => {
  const { url, raw } = await startTestApi(t, define);
  const body = JSON.stringify({ name: "x".repeat(1_100_000) });
  const response = await fetch(`${url}/api/v1/things`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  assert.equal(response.status, 413);
  assert.equal((await problemIn(response)).status, 413);
  // Much more than what the system's buffers hold, so that the client still sends when the answer is written.
  const size = 12_000_000;
  const chunks = `${(65_536).toString(16)}\r\n${"x".repeat(65_536)}\r\n`.repeat(size / 65_536);
  const head = "POST /api/v1/things HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  for (const text of [
    `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    `${head}Content-Length: ${size}\r\n\r\n${"x".repeat(size)}`,
  ]) {
    const answer = parseRaw(await raw(text));
    assert.equal(answer.status, 413);
    assert.equal(answer.headers.get("connection"), "close");
    assert.equal((JSON.parse(answer.body) as { status: number }).status, 413);
  }
});

test("an error leaves the connection open for the next request", async (t) => {
  const { raw } = await startTestApi(t, define);
  const host = "Host: localhost\r\n";
  const json = `${host}Content-Type: application/json\r\n`;
  const requests = [
    `GET /nowhere HTTP/1.1\r\n${host}\r\n`,
    `DELETE /api/v1/things HTTP/1.1\r\n${host}\r\n`,
    `GET /api/v1/failures/unforeseen HTTP/1.1\r\n${host}\r\n`,
    `GET /%zz HTTP/1.1\r\n${host}\r\n`,
    `POST /api/v1/things HTTP/1.1\r\n${json}Content-Length: 5\r\n\r\nwrong`,
    `GET /api/v1/things HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
  ];
  const answer = await raw(requests.join(""));
  const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
  assert.deepEqual(statuses, ["404", "405", "500", "400", "400", "200"]);
});

test("what Node's parser refuses late is answered where nothing has been, and only there", async (t) => {
  const begun = Promise.withResolvers<void>();
  const { app, port, raw } = await startTestApi(t, (api) => {
    api.get("/begun", (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, { "content-type": "text/plain" });
      reply.raw.write("half");
      begun.resolve();
    });
  });
  const slow = connect(port, "127.0.0.1");
  const [accepted] = (await once(app.server, "connection")) as [import("node:net").Socket];
  const received: Buffer[] = [];
  slow.on("data", (chunk: Buffer) => received.push(chunk));
  app.server.emit("clientError", Object.assign(new Error(), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), accepted);
  await once(slow, "close");
  const answer = parseRaw(Buffer.concat(received).toString());
  assert.equal(answer.status, 408);
  assert.equal((JSON.parse(answer.body) as { title: string }).title, "Request Timeout");

  app.server.once("connection", (socket) => {
    void begun.promise.then(() =>
      app.server.emit("clientError", Object.assign(new Error(), { code: "HPE_INVALID" }), socket),
    );
  });
  const half = await raw("GET /begun HTTP/1.1\r\nHost: localhost\r\n\r\n");
  assert.doesNotMatch(half, /problem|HTTP\/1\.1 4/);
});

test("garbage on the socket gets problem details, and the server goes on", async (t) => {
  const { url, raw } = await startTestApi(t, define);
  const host = "Host: localhost\r\n";
  const cases: [string, string, number][] = [
    ["no HTTP at all", "hello\r\n\r\n", 400],
    ["binary", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    ["an unknown method", `BREW / HTTP/1.1\r\n${host}\r\n`, 400],
    ["no Host", "GET /api/v1/things HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["two lengths", `POST /api/v1/things HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
    [
      "length and chunks",
      `POST /api/v1/things HTTP/1.1\r\n${host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      "a broken chunk",
      `POST /api/v1/things HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      400,
    ],
    ["headers without end", `GET / HTTP/1.1\r\n${host}X: ${"a".repeat(40_000)}\r\n\r\n`, 431],
    ["a URL past the headers' limit", `GET /${"a".repeat(40_000)} HTTP/1.1\r\n${host}\r\n`, 431],
    ["a long URL", `GET /${"a/".repeat(9_000)} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 414],
    ["a long parameter", `PATCH /api/v1/things/${"a".repeat(3_000)} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 414],
    ["broken percent-encoding", `GET /api/v1/things/%zz HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400],
    [
      "percent-encoded bytes that are no text",
      `PATCH /api/v1/things/%ff HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
      400,
    ],
    ["an expectation", `POST /api/v1/things HTTP/1.1\r\n${host}Expect: tea\r\nContent-Length: 0\r\n\r\n`, 417],
    ["a proxy's request", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", 405],
    ["OPTIONS *", `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 404],
    ["an upgrade", `GET /nowhere HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`, 404],
  ];
  for (const [name, text, status] of cases) {
    const answer = parseRaw(await raw(Buffer.from(text, "latin1")));
    assert.equal(answer.status, status, name);
    assert.equal(answer.headers.get("content-type"), "application/problem+json", name);
    assert.match(answer.headers.get("x-request-id")!, /^[0-9a-f-]{36}$/, name);
    assert.match(answer.headers.get("x-trace-id")!, /^[0-9a-f]{32}$/, name);
    const problem = JSON.parse(answer.body) as { status: number; errors?: unknown[] };
    assert.equal(problem.status, status, name);
    assert.equal(problem.errors !== undefined, status === 400, name);
  }
  assert.equal((await fetch(`${url}/api/v1/things`)).status, 200);
});

test("an absolute request target is its path", async (t) => {
  const { raw } = await startTestApi(t, define);
  const answer = parseRaw(
    await raw("GET http://localhost/api/v1/things?x=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
  );
  assert.equal(answer.status, 400);
  assert.equal((JSON.parse(answer.body) as { instance: string }).instance, "/api/v1/things");
});

test("a client that goes away in its body costs nothing but a line at debug", async (t) => {
  const { url, port, app, lines } = await startTestApi(t, define);
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  const arrived = once(app.server, "request");
  socket.write(
    'POST /api/v1/things HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"na',
  );
  const [request] = (await arrived) as [import("node:http").IncomingMessage];
  const gone = new Promise((resolve) => request.on("close", resolve));
  socket.destroy();
  await gone;
  assert.equal((await fetch(`${url}/api/v1/things`)).status, 200);
  assert.deepEqual(
    lines.filter(({ level }) => level !== "debug" && level !== "info"),
    [],
  );
});

test("a handler's signal aborts when its client goes away, and not before", async (t) => {
  const started = Promise.withResolvers<AbortSignal>();
  const release = Promise.withResolvers<void>();
  const { port } = await startTestApi(t, (app) => {
    defineRoute(app, {
      method: "POST",
      path: "/slow",
      summary: "s",
      tag: "Test",
      body: closed({}),
      response: Type.Object({}),
      handler: async ({ signal }) => {
        started.resolve(signal);
        await release.promise;
        return {};
      },
    });
  });
  const socket = connect(port, "127.0.0.1");
  socket.write(
    "POST /api/v1/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
  );
  const signal = await started.promise;
  assert.equal(signal.aborted, false);
  socket.destroy();
  await once(signal, "abort");
  release.resolve();
});
