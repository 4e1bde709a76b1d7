import assert from "node:assert/strict";
import type { FastifyInstance, InjectOptions } from "fastify";
import { createLog } from "../../core/log.ts";
import type { StateStore } from "../../state/store.ts";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { createApi } from "../http/server.ts";
import { deploymentRoutes } from "./routes.ts";

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** The routes on a clock of the test's own. */
export interface DeploymentApi {
  readonly app: FastifyInstance;
  /** Unix milliseconds. */
  clock: number;
  call(method: "GET" | "POST" | "PATCH", path: string, body?: InjectOptions["payload"]): Promise<Answer>;
  /** Records a deployment of `service`; resolves to its id. */
  record(service: string, fields?: Readonly<Record<string, string>>): Promise<string>;
  /** PATCHes; must succeed. */
  move(id: string, change: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  /** Reads; must succeed. */
  read(id: string): Promise<Record<string, unknown>>;
}

export function deploymentApi(state: StateStore, reader: TelemetryReader): DeploymentApi {
  const app = createApi({ log: createLog("silent"), version: "0.0.0", access: { mode: "local" } });
  const api: DeploymentApi = {
    app,
    clock: Date.UTC(2026, 10, 20, 10, 30),
    async call(method, path, payload) {
      const url = path.startsWith("/") ? path : `/api/v1/deployments${path === "" ? "" : `/${path}`}`;
      const answer = await app.inject({
        method,
        url: url.replace("deployments/?", "deployments?"),
        headers: { host: "localhost", ...(payload !== undefined && { "content-type": "application/json" }) },
        payload,
      });
      return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
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
  };
  deploymentRoutes(app, { state, reader, now: () => api.clock });
  return api;
}
