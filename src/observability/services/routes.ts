import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { makePage, textKey } from "../http/paging.ts";
import type { CursorKey } from "../http/paging.ts";
import { NotFoundProblem } from "../http/problem.ts";
import { timeRange } from "../http/rules.ts";
import { pageOf, pageParameters, timestamp } from "../http/schemas.ts";
import { createCallReader } from "./calls.ts";
import { dependenciesOf } from "./dependencies.ts";
import { readServiceHealth } from "./detail.ts";
import { findService } from "./find.ts";
import { operationKeys, readOperations } from "./operations.ts";
import { readServices } from "./read.ts";
import { Service, ServiceDependency, ServiceDetail, ServiceOperation } from "./service-schema.ts";
import { windowOf } from "./window.ts";

const exampleService = {
  name: "checkout",
  namespace_name: "shop",
  version: "2.4.1",
  instance_count: 3,
  last_seen: "2026-11-20T10:00:00.000Z",
};

/** Adds `GET /api/v1/services`, and of one service `/services/{name}`, `/dependencies` and `/operations`. */
export function serviceRoutes(app: FastifyInstance, reader: TelemetryReader, now: () => number = Date.now): void {
  const readCalls = createCallReader();

  /** @throws NotFoundProblem where no service of that name (in that namespace) ever sent telemetry */
  async function find(workspace: string, name: string, namespaceName: string | undefined, signal: AbortSignal) {
    const found = await findService(reader, workspace, name, namespaceName, now(), signal);
    if (!found) throw new NotFoundProblem("service", name);
    return found;
  }

  defineRoute(app, {
    method: "GET",
    path: "/services",
    tag: "Services",
    summary: "List the services that sent telemetry",
    description: "Ordered by namespace, those without one first, then by name.",
    query: {
      namespaceName: Type.Optional(Type.String({ description: "Empty: services without a namespace" })),
      ...pageParameters(1000, 100),
    },
    cursorKeys: [textKey, textKey],
    response: pageOf(Service),
    example: { items: [exampleService], has_more: false, next_cursor: null, prev_cursor: null },
    async handler({ query, page, access, signal }) {
      const { namespaceName } = query;
      const rows = await readServices(reader, access.workspace, { namespaceName }, page, now(), signal);
      return makePage(page, rows, (service) => [service.namespace_name ?? "", service.name]);
    },
  });

  defineRoute(app, {
    method: "GET",
    path: "/services/:name",
    tag: "Services",
    summary: "Read a service: what it is and how it fares",
    description:
      "Rates and latencies are those of its server and consumer spans in the window, of a service without any those of " +
      "its spans without a parent.",
    params: { name: Type.String() },
    query: windowParameters,
    rules: [timeRange("startTime", "endTime")],
    response: ServiceDetail,
    errors: [404],
    example: {
      ...exampleService,
      resource_attributes: { "service.name": "checkout", attributes: [], dropped_attributes_count: 0 },
      instrumentation_libraries: [{ name: "@opentelemetry/instrumentation-http", version: "0.301.0" }],
      request_rate: 12.5,
      error_rate: 0.004,
      avg_latency_ms: 41.7,
      p99_latency_ms: 380,
    },
    async handler({ params, query, access, signal }) {
      const { service, key } = await find(access.workspace, params.name, query.namespaceName, signal);
      return { ...service, ...(await readServiceHealth(reader, key, windowOf(query, now()), signal)) };
    },
  });

  defineRoute(app, {
    method: "GET",
    path: "/services/:name/dependencies",
    tag: "Services",
    summary: "List who calls a service and whom it calls",
    description: "Ordered by source, then by target.",
    params: { name: Type.String() },
    query: windowParameters,
    rules: [timeRange("startTime", "endTime")],
    response: Type.Array(ServiceDependency),
    errors: [404],
    example: [
      {
        source_service: "checkout",
        target_service: "postgresql",
        request_count: 1200,
        error_rate: 0,
        avg_latency_ms: 3.2,
      },
      {
        source_service: "gateway",
        target_service: "checkout",
        request_count: 400,
        error_rate: 0.01,
        avg_latency_ms: 41.7,
      },
    ],
    async handler({ params, query, access, signal }) {
      const { key } = await find(access.workspace, params.name, query.namespaceName, signal);
      return dependenciesOf(key, await readCalls(reader, access.workspace, windowOf(query, now()), signal));
    },
  });

  defineRoute(app, {
    method: "GET",
    path: "/services/:name/operations",
    tag: "Services",
    summary: "List a service's operations",
    description: "Its spans by name and kind, in this order.",
    params: { name: Type.String() },
    query: { ...windowParameters, ...pageParameters(1000, 100) },
    rules: [timeRange("startTime", "endTime")],
    cursorKeys: [textKey, spanKindKey],
    response: pageOf(ServiceOperation),
    errors: [404],
    example: {
      items: [
        {
          name: "POST /checkout",
          span_kind: 2,
          request_count: 400,
          error_count: 4,
          avg_duration_ms: 41.7,
          p99_duration_ms: 380,
        },
      ],
      has_more: false,
      next_cursor: null,
      prev_cursor: null,
    },
    async handler({ params, query, page, access, signal }) {
      const { key } = await find(access.workspace, params.name, query.namespaceName, signal);
      const rows = await readOperations(reader, key, windowOf(query, now()), page, signal);
      return makePage(page, rows, operationKeys);
    },
  });
}

const windowParameters = {
  namespaceName: Type.Optional(
    Type.String({
      description: "Which of the services of this name; by default the first one in the order of the list",
    }),
  ),
  startTime: Type.Optional(timestamp("Inclusive; by default 24 hours before the end")),
  endTime: Type.Optional(timestamp("Exclusive; by default now")),
};

const spanKindKey: CursorKey = (text) => /^(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/.test(text);
