import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openAt, postgresDriver, sqliteDriver } from "../../../test/contract/state/drivers.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { DeploymentStatus } from "../../state/schema.ts";
import { changeSuite } from "./change-suite-for-tests.ts";
import { doraSuite } from "./dora-suite-for-tests.ts";
import { listSuite } from "./list-suite-for-tests.ts";
import { versionsOf, noTelemetry, startDeploymentApi, violationsOf } from "./start-deployments-for-tests.ts";
import type { DeploymentContext } from "./start-deployments-for-tests.ts";

for (const [name, make] of [
  ["SQLite", sqliteDriver],
  ["PostgreSQL", postgresDriver],
] as const) {
  describe(`deployments in ${name}`, () => {
    let context: DeploymentContext;
    before(async () => {
      const driver = await make();
      const place = await driver.fresh();
      const state = await openAt(place);
      context = { driver, place, state, api: await startDeploymentApi(state, noTelemetry) };
    });
    after(async () => {
      await context.api.close();
      await context.state.close();
      await context.driver.close();
    });
    describe("moves", () => changeSuite(() => context));
    describe("lists", () => listSuite(() => context));
    describe("DORA's figures", () => doraSuite(() => context));

    test("a deployment is recorded with everything that was said of it, under both prefixes", async () => {
      const { api } = context;
      for (const path of ["/api/v1/deployments", "/v1/deployments"]) {
        const request = {
          service_name: "shop ünïcode",
          service_version: "2.5.0-rc.1+build.007",
          environment: "canary",
          strategy: "ab_test",
          deployed_by: "ci",
          git_commit: "9fceb02",
          git_branch: "feature/x",
        };
        const { status, body } = await api.call("POST", path, request);
        assert.equal(status, 200, JSON.stringify(body));
        const { "deployment.id": id, previous_version: _, ...rest } = body;
        assert.deepEqual(rest, {
          "service.name": "shop ünïcode",
          "service.version": "2.5.0-rc.1+build.007",
          environment: "canary",
          status: "pending",
          strategy: "ab_test",
          start_time: new Date(api.clock).toISOString(),
          deployed_by: "ci",
          git_commit: "9fceb02",
          git_branch: "feature/x",
        });
        assert.deepEqual(await api.read(id as string), body);
      }
    });

    test("every environment and every strategy of the API is taken", async () => {
      const { api } = context;
      for (const environment of ["development", "testing", "staging", "production", "preview", "canary"])
        await api.record("everywhere", { environment });
      for (const strategy of ["rolling", "blue_green", "canary", "recreate", "ab_test", "shadow", "feature_flag"])
        await api.record("anyhow", { strategy });
    });

    test("everything that is wrong with a request is said at once", async () => {
      const { api } = context;
      const { status, body } = await api.call("POST", "", {
        service_version: "v1.0",
        environment: "prod",
        strategy: 7,
        deployed_by: "nul\u0000",
        git_commit: "x".repeat(256),
        "service.name": "x",
      });
      assert.equal(status, 400);
      assert.deepEqual(violationsOf(body), [
        "deployed_by pattern",
        "environment enum",
        "git_commit max_length",
        "service.name unknown_field",
        "service_name required",
        "service_version pattern",
        "strategy enum",
      ]);
      assert.equal((await api.call("POST", "")).status, 400);
      const query = await api.call("GET", "?status=done&environment=prod&limit=1001&service=x&cursor=%21");
      assert.deepEqual(violationsOf(query.body), [
        "cursor cursor.invalid",
        "environment enum",
        "limit maximum",
        "service unknown_parameter",
        "status enum",
      ]);
      const times = await api.call("GET", "?startTime=2026-01-02T00:00:00Z&endTime=2026-01-02T00:00:00Z");
      assert.deepEqual(violationsOf(times.body), ["startTime time_range.invalid"]);
      assert.equal((await api.call("GET", "?serviceName=nul%00")).status, 400);
    });

    test("a deployment that there is not is 404, after what is wrong with the request", async () => {
      const { api } = context;
      const unknown = "01939f5e-8a00-7cc3-9d6e-2f1b7a4c5e60";
      for (const id of [unknown, "x", "nul%00"]) {
        for (const method of ["GET", "PATCH"] as const) {
          const { status, body } = await api.call(method, id, method === "PATCH" ? { status: "success" } : undefined);
          assert.equal(status, 404);
          assert.equal(body["resource_type"], "deployment");
          assert.equal(body["resource_id"], decodeURIComponent(id));
        }
      }
      const wrong = await api.call("PATCH", unknown, { status: "done", replicas: 1 });
      assert.deepEqual(violationsOf(wrong.body), ["replicas unknown_field", "status enum"]);
      const empty = await api.call("PATCH", unknown, {});
      assert.deepEqual(violationsOf(empty.body), ["body min_properties"]);
      assert.equal((await api.call("PATCH", unknown)).status, 400);
      const numbers = await api.call("PATCH", unknown, { replica_count: -1, healthy_replicas: 2 ** 31, status: null });
      assert.deepEqual(violationsOf(numbers.body), [
        "healthy_replicas maximum",
        "replica_count minimum",
        "status enum",
      ]);
    });

    test("the previous version is what the newest deployment there left", async () => {
      const { api } = context;
      const versions: unknown[] = [];
      const next = async (version: string, status?: DeploymentStatus) => {
        api.clock++;
        const id = await api.record("chain", { service_version: version });
        versions.push((await api.read(id))["previous_version"]);
        if (status) await api.move(id, { status });
      };
      await next("1.0.0", "success");
      await api.record("chain", { service_version: "7.0.0", environment: "staging" });
      await api.record("other chain", { service_version: "8.0.0" });
      await next("1.1.0", "failed");
      await next("1.2.0", "cancelled");
      await next("1.3.0+b");
      await next("1.4.0", "in_progress");
      await next("1.4.0");
      assert.deepEqual(versions, [undefined, "1.0.0", "1.0.0", "1.0.0", "1.3.0+b", "1.4.0"]);
    });

    test("a deployment of another workspace is not there", async () => {
      const { api, state } = context;
      const id = await api.record("strangers");
      const row = await state.db.selectFrom("deployments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
      const strange = "01939f5e-8a00-7cc3-9d6e-2f1b7a4c5e61";
      await state.db
        .insertInto("deployments")
        .values({ ...row, id: strange, workspace: "other", service_version: "6.6.6", start_time: api.clock + 1 })
        .execute();
      assert.equal((await api.call("GET", strange)).status, 404);
      assert.equal((await api.call("PATCH", strange, { status: "failed" })).status, 404);
      assert.deepEqual(versionsOf((await api.call("GET", "?serviceName=strangers")).body), ["1.0.0"]);
      assert.equal((await api.read(await api.record("strangers")))["previous_version"], "1.0.0");
    });

    test("telemetry that is away keeps nobody from recording, reading and moving", async () => {
      const { state } = context;
      const away = () => Promise.reject(new StoreUnavailable("The engine is starting."));
      const blind = await startDeploymentApi(state, { rows: away, bytes: away });
      const id = await blind.record("blind");
      assert.equal((await blind.read(id))["previous_version"], undefined);
      assert.equal((await blind.call("GET", "?serviceName=blind")).status, 200);
      assert.equal((await blind.move(id, { status: "success" }))["status"], "success");
      await blind.close();
    });
  });
}
