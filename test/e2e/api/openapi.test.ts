// The API's own document, held to what the running product does: each example fits its schema, each route that reads
// answers what its schema says, and every answer carries the headers that all have.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { fillFromShop } from "../shop-data.ts";
import type { ShopData } from "../shop-data.ts";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";

interface Media {
  readonly schema: object;
  readonly example?: unknown;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: "path" | "query"; readonly required: boolean }[];
  readonly requestBody?: { readonly content: { readonly "application/json": Media } };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

let vigil: RunningVigil;
let document: Document;
let data: ShopData;
let deploymentId: string;

before(async () => {
  vigil = await startVigil();
  data = await fillFromShop(vigil.url);
  document = (await (await fetch(`${vigil.url}/openapi.json`)).json()) as Document;
  const deployment = await fetch(`${vigil.url}/v1/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      service_name: "payment",
      service_version: "2.1.0",
      environment: "production",
      strategy: "rolling",
    }),
  });
  assert.equal(deployment.status, 200);
  deploymentId = ((await deployment.json()) as Record<string, string>)["deployment.id"]!;
});
after(() => vigil.stop());

/** Says what is wrong with `value` by `schema`, which may refer to the document's components. */
function faults(schema: object, value: unknown): string {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile({ ...schema, components: document.components });
  return validate(value) ? "" : ajv.errorsText(validate.errors);
}

function operations(): { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Something that is there, for each kind of path parameter. */
function fillPath(path: string): string {
  const real: Readonly<Record<string, string>> = {
    traceId: data.traceId,
    sessionId: data.sessionId,
    deploymentId,
    name: "payment",
    serviceName: "payment",
  };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(real[name] ?? assert.fail(`no ${name} for ${path}`)),
  );
}

const answerOf = (operation: Operation) => operation.responses["200"]!.content!["application/json"]!;

test("every example fits the schema beside it", () => {
  for (const { path, method, operation } of operations()) {
    const medias = [answerOf(operation), operation.requestBody?.content["application/json"]];
    for (const media of medias) {
      if (media?.example !== undefined) assert.equal(faults(media.schema, media.example), "", `${method} ${path}`);
    }
  }
});

test("every route answers what the document says, with the ids of its request", async () => {
  let asked = 0;
  for (const { path, method, operation } of operations()) {
    const example = operation.requestBody?.content["application/json"].example;
    // A body that changes something is the business of that resource's own tests.
    if (method !== "get" && example === undefined) continue;
    const answer = await fetch(`${vigil.url}${fillPath(path)}`, {
      method: method.toUpperCase(),
      ...(example !== undefined && { body: JSON.stringify(example), headers: { "content-type": "application/json" } }),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, `${method} ${path}: ${text}`);
    assert.equal(faults(answerOf(operation).schema, JSON.parse(text)), "", `${method} ${path}: ${text.slice(0, 2000)}`);
    assert.match(answer.headers.get("x-request-id") ?? "", /^[\w.-]{1,128}$/);
    assert.match(answer.headers.get("x-trace-id") ?? "", /^[0-9a-f]{32}$/);
    asked++;
  }
  assert.ok(asked >= 10, `${asked} routes were asked`);
});

test("every route with a query refuses a parameter that it does not know, as the document says", async () => {
  const schema = { $ref: "#/components/schemas/ValidationProblem" };
  for (const { path, method, operation } of operations()) {
    if (method !== "get" || !operation.parameters?.some((p) => p.in === "query")) continue;
    const answer = await fetch(`${vigil.url}${fillPath(path)}?colour=red`);
    assert.equal(answer.status, 400, path);
    assert.match(answer.headers.get("content-type") ?? "", /^application\/problem\+json/);
    const problem = (await answer.json()) as { errors: { code: string }[] };
    assert.equal(problem.errors[0]!.code, "unknown_parameter", path);
    assert.equal(faults(schema, problem), "", path);
  }
});
