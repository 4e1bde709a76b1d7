// The routes of deployments, on each of the databases that may keep them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startPostgres } from "../../contract/state/postgres.ts";
import type { TestPostgres } from "../../contract/state/postgres.ts";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient, problemOf, violationsOf, walk } from "./client.ts";
import type { Client, Page, Query } from "./client.ts";
import { assertFields, orNull } from "./fields.ts";
import type { FieldTable } from "./fields.ts";
import { nowNano, randomId, sendSpans } from "./send-otlp.ts";

type Deployment = Readonly<Record<string, unknown>>;

const environments = ["development", "testing", "staging", "production", "preview", "canary"];
const strategies = ["rolling", "blue_green", "canary", "recreate", "ab_test", "shadow", "feature_flag"];
const statuses = ["pending", "in_progress", "success", "failed", "rolled_back", "cancelled"];
const path = "/api/v1/deployments";

const deploymentFields: FieldTable = {
  "deployment.id": "string",
  "service.name": "string",
  "service.version": "semver",
  environment: environments,
  status: statuses,
  strategy: strategies,
  start_time: "date-time",
  "end_time?": "date-time",
  "duration_s?": "number",
  "deployed_by?": "string",
  "git_commit?": "string",
  "git_branch?": "string",
  "previous_version?": "semver",
  "rollback_target?": "string",
  "replica_count?": "count",
  "healthy_replicas?": "count",
  "error_message?": "string",
};

