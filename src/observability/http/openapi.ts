import type { TProperties, TSchema } from "typebox";
import type { DocumentedRoute } from "./define-route.ts";
import { errorCodes, violationCodes } from "./errors.ts";
import { problemTitle } from "./problem.ts";

/** The version that the API's own document carries; it changes with the API, not with the product. */
const apiVersion = "2026-01-26";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of `routes`. Schemas with an `$id` become components under that name. */
export function openApiDocument(routes: readonly DocumentedRoute[], version: string): Json {
  const schemas: Json = { ...problemSchemas };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = (paths[openPath(route.fullPath)] ??= {});
    path[route.method.toLowerCase()] = operation(route, schemas);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Vigil Observability API",
      version: apiVersion,
      description: `Vigil ${version}. Times ending in \`_unix_nano\` are integers of nanoseconds with all their digits, past what a double can hold.`,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { schemas, headers: responseHeaders, responses: problemResponses() },
  };
}

function operation(route: DocumentedRoute, schemas: Json): Json {
  const { summary, description, tag, params = {}, query = {}, body, response, example, bodyExample } = route;
  return {
    operationId: operationId(route),
    summary,
    ...(description && { description }),
    tags: [tag],
    ...parametersOf(params, query, schemas),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: published(body, schemas),
            ...(bodyExample !== undefined && { example: bodyExample }),
          },
        },
      },
    }),
    responses: {
      200: {
        description: "OK",
        headers: headerReferences,
        content: {
          "application/json": { schema: published(response, schemas), ...(example !== undefined && { example }) },
        },
      },
      ...Object.fromEntries(
        [400, 403, ...(route.errors ?? []), 500, 503].map((status) => [
          status,
          { $ref: `#/components/responses/${problemName(status)}` },
        ]),
      ),
    },
  };
}

function parametersOf(params: TProperties, query: TProperties, schemas: Json): Json {
  const parameters = [
    ...Object.entries(params).map(([name, schema]) => parameter("path", name, schema, true, schemas)),
    ...Object.entries(query).map(([name, schema]) => parameter("query", name, schema, false, schemas)),
  ];
  return parameters.length > 0 ? { parameters } : {};
}

function parameter(place: "path" | "query", name: string, schema: TSchema, required: boolean, schemas: Json): Json {
  const { description, ...rest } = published(schema, schemas) as Json;
  // TypeBox marks optional properties with a symbol-like key of its own; one with a default may be left out too.
  const mayBeAbsent = "~optional" in schema || "default" in schema;
  return {
    name,
    in: place,
    required: required || !mayBeAbsent,
    ...(description !== undefined && { description }),
    schema: rest,
  };
}

/** A schema as JSON: those with an `$id` are put among the components, and properties with a default are not required. */
function published(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((part) => published(part, schemas));
  if (typeof schema !== "object" || schema === null) return schema;
  const { $id, ...rest } = schema as Json;
  const copy: Json = {};
  for (const [key, value] of Object.entries(rest)) {
    copy[key] =
      key === "properties"
        ? publishedEach(value as Json, schemas)
        : key === "default"
          ? value
          : published(value, schemas);
  }
  if (Array.isArray(copy.required)) {
    const properties = (rest.properties ?? {}) as Record<string, Json>;
    copy.required = copy.required.filter((name: string) => properties[name]?.default === undefined);
  }
  if (typeof $id !== "string") return copy;
  schemas[$id] = copy;
  return { $ref: `#/components/schemas/${$id}` };
}

function publishedEach(properties: Json, schemas: Json): Json {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, published(schema, schemas)]));
}

function openPath(path: string): string {
  return path.replace(/:([A-Za-z0-9_]+)/g, "{$1}");
}

/** `get_api_v1_traces_traceId_spans`: unique, since each path has its prefix. */
function operationId({ method, fullPath }: DocumentedRoute): string {
  return [method.toLowerCase(), ...fullPath.split(/[^A-Za-z0-9]+/).filter(Boolean)].join("_");
}

const responseHeaders = {
  "X-Request-Id": {
    description: "Id of the request; a well-formed one that was sent is kept.",
    schema: { type: "string" },
  },
  "X-Trace-Id": {
    description: "Trace that the request belongs to.",
    schema: { type: "string", pattern: "^[a-f0-9]{32}$" },
  },
  "Retry-After": { description: "Seconds after which a retry makes sense.", schema: { type: "integer", minimum: 1 } },
};

const headerReferences = {
  "X-Request-Id": { $ref: "#/components/headers/X-Request-Id" },
  "X-Trace-Id": { $ref: "#/components/headers/X-Trace-Id" },
};

const problemProperties = {
  type: { type: "string", format: "uri", default: "about:blank" },
  title: { type: "string" },
  status: { type: "integer", format: "int32" },
  detail: { type: "string" },
  instance: { type: "string", format: "uri-reference", description: "The request's path" },
  timestamp: { type: "string", format: "date-time" },
};

function problemSchema(more: Json, required: readonly string[]): Json {
  return {
    type: "object",
    required: ["type", "title", "status", ...required],
    properties: { ...problemProperties, ...more },
  };
}

const problemSchemas: Json = {
  Problem: problemSchema({}, []),
  ValidationProblem: problemSchema({ errors: { type: "array", items: { $ref: "#/components/schemas/Violation" } } }, [
    "errors",
  ]),
  NotFoundProblem: problemSchema({ resource_type: { type: "string" }, resource_id: { type: "string" } }, [
    "resource_type",
    "resource_id",
  ]),
  FailureProblem: problemSchema({ error_code: { type: "string", enum: Object.keys(errorCodes) } }, ["error_code"]),
  Violation: {
    type: "object",
    required: ["field", "message", "code"],
    properties: {
      field: { type: "string" },
      message: { type: "string" },
      code: { type: "string", enum: Object.keys(violationCodes) },
      rejected_value: { type: "string", description: "Present where it is safe to repeat" },
    },
  },
};

/** Every status that a route may name in its `errors`, and those that all routes have. */
const problemExamples: Readonly<Record<number, Json>> = {
  400: { errors: [{ field: "limit", message: "Must be at most 100.", code: "maximum", rejected_value: "1000" }] },
  401: {},
  403: {},
  404: { resource_type: "trace", resource_id: "0af7651916cd43dd8448eb211c80319c" },
  409: {},
  413: {},
  415: {},
  429: {},
  500: { error_code: "internal.unhandled" },
  503: { error_code: "store.unavailable" },
};

function problemResponses(): Json {
  return Object.fromEntries(
    Object.entries(problemExamples).map(([text, members]) => {
      const status = Number(text);
      const schema = { $ref: `#/components/schemas/${schemaName(status)}` };
      const example = { type: "about:blank", title: problemTitle(status), status, ...members };
      const waits = status === 429 || status === 503;
      const headers = {
        ...headerReferences,
        ...(waits && { "Retry-After": { $ref: "#/components/headers/Retry-After" } }),
      };
      return [
        problemName(status),
        { description: problemTitle(status), headers, content: { "application/problem+json": { schema, example } } },
      ];
    }),
  );
}

function schemaName(status: number): string {
  if (status === 400) return "ValidationProblem";
  if (status === 404) return "NotFoundProblem";
  return status >= 500 ? "FailureProblem" : "Problem";
}

/** The component of a status: `NotFound`. */
function problemName(status: number): string {
  if (!(status in problemExamples)) throw new TypeError(`No answer is documented for status ${status}.`);
  return problemTitle(status).replaceAll(" ", "");
}
