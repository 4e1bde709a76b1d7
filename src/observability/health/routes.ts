import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { StoreState } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { UnavailableProblem } from "../http/problem.ts";

export interface HealthOptions {
  readonly version: string;
  /** Every store by its name, as it is now. */
  readonly components: () => Readonly<Record<string, StoreState>>;
}

const Component = Type.Object({
  status: Type.Enum(["ready", "starting", "away"]),
  detail: Type.Optional(Type.String()),
});
const Components = Type.Record(Type.String(), Component);
const HealthReport = Type.Object(
  {
    status: Type.Enum(["healthy", "degraded", "unhealthy"], {
      description: "healthy: every component is ready; unhealthy: none is; degraded: something between",
    }),
    version: Type.String(),
    uptime_seconds: Type.Integer({ minimum: 0 }),
    components: Components,
  },
  { $id: "HealthReport" },
);

/** GET /health, /health/live and /health/ready, at the root and below /api/v1. */
export function registerHealth(app: FastifyInstance, { version, components }: HealthOptions): void {
  const shared = { method: "GET", alsoUnder: "/", tag: "Health" } as const;

  defineRoute(app, {
    ...shared,
    path: "/health",
    summary: "How the service and its stores are",
    description: "Answers 200 whatever it has to report; `/health/ready` is the one to probe.",
    response: HealthReport,
    example: {
      status: "healthy",
      version,
      uptime_seconds: 86_400,
      components: { telemetry: { status: "ready" }, state: { status: "ready" } },
    },
    handler: () => {
      const now = components();
      const ready = Object.values(now).filter(({ status }) => status === "ready").length;
      const status = ready === Object.keys(now).length ? "healthy" : ready === 0 ? "unhealthy" : "degraded";
      return { status, version, uptime_seconds: Math.floor(process.uptime()), components: now } as const;
    },
  });

  defineRoute(app, {
    ...shared,
    path: "/health/live",
    summary: "Whether the process answers",
    response: Type.Object({ status: Type.Enum(["alive"]) }),
    example: { status: "alive" },
    handler: () => ({ status: "alive" }) as const,
  });

  defineRoute(app, {
    ...shared,
    path: "/health/ready",
    summary: "Whether every store can be used",
    description:
      "503 with `Retry-After` while a store is away or a migration runs; its problem details carry `components` as `/health` has them.",
    response: Type.Object({ status: Type.Enum(["ready"]) }),
    example: { status: "ready" },
    handler: () => {
      const now = components();
      const missing = Object.entries(now).filter(([, { status }]) => status !== "ready");
      if (missing.length === 0) return { status: "ready" } as const;
      const sentence = `Not ready: ${missing.map(([name, { status }]) => `${name} is ${status}`).join(", ")}.`;
      throw new UnavailableProblem("store.unavailable", sentence, 1, { members: { components: now } });
    },
  });
}
