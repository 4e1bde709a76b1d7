import assert from "node:assert/strict";
import { createLog } from "../../core/log.ts";
import type { Place, TestDriver } from "../../../test/contract/state/drivers.ts";
import type { StateStore } from "../../state/store.ts";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { createApi } from "../http/server.ts";
import { deploymentRoutes } from "./routes.ts";

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** What the suites run on. */
export interface DeploymentContext {
  readonly driver: TestDriver;
  readonly place: Place;
  readonly state: StateStore;
  /** Sees no telemetry. */
  readonly api: DeploymentApi;
}

export interface Violation {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

export const noTelemetry: TelemetryReader = { rows: async () => [], bytes: async () => Buffer.alloc(0) };

/** The versions of a list's items. */
export function versionsOf(body: Answer["body"]): unknown[] {
  return (body["items"] as Record<string, unknown>[]).map((item) => item["service.version"]);
}

/** `field code` of each violation, sorted. */
export function violationsOf(body: Answer["body"]): string[] {
  return (body["errors"] as Violation[]).map(({ field, code }) => `${field} ${code}`).toSorted();
}

/** The routes on a clock of the test's own. */
export interface DeploymentApi {
  /** Unix milliseconds. */
  clock: number;
  call(method: "GET" | "POST" | "PATCH", path: string, body?: unknown): Promise<Answer>;
  /** Records a deployment of `service`; resolves to its id. */
  record(service: string, fields?: Readonly<Record<string, string>>): Promise<string>;
  /** PATCHes; must succeed. */
  move(id: string, change: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  /** Reads; must succeed. */
  read(id: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function startDeploymentApi(state: StateStore, reader: TelemetryReader): Promise<DeploymentApi> {
  const app = createApi({ log: createLog("silent"), version: "0.0.0", access: { mode: "local" } });
  const api: DeploymentApi = {
    clock: Date.UTC(2026, 10, 20, 10, 30),
    async call(method, path, body) {
      const below = path === "" || path.startsWith("?") ? path : `/${path}`;
      const answer = await fetch(origin + (path.startsWith("/") ? path : `/api/v1/deployments${below}`), {
        method,
        ...(body !== undefined && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    async record(service, fields = {}) {
      const request = {
        service_name: service,
        service_version: "1.0.0",
        environment: "production",
        strategy: "rolling",
        ...fields,
      };
      const { status, body } = await api.call("POST", "", request);
      assert.equal(status, 200, JSON.stringify(body));
      return body["deployment.id"] as string;
    },
    async move(id, change) {
      const { status, body } = await api.call("PATCH", id, change);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
    async read(id) {
      const { status, body } = await api.call("GET", id);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
    async close() {
      app.server.closeAllConnections();
      await app.close();
    },
  };
  deploymentRoutes(app, { state, reader, now: () => api.clock });
  const origin = await app.listen({ host: "127.0.0.1", port: 0 });
  return api;
}