for (const driver of ["sqlite", "postgres"]) {
  describe(`deployments on ${driver}`, () => {
    let postgres: TestPostgres | undefined;
    let vigil: RunningVigil;
    let client: Client;

    before(async () => {
      if (driver === "postgres") postgres = await startPostgres();
      const env = postgres && { VIGIL_POSTGRES_URL: await postgres.createDatabase() };
      vigil = await startVigil({ env });
      client = createClient(vigil.url);
    });
    after(async () => {
      await vigil?.stop();
      await postgres?.stop();
    });

    const request = {
      service_name: "checkout",
      service_version: "1.0.0",
      environment: "production",
      strategy: "rolling",
    };
    const create = (fields: object = {}) =>
      client.ask<Deployment>("POST", "/v1/deployments", { body: { ...request, ...fields } });
    const patch = (id: unknown, body: object) => client.ask<Deployment>("PATCH", `${path}/${String(id)}`, { body });
    const list = (query: Query) => client.read<Page<Deployment>>(path, query);
    const idOf = (deployment: Deployment) => deployment["deployment.id"];

    test("it is created pending, beginning now, with the fields of the request, and read back the same", async () => {
      const fields = { deployed_by: "ci 😀", git_commit: "9fceb02", git_branch: "main" };
      const made = await create({ service_name: "created", service_version: "1.2.3-rc.1+build.5", ...fields });
      assertFields(made, deploymentFields);
      const { "deployment.id": id, start_time: start, ...rest } = made;
      assert.deepEqual(rest, {
        "service.name": "created",
        "service.version": "1.2.3-rc.1+build.5",
        environment: "production",
        status: "pending",
        strategy: "rolling",
        ...fields,
      });
      assert.ok(Math.abs(Date.parse(String(start)) - Date.now()) < 30_000);
      assert.deepEqual(await client.read(`${path}/${String(id)}`), made);
    });

    test("every environment and strategy is taken, all others refused; required fields are required", async () => {
      for (const environment of environments)
        assert.equal((await create({ service_name: "e", environment }))["environment"], environment);
      for (const strategy of strategies)
        assert.equal((await create({ service_name: "e", strategy }))["strategy"], strategy);
      const refused = (body: object) => client.refusals("POST", path, { body });
      assert.deepEqual(await refused({}), [
        "required environment",
        "required service_name",
        "required service_version",
        "required strategy",
      ]);
      assert.deepEqual(await refused({ ...request, environment: "Production", strategy: "canary " }), [
        "enum environment",
        "enum strategy",
      ]);
      assert.deepEqual(await refused({ ...request, status: "success" }), ["unknown_field status"]);
      assert.deepEqual(await refused({ ...request, git_branch: null, deployed_by: {} }), [
        "type deployed_by",
        "type git_branch",
      ]);
      assert.deepEqual(await refused({ ...request, service_name: "a\u0000b" }), ["pattern service_name"]);
    });

    test("service_version is a semantic version", async () => {
      for (const version of [
        "0.0.0",
        "10.20.30",
        "1.0.0-alpha.1",
        "1.0.0+20130313144700",
        "1.0.0-0A.is.legal",
        "1.0.0--",
      ]) {
        assert.equal((await create({ service_name: "v", service_version: version }))["service.version"], version);
      }
      for (const version of [
        "1",
        "1.0",
        "v1.0.0",
        "01.0.0",
        "1.0.0-",
        "1.0.0-01",
        "1.0.0+",
        "1.0.0 ",
        "1.0.0\n",
        "",
        "latest",
      ]) {
        const found = await client.refusals("POST", path, { body: { ...request, service_version: version } });
        assert.deepEqual(found, ["pattern service_version"], JSON.stringify(version));
      }
    });

    test("each move that the lifecycle allows succeeds, each other one is transition.invalid and names those allowed", async () => {
      const moves: Readonly<Record<string, readonly string[]>> = {
        pending: ["in_progress", "success", "failed", "cancelled"],
        in_progress: ["success", "failed", "rolled_back", "cancelled"],
        success: ["rolled_back"],
        failed: ["rolled_back"],
        rolled_back: [],
        cancelled: [],
      };
      for (const from of statuses) {
        for (const to of statuses) {
          const made = await create({ service_name: `moves ${from} ${to}` });
          const id = idOf(made);
          await patch(id, { rollback_target: "0.9.0" });
          if (from === "rolled_back") await patch(id, { status: "failed" });
          const stood = await patch(id, { status: from });
          if (to === from || moves[from]!.includes(to)) {
            const moved = await patch(id, { status: to });
            assertFields(moved, deploymentFields);
            assert.equal(moved["status"], to);
            if (to === "rolled_back") assert.equal(moved["rollback_target"], "0.9.0");
            if (to === from) assert.deepEqual(moved, stood);
            const isFinal = !["pending", "in_progress"].includes(to);
            assert.deepEqual(["end_time" in moved, "duration_s" in moved], [isFinal, isFinal], `${from} to ${to}`);
            if (isFinal) {
              const took = Date.parse(String(moved["end_time"])) - Date.parse(String(moved["start_time"]));
              assert.equal(moved["duration_s"], took / 1000);
              assert.ok(took >= 0);
            }
          } else {
            const [found] = violationsOf(
              await client.send("PATCH", `${path}/${String(id)}`, { body: { status: to, replica_count: 1 } }),
            );
            assert.deepEqual([found!.code, found!.field], ["transition.invalid", "status"], `${from} to ${to}`);
            for (const allowed of moves[from]!) assert.ok(found!.message.includes(allowed), found!.message);
            assert.deepEqual(await client.read(`${path}/${String(id)}`), stood, "nothing has changed");
          }
        }
      }
    });

    test("PATCH sets replica_count, healthy_replicas, error_message, rollback_target; all violations at once", async () => {
      const id = idOf(await create({ service_name: "patched" }));
      const change = {
        status: "failed",
        replica_count: 2 ** 31 - 1,
        healthy_replicas: 0,
        error_message: "no image",
        rollback_target: "0.9.0",
      };
      const changed = await patch(id, change);
      assertFields(changed, deploymentFields);
      for (const [name, value] of Object.entries(change)) assert.equal(changed[name], value, name);
      assert.deepEqual(await client.read(`${path}/${String(id)}`), changed);
      const wrong = {
        status: "done",
        replica_count: -1,
        healthy_replicas: 2 ** 31,
        error_message: 1,
        rollback_target: "",
        strategy: "canary",
      };
      assert.deepEqual(await client.refusals("PATCH", `${path}/${String(id)}`, { body: wrong }), [
        "enum status",
        "maximum healthy_replicas",
        "min_length rollback_target",
        "minimum replica_count",
        "type error_message",
        "unknown_field strategy",
      ]);
      assert.deepEqual(await client.refusals("PATCH", `${path}/${String(id)}`, { body: {} }), ["min_properties body"]);
      assert.deepEqual(await client.refusals("PATCH", `${path}/${String(id)}`, { body: { replica_count: 1.5 } }), [
        "type replica_count",
      ]);
    });

    test("of moves that race one alone wins where they exclude each other", async () => {
      const id = idOf(await create({ service_name: "raced" }));
      const answers = await Promise.all(
        ["success", "failed", "cancelled", "success", "failed", "cancelled"].map((status) =>
          client.send("PATCH", `${path}/${String(id)}`, { body: { status } }),
        ),
      );
      const { status } = await client.read<Deployment>(`${path}/${String(id)}`);
      const won = answers
        .filter((answer) => answer.status === 200)
        .map((answer) => (JSON.parse(answer.text) as Deployment)["status"]);
      assert.deepEqual(won, [status, status]);
      assert.ok(
        answers.every((answer) => answer.status === 200 || violationsOf(answer)[0]!.code === "transition.invalid"),
      );
    });

    test("previous_version comes from the last deployment, else from the service's telemetry in that environment", async () => {
      const deploy = (version: string, rest: object = {}) =>
        create({ service_name: "prev", service_version: version, ...rest });
      const first = await deploy("1.0.0");
      assert.equal("previous_version" in first, false);
      assert.equal((await deploy("1.1.0"))["previous_version"], "1.0.0");
      assert.equal("previous_version" in (await deploy("1.1.0", { environment: "staging" })), false);
      await sendSpans(
        client,
        { "service.name": "seen", "service.version": "4.0.0", "deployment.environment.name": "production" },
        [{ traceId: randomId(16) }],
      );
      assert.equal((await create({ service_name: "seen", service_version: "4.1.0" }))["previous_version"], "4.0.0");
      assert.equal("previous_version" in (await create({ service_name: "seen", environment: "testing" })), false);
    });

    test("what is rolled back names its rollback_target, the previous version where nobody said another", async () => {
      await create({ service_name: "back", service_version: "1.0.0" });
      const id = idOf(await create({ service_name: "back", service_version: "2.0.0" }));
      await patch(id, { status: "failed", error_message: "crash loop" });
      const back = await patch(id, { status: "rolled_back" });
      assert.deepEqual([back["rollback_target"], back["error_message"]], ["1.0.0", "crash loop"]);
      assert.equal((await create({ service_name: "back", service_version: "2.0.1" }))["previous_version"], "1.0.0");
    });

    test("telemetry from the new version moves it to in_progress and fills healthy_replicas", async () => {
      const id = idOf(await create({ service_name: "rolls", service_version: "2.0.0" }));
      for (const instance of ["a", "b"]) {
        const resource = {
          "service.name": "rolls",
          "service.version": "2.0.0",
          "deployment.environment.name": "production",
          "service.instance.id": instance,
        };
        const start = nowNano() + 5_000_000n;
        await sendSpans(client, resource, [
          { traceId: randomId(16), startTimeUnixNano: String(start), endTimeUnixNano: String(start + 1n) },
        ]);
      }
      const seen = await client.read<Deployment>(`${path}/${String(id)}`);
      assert.deepEqual([seen["status"], seen["healthy_replicas"]], ["in_progress", 2]);
    });

    test("an unknown deployment is 404 with resource_type deployment, after all that is wrong with the request", async () => {
      for (const id of ["nothing", "01939f5e-8a00-7cc3-9d6e-2f1b7a4c5e60"]) {
        for (const [method, body] of [["GET"], ["PATCH", { status: "success" }]] as const) {
          const answer = await client.send(method, `${path}/${id}`, { body });
          assert.equal(answer.status, 404);
          const problem = problemOf(answer, `${path}/${id}`);
          assert.deepEqual([problem["resource_type"], problem["resource_id"]], ["deployment", id]);
        }
        assert.deepEqual(await client.refusals("PATCH", `${path}/${id}`, { body: { status: "x" } }), ["enum status"]);
      }
    });

    test("deployments: newest first, filtered, paged to the end and back; limit is 1 to 1000, 100 by default", async () => {
      const made: Deployment[] = [];
      for (let i = 0; i < 103; i++)
        made.push(await create({ service_name: "listed", environment: i < 3 ? "canary" : "preview" }));
      const moved = await patch(idOf(made[0]!), { status: "cancelled" });
      const query = { serviceName: "listed" };
      assert.equal((await list(query)).items.length, 100);
      const all = await walk((cursor) => list({ ...query, limit: 20, cursor }));
      assert.deepEqual(all.map(idOf), made.map(idOf).toReversed());
      assert.deepEqual((await list({ ...query, limit: 1_000 })).items, all);
      assert.deepEqual((await list({ ...query, environment: "canary", limit: 1 })).items.map(idOf), [idOf(made[2]!)]);
      assert.deepEqual((await list({ ...query, status: "cancelled" })).items, [moved]);
      assert.deepEqual((await list({ ...query, serviceName: "liste" })).items, []);
      const at = String(made[50]!["start_time"]);
      const same = made
        .filter((one) => one["start_time"] === at)
        .map(idOf)
        .toReversed();
      const next = new Date(Date.parse(at) + 1).toISOString();
      assert.deepEqual((await list({ ...query, startTime: at, endTime: next })).items.map(idOf), same);
      assert.ok(!(await list({ ...query, endTime: at, limit: 1_000 })).items.map(idOf).includes(idOf(made[50]!)));
      assert.deepEqual(
        await client.refusals("GET", path, { query: { limit: 0, status: "done", environment: "prod" } }),
        ["enum environment", "enum status", "minimum limit"],
      );
      assert.deepEqual(await client.refusals("GET", path, { query: { limit: 1_001 } }), ["maximum limit"]);
    });

    test("deployments/metrics/dora: every field, null where there is nothing to measure", async () => {
      const dora = (query: Query) =>
        client.read<Record<string, unknown>>(`${path}/metrics/dora`, { serviceName: "dora", ...query });
      const nothing = await dora({});
      assert.deepEqual(
        { ...nothing, performance_level: "" },
        {
          deployment_frequency: 0,
          lead_time_hours: null,
          change_failure_rate: null,
          mttr_hours: null,
          performance_level: "",
        },
      );
      for (const status of ["success", "failed", "success", "success"]) {
        await patch(idOf(await create({ service_name: "dora" })), { status });
      }
      const window = {
        startTime: new Date(Date.now() - 3_600_000).toISOString(),
        endTime: new Date(Date.now() + 82_800_000).toISOString(),
      };
      const metrics = await dora(window);
      assertFields(metrics, {
        deployment_frequency: "number",
        lead_time_hours: orNull("number"),
        change_failure_rate: orNull("ratio"),
        mttr_hours: orNull("number"),
        performance_level: ["elite", "high", "medium", "low"],
      });
      assert.ok(Math.abs((metrics["deployment_frequency"] as number) - 3) < 0.001);
      assert.equal(metrics["change_failure_rate"], 0.25);
      assert.ok((metrics["lead_time_hours"] as number) < 0.1 && (metrics["mttr_hours"] as number) < 0.1);
      assert.deepEqual(
        await client.refusals("GET", `${path}/metrics/dora`, { query: { environment: "x", status: "success" } }),
        ["enum environment", "unknown_parameter status"],
      );
    });
  });
}
