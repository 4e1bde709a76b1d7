// A deployment's life, as a pipeline and the deployed service's own telemetry make it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startVigil } from "../start-vigil.ts";

type Fields = Readonly<Record<string, unknown>>;

async function call(url: string, method = "GET", body?: Fields): Promise<Fields> {
  const init = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(url, { method, ...init });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as Fields;
}

/** Sends a span of each instance, begun now. */
async function send(url: string, version: string, environment: string, instances: readonly string[]): Promise<void> {
  const resourceSpans = instances.map((instance, i) => {
    const attributes = Object.entries({
      "service.name": "tills",
      "service.version": version,
      "service.instance.id": instance,
      "deployment.environment.name": environment,
    }).map(([key, stringValue]) => ({ key, value: { stringValue } }));
    const time = `${Date.now()}000000`;
    const ids = { traceId: "5b8efff798038103d269b633813fc60c", spanId: `eee19b7ec3c1b17${i}` };
    const span = { ...ids, name: "ring", startTimeUnixNano: time, endTimeUnixNano: time };
    return { resource: { attributes }, scopeSpans: [{ spans: [span] }] };
  });
  await call(`${url}/v1/traces`, "POST", { resourceSpans });
}

test("a deployment is recorded, seen in telemetry, ended, counted, and still there after a restart", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "vigil-deployments-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const request = { service_name: "tills", environment: "production", strategy: "blue_green" };

  const first = await startVigil({ data });
  t.after(() => first.stop());
  const deployments = `${first.url}/api/v1/deployments`;
  await send(first.url, "1.9.0", "production", ["old"]);
  const begun = await call(`${first.url}/v1/deployments`, "POST", { ...request, service_version: "1.10.0+b.7" });
  assert.equal(begun["status"], "pending");
  assert.equal(begun["previous_version"], "1.9.0");
  const one = `${deployments}/${String(begun["deployment.id"])}`;
  await send(first.url, "1.10.0+b.7", "staging", ["elsewhere"]);
  assert.deepEqual(await call(one), begun);

  await send(first.url, "1.10.0+b.7", "production", ["a", "b"]);
  const { status, healthy_replicas } = await call(one);
  assert.deepEqual({ status, healthy_replicas }, { status: "in_progress", healthy_replicas: 2 });
  const ended = await call(one, "PATCH", { status: "success", replica_count: 2 });
  const took = Date.parse(ended["end_time"] as string) - Date.parse(begun["start_time"] as string);
  assert.equal(ended["duration_s"], took / 1000);
  const next = await call(deployments, "POST", { ...request, service_version: "1.11.0" });
  assert.equal(next["previous_version"], "1.10.0+b.7");
  assert.equal(await first.stop(), 0);

  const second = await startVigil({ data });
  t.after(() => second.stop());
  const list = await call(`${second.url}/api/v1/deployments?serviceName=tills&environment=production`);
  assert.deepEqual(list, { items: [next, ended], has_more: false, next_cursor: null, prev_cursor: null });
  const refused = await fetch(`${second.url}/api/v1/deployments/${String(begun["deployment.id"])}`, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ status: "in_progress" }),
  });
  assert.equal(refused.status, 400);
  const { errors } = (await refused.json()) as { errors: { code: string }[] };
  assert.deepEqual(
    errors.map(({ code }) => code),
    ["transition.invalid"],
  );
  const dora = await call(`${second.url}/api/v1/deployments/metrics/dora?serviceName=tills`);
  assert.deepEqual(dora, {
    deployment_frequency: 1 / 30,
    lead_time_hours: took / 3_600_000,
    change_failure_rate: 0,
    mttr_hours: null,
    performance_level: "medium",
  });
});
