import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { makePage, textKey } from "../http/paging.ts";
import { nullable, pageOf, pageParameters, timestamp } from "../http/schemas.ts";
import { readServices } from "./read.ts";

const Service = Type.Object(
  {
    name: Type.String(),
    namespace_name: nullable(Type.String()),
    version: Type.Optional(Type.String({ description: "The version last seen" })),
    instance_count: Type.Integer({ minimum: 0, description: "Distinct instances of the last 24 hours" }),
    last_seen: timestamp(),
  },
  { $id: "Service" },
);

/** Adds `GET /api/v1/services`. */
export function serviceRoutes(app: FastifyInstance, reader: TelemetryReader, now: () => number = Date.now): void {
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
    example: {
      items: [
        {
          name: "checkout",
          namespace_name: "shop",
          version: "2.4.1",
          instance_count: 3,
          last_seen: "2026-11-20T10:00:00.000Z",
        },
      ],
      has_more: false,
      next_cursor: null,
      prev_cursor: null,
    },
    async handler({ query, page, access, signal }) {
      const rows = await readServices(reader, access.workspace, query.namespaceName, page, now(), signal);
      return makePage(page, rows, (service) => [service.namespace_name ?? "", service.name]);
    },
  });
}
