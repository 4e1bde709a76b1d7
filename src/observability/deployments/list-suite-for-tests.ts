import assert from "node:assert/strict";
import { test } from "node:test";
import { versionsOf, violationsOf } from "./start-deployments-for-tests.ts";
import type { DeploymentContext } from "./start-deployments-for-tests.ts";

/** Lists of deployments. */
export function listSuite(context: () => DeploymentContext): void {
  test("lists are newest first, in pages that hold each once, forwards and backwards", async () => {
    const { api } = context();
    const recorded: string[] = [];
    for (let i = 0; i < 7; i++) {
      // Several start in one millisecond.
      if (i % 3 === 0) api.clock++;
      recorded.unshift(await api.record("pages", { service_version: `1.0.${i}` }));
    }
    const ids = (body: Record<string, unknown>) =>
      (body["items"] as Record<string, unknown>[]).map((item) => item["deployment.id"]);
    for (const limit of [1, 2, 3, 7, 8]) {
      const path = `?serviceName=pages&limit=${limit}`;
      let { body } = await api.call("GET", path);
      assert.equal(body["prev_cursor"], null);
      const forwards = ids(body);
      while (body["next_cursor"] !== null) {
        assert.equal(body["has_more"], true);
        ({ body } = await api.call("GET", `${path}&cursor=${String(body["next_cursor"])}`));
        forwards.push(...ids(body));
      }
      assert.equal(body["has_more"], false);
      assert.deepEqual(forwards, recorded);
      const backwards = ids(body);
      while (body["prev_cursor"] !== null) {
        ({ body } = await api.call("GET", `${path}&cursor=${String(body["prev_cursor"])}`));
        backwards.unshift(...ids(body));
      }
      assert.deepEqual(backwards, recorded);
    }
    const { body } = await api.call("GET", "?serviceName=pages&limit=2");
    const elsewhere = await api.call("GET", `?serviceName=page&cursor=${String(body["next_cursor"])}`);
    assert.deepEqual(violationsOf(elsewhere.body), ["cursor cursor.invalid"]);
  });

  test("one that is recorded while someone pages is neither shown nor does it move the others", async () => {
    const { api } = context();
    for (const version of ["1.0.0", "1.0.1", "1.0.2"]) {
      api.clock++;
      await api.record("moving", { service_version: version });
    }
    const { body } = await api.call("GET", "?serviceName=moving&limit=2");
    api.clock++;
    await api.record("moving", { service_version: "1.0.3" });
    const next = await api.call("GET", `?serviceName=moving&limit=2&cursor=${String(body["next_cursor"])}`);
    assert.deepEqual([...versionsOf(body), ...versionsOf(next.body)], ["1.0.2", "1.0.1", "1.0.0"]);
  });

  test("filters select by service, environment, status and start, to the exact bound", async () => {
    const { api } = context();
    const start = api.clock;
    for (const [version, environment, status] of [
      ["1.0.0", "staging", "success"],
      ["1.0.1", "production", "failed"],
      ["1.0.2", "production", undefined],
    ] as const) {
      const id = await api.record("filters", { service_version: version, environment });
      if (status) await api.move(id, { status });
      api.clock += 10;
    }
    const list = async (more: string) => versionsOf((await api.call("GET", `?serviceName=filters${more}`)).body);
    const at = (ms: number) => new Date(start + ms).toISOString();
    assert.deepEqual(await list(""), ["1.0.2", "1.0.1", "1.0.0"]);
    assert.deepEqual(await list("&environment=production"), ["1.0.2", "1.0.1"]);
    assert.deepEqual(await list("&environment=production&status=pending"), ["1.0.2"]);
    assert.deepEqual(await list("&status=cancelled"), []);
    assert.deepEqual(await list(`&startTime=${at(10)}`), ["1.0.2", "1.0.1"]);
    assert.deepEqual(await list(`&startTime=${at(10).replace("Z", "000001Z")}`), ["1.0.2"]);
    assert.deepEqual(await list(`&endTime=${at(10)}`), ["1.0.0"]);
    assert.deepEqual(await list(`&endTime=${at(10).replace("Z", "000001Z")}`), ["1.0.1", "1.0.0"]);
    assert.deepEqual(await list("&endTime=1950-01-01T00:00:00.0000001Z"), []);
    assert.deepEqual(
      await list("&startTime=0001-01-01T00:00:00Z&endTime=9999-01-01T00:00:00Z").then((all) => all.length),
      3,
    );
  });
}
