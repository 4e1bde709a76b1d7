import assert from "node:assert/strict";
import { test } from "node:test";
import { openAt } from "../../../test/contract/state/drivers.ts";
import type { DeploymentStatus } from "../../state/schema.ts";
import { moves, statuses } from "./lifecycle.ts";
import { noTelemetry, startDeploymentApi } from "./start-deployments-for-tests.ts";
import type { DeploymentContext, Violation } from "./start-deployments-for-tests.ts";

/** Moving deployments on. */
export function changeSuite(context: () => DeploymentContext): void {
  /** A deployment that has come to `status`. */
  async function inStatus(status: DeploymentStatus): Promise<string> {
    const { api } = context();
    const id = await api.record("moves");
    const way: Record<DeploymentStatus, DeploymentStatus[]> = {
      pending: [],
      in_progress: ["in_progress"],
      success: ["success"],
      failed: ["failed"],
      rolled_back: ["in_progress", "rolled_back"],
      cancelled: ["cancelled"],
    };
    for (const step of way[status]) await api.move(id, { status: step });
    return id;
  }

  test("from each status exactly the moves that are decided are made; the others name them and change nothing", async () => {
    const { api } = context();
    assert.deepEqual(moves, {
      pending: ["in_progress", "success", "failed", "cancelled"],
      in_progress: ["success", "failed", "rolled_back", "cancelled"],
      success: ["rolled_back"],
      failed: ["rolled_back"],
      rolled_back: [],
      cancelled: [],
    });
    for (const from of statuses) {
      for (const to of statuses) {
        const id = await inStatus(from);
        const before = await api.read(id);
        api.clock += 1500;
        const { status, body } = await api.call("PATCH", id, { status: to, replica_count: 3 });
        if (to === from) {
          assert.deepEqual(body, { ...before, replica_count: 3 }, `${from} again`);
        } else if (moves[from].includes(to)) {
          assert.equal(status, 200);
          assert.equal(body["status"], to);
          const final = to !== "in_progress";
          assert.equal(body["end_time"], final ? new Date(api.clock).toISOString() : undefined);
          const took = (api.clock - Date.parse(body["start_time"] as string)) / 1000;
          assert.equal(body["duration_s"], final ? took : undefined);
        } else {
          assert.equal(status, 400, `${from} to ${to}`);
          const [violation] = body["errors"] as Violation[];
          assert.equal(violation!.code, "transition.invalid");
          assert.equal(violation!.field, "status");
          for (const allowed of moves[from]) assert.match(violation!.message, new RegExp(`\\b${allowed}\\b`));
          assert.deepEqual(await api.read(id), before, "nothing was changed");
        }
      }
    }
  });

  test("what is reported of a deployment is kept", async () => {
    const { api } = context();
    const id = await api.record("reports");
    await api.move(id, { replica_count: 3 });
    await api.move(id, { healthy_replicas: 0, status: "in_progress" });
    const failed = await api.move(id, { status: "failed", error_message: "out of memory\n\tat start" });
    assert.deepEqual(
      [failed["status"], failed["replica_count"], failed["healthy_replicas"], failed["error_message"]],
      ["failed", 3, 0, "out of memory\n\tat start"],
    );
    assert.deepEqual(await api.read(id), failed);
    assert.equal((await api.move(id, { status: "failed", error_message: "known" }))["error_message"], "known");
  });

  test("a rollback goes to the version given, else to the previous one", async () => {
    const { api } = context();
    const first = await api.record("back", { service_version: "1.0.0" });
    await api.move(first, { status: "success" });
    const second = await api.record("back", { service_version: "1.1.0" });
    await api.move(second, { status: "success" });
    assert.equal((await api.read(second))["rollback_target"], undefined);
    assert.equal((await api.move(second, { status: "rolled_back" }))["rollback_target"], "1.0.0");
    const third = await api.record("back", { service_version: "1.2.0" });
    await api.move(third, { status: "failed" });
    const rolled = await api.move(third, { status: "rolled_back", rollback_target: "0.9.0" });
    assert.equal(rolled["rollback_target"], "0.9.0");
    const again = await api.record("back", { service_version: "1.2.1" });
    assert.equal((await api.read(again))["previous_version"], "0.9.0");
  });
  test("of moves that race one wins, and the others are told the truth", async () => {
    const { api, state, driver, place } = context();
    // In SQLite's home another process has no business, so there the other node is the same one.
    const second = driver.name === "postgres" ? await openAt(place) : state;
    const other = await startDeploymentApi(second, noTelemetry);
    for (let race = 0; race < 100; race++) {
      const id = await api.record("races");
      const wanted = ["success", "cancelled", "failed", "in_progress"];
      const answers = await Promise.all(
        wanted.map((status, i) => (i % 2 === 0 ? api : other).call("PATCH", id, { status })),
      );
      const finals = answers.slice(0, 3).filter(({ status }) => status === 200);
      assert.equal(finals.length, 1, "one final status was reached");
      for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
        assert.equal(status, 400);
        assert.equal((body["errors"] as Violation[])[0]!.code, "transition.invalid");
      }
      assert.deepEqual(await api.read(id), finals[0]!.body);
    }
    await other.close();
    if (second !== state) await second.close();
  });
}
