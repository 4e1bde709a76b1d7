import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { isLoopbackOrigin } from "../../core/loopback.ts";
import { ingestionOrigins } from "./access.ts";
import { defineRoute } from "./define-route.ts";
import { parseRaw, startTestApi } from "./start-test-api.ts";

function define(app: FastifyInstance): void {
  defineRoute(app, {
    method: "POST",
    path: "/who",
    summary: "s",
    tag: "Test",
    response: Type.Object({ workspace: Type.String() }),
    handler: ({ access }) => ({ workspace: access.workspace }),
  });
  app.route({ method: ["POST", "OPTIONS"], url: "/v1/traces", handler: () => ({}) });
}

/** The status of a request with exactly these headers (fetch sets Host itself). */
function statusOf(port: number, path: string, headers: Record<string, string>, method = "POST"): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: "127.0.0.1", path, method, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on("error", reject);
    sent.end();
  });
}

const here = [
  "localhost",
  "localhost:4318",
  "LOCALHOST:1",
  "localhost.",
  "app.localhost",
  "a.b.localhost:80",
  "127.0.0.1",
  "127.0.0.1:4318",
  "127.255.3.4:9",
  "[::1]",
  "[::1]:4318",
];
const elsewhere = [
  "evil.example",
  "evil.example:4318",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "evil.example#localhost",
  "notlocalhost",
  "127.0.0.256",
  "127.1",
  "0.0.0.0",
  "10.0.0.1",
  "[::2]",
  "localhost:4318:1",
  "localhost@evil.example",
  "evil.example,localhost",
  ".localhost:x",
];

test("a Host that is not this machine is refused on every route", async (t) => {
  const { port } = await startTestApi(t, define);
  for (const path of ["/api/v1/who", "/v1/traces", "/nowhere", "/docs", "/openapi.json", "/%zz"]) {
    for (const host of here) assert.notEqual(await statusOf(port, path, { host }), 403, `${path} ${host}`);
    for (const host of elsewhere) assert.equal(await statusOf(port, path, { host }), 403, `${path} ${host}`);
  }
});

test("a host that the options name is let in", async (t) => {
  const { port } = await startTestApi(t, define, { access: { mode: "local", hosts: ["Vigil.internal"] } });
  assert.equal(await statusOf(port, "/api/v1/who", { host: "vigil.internal:4318" }), 200);
  assert.equal(await statusOf(port, "/api/v1/who", { host: "other.internal:4318" }), 403);
});

test("a foreign Origin is refused, loopback's other ports included; a page of our own is not", async (t) => {
  const { port } = await startTestApi(t, define);
  const host = `localhost:${port}`;
  const status = (origin: string, path = "/api/v1/who", method = "POST") =>
    statusOf(port, path, { host, origin }, method);
  for (const origin of [`http://localhost:${port}`, `HTTP://LocalHost:${port}`, `https://localhost:${port}`])
    assert.equal(await status(origin), 200, origin);
  for (const origin of [
    "https://evil.example",
    "null",
    "http://localhost:5173",
    `http://127.0.0.1:${port}`,
    "http://localhost",
    `http://localhost:${port}.evil.example`,
    "file://",
    `http://x@localhost:${port}`,
  ]) {
    assert.equal(await status(origin), 403, origin);
    assert.equal(await status(origin, "/nowhere", "GET"), 403, origin);
  }
});

test("pages of loopback may send telemetry, pages of other origins where they are listed", async (t) => {
  const { port } = await startTestApi(t, define);
  const status = (origin: string, method: string, at = port) =>
    statusOf(at, "/v1/traces", { host: "localhost", origin }, method);
  for (const method of ["POST", "OPTIONS"]) {
    for (const origin of ["http://localhost:5173", "https://127.0.0.1", "http://[::1]:3000", "http://app.localhost"])
      assert.equal(await status(origin, method), 200, origin);
    for (const origin of ["https://shop.example", "null", "http://localhost.evil.example"])
      assert.equal(await status(origin, method), 403, origin);
  }
  const { port: other } = await startTestApi(t, define, {
    access: { mode: "local", allowsOrigin: ingestionOrigins(["https://Shop.example"]) },
  });
  assert.equal(await status("https://shop.example", "POST", other), 200);
  assert.equal(await status("https://shop.example:8443", "POST", other), 403);
  assert.equal(await statusOf(other, "/api/v1/who", { host: "localhost", origin: "https://shop.example" }), 403);
  const { port: open } = await startTestApi(t, define, {
    access: { mode: "local", allowsOrigin: ingestionOrigins(["*"]) },
  });
  assert.equal(await status("https://anything.example", "POST", open), 200);
});

test("a refusal is problem details with the request's ids", async (t) => {
  const { raw } = await startTestApi(t, define);
  const { status, headers, body } = parseRaw(
    await raw("GET /api/v1/who HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
  );
  assert.equal(status, 403);
  assert.equal(headers.get("content-type"), "application/problem+json");
  assert.ok(headers.has("x-request-id") && headers.has("x-trace-id"));
  const problem = JSON.parse(body) as { title: string; detail: string };
  assert.equal(problem.title, "Forbidden");
  assert.match(problem.detail, /Host/);
});

test("routes with an error handler of their own answer the refusal themselves", async (t) => {
  const { port } = await startTestApi(t, (app) => {
    app.register(async (scope) => {
      scope.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
        reply.code(error.statusCode === 403 ? 418 : 500).send();
      });
      scope.post("/v1/logs", () => ({}));
    });
  });
  assert.equal(await statusOf(port, "/v1/logs", { host: "evil.example" }), 418);
  assert.equal(await statusOf(port, "/v1/logs", { host: "localhost" }), 200);
});

test("a request without a Host is refused", async (t) => {
  const { raw } = await startTestApi(t, define);
  assert.equal(parseRaw(await raw("POST /api/v1/who HTTP/1.0\r\n\r\n")).status, 403);
  assert.equal(parseRaw(await raw("POST /api/v1/who HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n")).status, 403);
  assert.equal(parseRaw(await raw("POST /api/v1/who HTTP/1.1\r\nConnection: close\r\n\r\n")).status, 400);
});

test("what is an origin of loopback", () => {
  for (const host of here.filter((name) => name !== "localhost.")) assert.ok(isLoopbackOrigin(`http://${host}`), host);
  for (const origin of ["localhost", "ftp://localhost", "http://localhost/", "http://a@localhost", "null", ""])
    assert.ok(!isLoopbackOrigin(origin), origin);
});
