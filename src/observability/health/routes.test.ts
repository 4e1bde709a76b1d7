import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoreState } from "../../telemetry/contract.ts";
import { problemIn, startTestApi } from "../http/start-test-api.ts";
import { registerHealth } from "./routes.ts";

const prefixes = ["", "/api/v1"];

test("health tells of every store, whatever there is to tell", async (t) => {
  let components: Record<string, StoreState> = {};
  const { url } = await startTestApi(t, (app) =>
    registerHealth(app, { version: "1.2.3", components: () => components }),
  );
  const cases: [string, Record<string, StoreState>][] = [
    ["healthy", { telemetry: { status: "ready" }, state: { status: "ready" } }],
    ["degraded", { telemetry: { status: "away", detail: "Cannot be reached." }, state: { status: "ready" } }],
    ["unhealthy", { telemetry: { status: "away" }, state: { status: "starting" } }],
  ];
  for (const [status, now] of cases) {
    components = now;
    for (const prefix of prefixes) {
      const response = await fetch(`${url}${prefix}/health`);
      assert.equal(response.status, 200);
      const { uptime_seconds, ...rest } = (await response.json()) as Record<string, unknown>;
      assert.deepEqual(rest, { status, version: "1.2.3", components: now });
      assert.ok(Number.isInteger(uptime_seconds) && (uptime_seconds as number) >= 0);
    }
  }
});

test("a process that answers is alive, and ready while its stores are", async (t) => {
  let telemetry: StoreState = { status: "ready" };
  const { url } = await startTestApi(t, (app) =>
    registerHealth(app, { version: "1.2.3", components: () => ({ telemetry, state: { status: "ready" } }) }),
  );
  for (const prefix of prefixes) {
    telemetry = { status: "ready" };
    const ready = await fetch(`${url}${prefix}/health/ready`);
    assert.equal(ready.status, 200);
    assert.deepEqual(await ready.json(), { status: "ready" });
    for (const status of ["starting", "away"] as const) {
      telemetry = { status, detail: "A migration runs." };
      const response = await fetch(`${url}${prefix}/health/ready`);
      assert.equal(response.status, 503);
      assert.equal(response.headers.get("retry-after"), "1");
      assert.equal(response.headers.get("content-type"), "application/problem+json");
      const problem = (await problemIn(response)) as unknown as Record<string, unknown>;
      assert.equal(problem.error_code, "store.unavailable");
      assert.equal(problem.detail, `Not ready: telemetry is ${status}.`);
      assert.deepEqual(problem.components, { telemetry, state: { status: "ready" } });
      assert.equal((await fetch(`${url}${prefix}/health/live`)).status, 200);
    }
  }
});
