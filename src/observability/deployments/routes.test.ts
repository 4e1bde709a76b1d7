import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openAt, postgresDriver, sqliteDriver } from "../../../test/contract/state/drivers.ts";
import type { Place, TestDriver } from "../../../test/contract/state/drivers.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { DeploymentStatus } from "../../state/schema.ts";
import type { StateStore } from "../../state/store.ts";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { moves, statuses } from "./lifecycle.ts";
import { deploymentApi } from "./start-deployments-for-tests.ts";
import type { DeploymentApi } from "./start-deployments-for-tests.ts";

interface Violation {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

const noTelemetry: TelemetryReader = { rows: async () => [], bytes: async () => Buffer.alloc(0) };

for (const [name, make] of [
  ["SQLite", sqliteDriver],
  ["PostgreSQL", postgresDriver],
] as const) {
  describe(`deployments in ${name}`, () => {
    let driver: TestDriver;
    let place: Place;
    let state: StateStore;
    let api: DeploymentApi;
    before(async () => {
      driver = await make();
      place = await driver.fresh();
      state = await openAt(place);
      api = deploymentApi(state, noTelemetry);
      await api.app.ready();
    });
    after(async () => {
      await api.app.close();
      await state.close();
      await driver.close();
    });

    const names = (body: Record<string, unknown>) =>
      (body["items"] as Record<string, unknown>[]).map((item) => item["service.version"]);
    const violations = (body: Record<string, unknown>) =>
      (body["errors"] as Violation[]).map(({ field, code }) => `${field} ${code}`).toSorted();

    test("a deployment is recorded with everything that was said of it, under both prefixes", async () => {
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
      for (const environment of ["development", "testing", "staging", "production", "preview", "canary"])
        await api.record("everywhere", { environment });
      for (const strategy of ["rolling", "blue_green", "canary", "recreate", "ab_test", "shadow", "feature_flag"])
        await api.record("anyhow", { strategy });
    });

    test("everything that is wrong with a request is said at once", async () => {
      const { status, body } = await api.call("POST", "", {
        service_version: "v1.0",
        environment: "prod",
        strategy: 7,
        deployed_by: "nul\u0000",
        git_commit: "x".repeat(256),
        "service.name": "x",
      });
      assert.equal(status, 400);
      assert.deepEqual(violations(body), [
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
      assert.deepEqual(violations(query.body), [
        "cursor cursor.invalid",
        "environment enum",
        "limit maximum",
        "service unknown_parameter",
        "status enum",
      ]);
      const times = await api.call("GET", "?startTime=2026-01-02T00:00:00Z&endTime=2026-01-02T00:00:00Z");
      assert.deepEqual(violations(times.body), ["startTime time_range.invalid"]);
      assert.equal((await api.call("GET", "?serviceName=nul%00")).status, 400);
    });

    test("a deployment that there is not is 404, after what is wrong with the request", async () => {
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
      assert.deepEqual(violations(wrong.body), ["replicas unknown_field", "status enum"]);
      const empty = await api.call("PATCH", unknown, {});
      assert.deepEqual(violations(empty.body), ["body min_properties"]);
      assert.equal((await api.call("PATCH", unknown)).status, 400);
      const numbers = await api.call("PATCH", unknown, { replica_count: -1, healthy_replicas: 2 ** 31, status: null });
      assert.deepEqual(violations(numbers.body), ["healthy_replicas maximum", "replica_count minimum", "status enum"]);
    });

    /** A deployment that has come to `status`. */
    async function inStatus(status: DeploymentStatus): Promise<string> {
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

    test("the previous version is what the newest deployment there left", async () => {
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

    test("lists are newest first, in pages that hold each once, forwards and backwards", async () => {
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
      assert.deepEqual(violations(elsewhere.body), ["cursor cursor.invalid"]);
    });

    test("one that is recorded while someone pages is neither shown nor does it move the others", async () => {
      for (const version of ["1.0.0", "1.0.1", "1.0.2"]) {
        api.clock++;
        await api.record("moving", { service_version: version });
      }
      const { body } = await api.call("GET", "?serviceName=moving&limit=2");
      api.clock++;
      await api.record("moving", { service_version: "1.0.3" });
      const next = await api.call("GET", `?serviceName=moving&limit=2&cursor=${String(body["next_cursor"])}`);
      assert.deepEqual([...names(body), ...names(next.body)], ["1.0.2", "1.0.1", "1.0.0"]);
    });

    test("filters select by service, environment, status and start, to the exact bound", async () => {
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
      const list = async (more: string) => names((await api.call("GET", `?serviceName=filters${more}`)).body);
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

    test("of moves that race one wins, and the others are told the truth", async () => {
      // In SQLite's home another process has no business, so there the other node is the same one.
      const second = driver.name === "postgres" ? await openAt(place) : state;
      const other = deploymentApi(second, noTelemetry);
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
      await other.app.close();
      if (second !== state) await second.close();
    });

    test("a deployment of another workspace is not there", async () => {
      const id = await api.record("strangers");
      const row = await state.db.selectFrom("deployments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
      const strange = "01939f5e-8a00-7cc3-9d6e-2f1b7a4c5e61";
      await state.db
        .insertInto("deployments")
        .values({ ...row, id: strange, workspace: "other", service_version: "6.6.6", start_time: api.clock + 1 })
        .execute();
      assert.equal((await api.call("GET", strange)).status, 404);
      assert.equal((await api.call("PATCH", strange, { status: "failed" })).status, 404);
      assert.deepEqual(names((await api.call("GET", "?serviceName=strangers")).body), ["1.0.0"]);
      assert.equal((await api.read(await api.record("strangers")))["previous_version"], "1.0.0");
    });

    test("telemetry that is away keeps nobody from recording, reading and moving", async () => {
      const away = () => Promise.reject(new StoreUnavailable("The engine is starting."));
      const blind = deploymentApi(state, { rows: away, bytes: away });
      const id = await blind.record("blind");
      assert.equal((await blind.read(id))["previous_version"], undefined);
      assert.equal((await blind.call("GET", "?serviceName=blind")).status, 200);
      assert.equal((await blind.move(id, { status: "success" }))["status"], "success");
      await blind.app.close();
    });

    describe("DORA's figures", () => {
      const hour = 3_600_000;
      const day = 24 * hour;
      const dora = async (query: string) => {
        const { status, body } = await api.call("GET", `metrics/dora?${query}`);
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
        api.clock = start;
        const id = await api.record(service, { environment });
        api.clock = start + tookMs;
        await api.move(id, { status: "in_progress" });
        await api.move(id, { status });
      }

      test("are those of the deployments that started in the window", async () => {
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
    });
  });
}
