import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeploymentStatus } from "../../state/schema.ts";
import type { DeploymentContext } from "./start-deployments-for-tests.ts";

/** DORA's figures. */
export function doraSuite(context: () => DeploymentContext): void {
  const hour = 3_600_000;
  const day = 24 * hour;
  const dora = async (query: string) => {
    const { status, body } = await context().api.call("GET", `metrics/dora?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  /** Records a deployment at `start` that comes to `status` after `tookMs`. */
  async function deploy(
    service: string,
    start: number,
    status: DeploymentStatus,
    tookMs: number,
    environment = "production",
  ) {
    const { api } = context();
    api.clock = start;
    const id = await api.record(service, { environment });
    api.clock = start + tookMs;
    await api.move(id, { status: "in_progress" });
    await api.move(id, { status });
  }

  test("are those of the deployments that started in the window", async () => {
    const { api } = context();
    const end = Date.UTC(2026, 10, 30);
    const at = (days: number) => end - days * day;
    await deploy("dora", at(31), "failed", hour);
    await deploy("dora", at(30), "success", hour);
    await deploy("dora", at(20), "success", 2 * hour);
    await deploy("dora", at(10), "failed", hour);
    await deploy("dora", at(9), "rolled_back", hour);
    await deploy("dora", at(8), "cancelled", hour);
    await deploy("dora", at(7), "success", 9 * hour);
    await deploy("dora", at(6), "failed", hour, "staging");
    await deploy("other", at(5), "success", hour);
    await deploy("dora", at(1), "failed", hour);
    api.clock = at(0.5);
    await api.record("dora");
    api.clock = end;
    assert.deepEqual(await dora("serviceName=dora&environment=production"), {
      deployment_frequency: 3 / 30,
      lead_time_hours: 2,
      change_failure_rate: 0.5,
      mttr_hours: (3 * 24 + 8 + (2 * 24 + 8)) / 2,
      performance_level: "low",
    });
    assert.equal((await dora("serviceName=dora"))["change_failure_rate"], 4 / 7);
    // The failure's recovery comes after this window's end.
    const window = `startTime=${new Date(at(15)).toISOString()}&endTime=${new Date(at(8.5)).toISOString()}`;
    assert.deepEqual(await dora(`serviceName=dora&environment=production&${window}`), {
      deployment_frequency: 0,
      lead_time_hours: null,
      change_failure_rate: 1,
      mttr_hours: (3 * 24 + 8 + (2 * 24 + 8)) / 2,
      performance_level: "low",
    });
    const even = await dora(`serviceName=dora&endTime=${new Date(at(15)).toISOString()}`);
    assert.equal(even["lead_time_hours"], 1.5, "the median of two is between them");
    assert.equal(even["deployment_frequency"], 2 / 30, "the 30 days before the end");
  });

  test("are null where there is nothing to measure, and count what was just recorded", async () => {
    const { api } = context();
    assert.deepEqual(await dora("serviceName=nothing"), {
      deployment_frequency: 0,
      lead_time_hours: null,
      change_failure_rate: null,
      mttr_hours: null,
      performance_level: "low",
    });
    await deploy("just now", api.clock, "failed", 0);
    await deploy("just now", api.clock, "success", 0);
    const figures = await dora("serviceName=just+now");
    assert.deepEqual([figures["change_failure_rate"], figures["mttr_hours"]], [0.5, 0]);
    assert.equal((await dora("serviceName=just+now&startTime=2999-01-01T00:00:00Z"))["deployment_frequency"], 0);
  });
}
