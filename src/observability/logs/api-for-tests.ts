import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createLog } from "../../core/log.ts";
import { createApi } from "../http/server.ts";
import { logRoutes } from "./routes.ts";
import { openTables } from "./tables-for-tests.ts";
import type { Tables } from "./tables-for-tests.ts";

/** The routes of logs on a free port of loopback, over empty tables in an engine of their own. */
export interface LogApi {
  readonly tables: Tables;
  /** The parsed answer, of which `status` is asserted. Paths are below /api/v1. */
  get<T>(path: string, status?: number): Promise<T>;
  post<T>(path: string, body: unknown, status?: number): Promise<T>;
  /** What a 400 says: `field code` of each violation. */
  refusal(path: string, body: unknown): Promise<string[]>;
  close(): Promise<void>;
}

export async function openLogApi(now?: () => number): Promise<LogApi> {
  const tables = await openTables();
  const app = createApi({ log: createLog("silent"), version: "0.0.0", access: { mode: "local" } });
  logRoutes(app, tables, now);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;

  async function call<T>(path: string, init: RequestInit, status: number): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, init);
    const text = await answer.text();
    assert.equal(answer.status, status, text);
    return JSON.parse(text) as T;
  }
  function post<T>(path: string, body: unknown, status = 200): Promise<T> {
    const headers = { "content-type": "application/json" };
    return call<T>(path, { method: "POST", headers, body: JSON.stringify(body) }, status);
  }
  return {
    tables,
    get: (path, status = 200) => call(path, {}, status),
    post,
    async refusal(path, body) {
      const { errors } = await post<{ errors: { field: string; code: string }[] }>(path, body, 400);
      return errors.map(({ field, code }) => `${field} ${code}`);
    },
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await tables.close();
    },
  };
}
