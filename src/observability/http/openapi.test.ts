import assert from "node:assert/strict";
import { test } from "node:test";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { defineRoute } from "./define-route.ts";
import { errorCodes, violationCodes } from "./errors.ts";
import { makePage, textKey } from "./paging.ts";
import { KeyValue, closed, pageOf, pageParameters, timestamp, traceId } from "./schemas.ts";
import { startTestApi } from "./start-test-api.ts";

const Thing = Type.Object(
  { id: Type.String(), at_unix_nano: Type.Integer(), attributes: Type.Array(KeyValue) },
  { $id: "Thing" },
);

function define(app: FastifyInstance): void {
  defineRoute(app, {
    method: "GET",
    path: "/traces/:traceId/things",
    alsoUnder: "/v1",
    tag: "Things",
    summary: "List the things of a trace",
    description: "In order.",
    params: { traceId: traceId() },
    query: { startTime: Type.Optional(timestamp("Inclusive")), ...pageParameters(50, 10) },
    cursorKeys: [textKey],
    response: pageOf(Thing),
    example: {
      items: [{ id: "a", at_unix_nano: 1_769_420_000_123_456_789n, attributes: [] }],
      has_more: false,
      next_cursor: null,
      prev_cursor: null,
    },
    errors: [404],
    handler: ({ page }) => makePage(page, [], () => []),
  });
  defineRoute(app, {
    method: "POST",
    path: "/things",
    tag: "Things",
    summary: "Make a thing",
    body: closed({ name: Type.String(), size: Type.Integer({ default: 3 }) }),
    bodyExample: { name: "a" },
    response: Thing,
    errors: [409, 413],
    handler: () => ({ id: "a", at_unix_nano: 1, attributes: [] }),
  });
}

type Node = Record<string, unknown>;

async function documentOf(
  t: import("node:test").TestContext,
): Promise<{ text: string; at: (...keys: string[]) => Node }> {
  const { url } = await startTestApi(t, define);
  const response = await fetch(`${url}/openapi.json`);
  assert.equal(response.status, 200);
  const text = await response.text();
  assert.equal(await (await fetch(`${url}/api/v1/openapi.json`)).text(), text);
  const document: unknown = JSON.parse(text);
  const at = (...keys: string[]): Node =>
    keys.reduce<Node>((node, key) => {
      assert.ok(key in node, `${keys.join(" / ")} has ${key}`);
      return node[key] as Node;
    }, document as Node);
  return { text, at };
}

test("the document has every route under each of its prefixes", async (t) => {
  const { at } = await documentOf(t);
  assert.equal(at().openapi, "3.1.1");
  assert.deepEqual(Object.keys(at("paths")), [
    "/api/v1/traces/{traceId}/things",
    "/v1/traces/{traceId}/things",
    "/api/v1/things",
  ]);
  const ids = Object.values(at("paths") as Record<string, Record<string, Node>>).flatMap((path) =>
    Object.values(path).map((op) => op.operationId),
  );
  assert.equal(new Set(ids).size, 3);
});

test("parameters and bodies are those that the validation takes", async (t) => {
  const { at } = await documentOf(t);
  const parameters = at("paths", "/api/v1/traces/{traceId}/things", "get", "parameters") as unknown as Node[];
  assert.deepEqual(
    parameters.map(({ name, in: place, required }) => [name, place, required]),
    [
      ["traceId", "path", true],
      ["startTime", "query", false],
      ["limit", "query", false],
      ["cursor", "query", false],
    ],
  );
  assert.deepEqual(parameters[2]!.schema, { type: "integer", minimum: 1, maximum: 50, default: 10 });
  assert.equal(parameters[1]!.description, "Inclusive");
  const body = at("paths", "/api/v1/things", "post", "requestBody", "content", "application/json");
  assert.deepEqual(body.example, { name: "a" });
  assert.deepEqual((body.schema as Node).required, ["name"]);
});

test("answers are described, problems included, and every reference leads somewhere", async (t) => {
  const { at, text } = await documentOf(t);
  assert.deepEqual(Object.keys(at("paths", "/api/v1/traces/{traceId}/things", "get", "responses")), [
    "200",
    "400",
    "403",
    "404",
    "500",
    "503",
  ]);
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1]!);
  assert.ok(references.includes("components/schemas/Thing") && references.includes("components/schemas/KeyValue"));
  for (const reference of references) at(...reference.split("/"));
  for (const name of ["ValidationFailed", "NotFound", "InternalServerError", "ServiceUnavailable"]) {
    const { schema, example } = at("components", "responses", name, "content", "application/problem+json") as {
      schema: { $ref: string };
      example: Node;
    };
    const { required } = at(...schema.$ref.slice(2).split("/")) as { required: string[] };
    for (const member of required) assert.ok(member in example, `${name} ${member}`);
  }
  assert.deepEqual(at("components", "schemas", "Violation", "properties", "code").enum, Object.keys(violationCodes));
  assert.deepEqual(
    at("components", "schemas", "FailureProblem", "properties", "error_code").enum,
    Object.keys(errorCodes),
  );
});

test("examples keep the digits of their integers", async (t) => {
  const { text } = await documentOf(t);
  assert.match(text, /"at_unix_nano":1769420000123456789/);
});

test("the schemas are ones that a validator takes, and their examples satisfy them", async (t) => {
  const { at } = await documentOf(t);
  const { schema, example } = at(
    "paths",
    "/api/v1/traces/{traceId}/things",
    "get",
    "responses",
    "200",
    "content",
    "application/json",
  );
  const whole = { ...(schema as object), components: at("components") };
  assert.ok(Compile(whole).Check(example));
  assert.ok(!Compile(whole).Check({ ...(example as object), items: [{}] }));
});

test("the page to read it loads nothing from elsewhere", async (t) => {
  const { url } = await startTestApi(t, define);
  const page = await fetch(`${url}/docs`);
  assert.match(page.headers.get("content-type")!, /^text\/html/);
  const policy = page.headers.get("content-security-policy")!;
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /connect-src 'self'(;|$)/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /http|\*|unsafe-eval/);
  const html = await page.text();
  assert.doesNotMatch(html, /https?:\/\//);
  const sources = [...html.matchAll(/<script src="([^"]+)"/g)].map((match) => match[1]!);
  assert.equal(sources.length, 2);
  for (const source of sources) {
    const script = await fetch(url + source);
    assert.equal(script.status, 200, source);
    assert.match(script.headers.get("content-type")!, /^text\/javascript/);
    assert.ok((await script.text()).includes("createApiReference"), source);
  }
  const start = await (await fetch(`${url}/docs/start.js`)).text();
  assert.match(start, /"telemetry":false/);
  assert.match(start, /"url":"\/openapi.json"/);
});
