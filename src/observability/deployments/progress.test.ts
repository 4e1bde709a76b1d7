// What telemetry makes of deployments: the real engine's tables, on both homes of the state store.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { v7 } from "uuid";
import { openAt, postgresDriver, silent, sqliteDriver, until } from "../../../test/contract/state/drivers.ts";
import type { TestDriver } from "../../../test/contract/state/drivers.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { StateStore } from "../../state/store.ts";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { openTables } from "../logs/tables-for-tests.ts";
import type { Tables } from "../logs/tables-for-tests.ts";
import { followTelemetry, startDeploymentProgress } from "./progress.ts";
import { startDeploymentApi } from "./start-deployments-for-tests.ts";
import type { DeploymentApi } from "./start-deployments-for-tests.ts";

const minute = 60_000;
let tables: Tables;
let seq = 1;

before(async () => {
  tables = await openTables();
});
after(() => tables.close());

/** Stores a span that was sent, and arrived, at `at` (Unix milliseconds). */
async function sent(service: string, at: number, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const row = {
    workspace: "default",
    seq: seq++,
    service_name: service,
    service_version: "1.0.0",
    service_instance: "",
    environment: "production",
    ts: BigInt(at) * 1_000_000n,
    received: Math.floor(at / 1000),
  };
  await tables.insert("spans", [{ ...row, ...more }]);
}

for (const [name, make] of [
  ["SQLite", sqliteDriver],
  ["PostgreSQL", postgresDriver],
] as const) {
  describe(`telemetry and deployments in ${name}`, () => {
    let driver: TestDriver;
    let state: StateStore;
    let api: DeploymentApi;
    before(async () => {
      driver = await make();
      state = await openAt(await driver.fresh());
      api = await startDeploymentApi(state, tables);
    });
    after(async () => {
      await api.close();
      await state.close();
      await driver.close();
    });
    const service = (of: string) => `${of} in ${name}`;

    test("only what the new version sends from the start on, in that environment, moves it to in_progress", async () => {
      const cart = service("cart");
      await sent(cart, api.clock - 1);
      const id = await api.record(cart, { service_version: "1.1.0" });
      const at = api.clock;
      api.clock += minute;
      await sent(cart, api.clock);
      await sent(cart, at - 1, { service_version: "1.1.0" });
      await sent(cart, api.clock, { service_version: "1.1.0", environment: "staging" });
      await sent(cart, api.clock, { service_version: "1.1.0", environment: "" });
      await sent(cart, api.clock, { service_version: "1.1.0+b" });
      await sent(service("pay"), api.clock, { service_version: "1.1.0" });
      await sent(cart, api.clock, { service_version: "1.1.0", workspace: "other" });
      const untouched = await api.read(id);
      assert.equal(untouched["status"], "pending");
      assert.equal(untouched["healthy_replicas"], undefined);

      await sent(cart, at, { service_version: "1.1.0", service_namespace: "shop" });
      const { status, healthy_replicas, end_time } = await api.read(id);
      assert.deepEqual(
        { status, healthy_replicas, end_time },
        {
          status: "in_progress",
          healthy_replicas: 1,
          end_time: undefined,
        },
      );
    });

    test("an hour that has begun before the deployment counts from the deployment on", async () => {
      const late = service("late");
      api.clock += 2 * 60 * minute;
      await sent(late, api.clock - minute, { service_instance: "a" });
      await sent(late, api.clock - minute, { service_instance: "b" });
      const id = await api.record(late);
      assert.equal((await api.read(id))["status"], "pending");
      await sent(late, api.clock + 1, { service_instance: "a" });
      api.clock += 2;
      assert.equal((await api.read(id))["healthy_replicas"], 1);
    });

    test("healthy replicas are the instances of the last five minutes, unless somebody reports their number", async () => {
      const pods = service("pods");
      const id = await api.record(pods);
      const healthy = async () => (await api.read(id))["healthy_replicas"];
      await sent(pods, api.clock, { service_instance: "a" });
      await sent(pods, api.clock + minute, { service_instance: "a" });
      await sent(pods, api.clock + minute, { service_instance: "b" });
      await sent(pods, api.clock + 2 * minute, { service_instance: "c", service_namespace: "n" });
      await sent(pods, api.clock + 2 * minute);
      api.clock += 2 * minute;
      assert.equal(await healthy(), 3);
      api.clock += 4 * minute;
      assert.equal(await healthy(), 3, "b was seen five minutes ago to the millisecond");
      api.clock += 1;
      assert.equal(await healthy(), 1);
      api.clock += 5 * minute;
      assert.equal(await healthy(), 0);
      await api.move(id, { healthy_replicas: 7 });
      await sent(pods, api.clock, { service_instance: "d" });
      assert.equal(await healthy(), 7);
    });

    test("telemetry without instances is from one", async () => {
      const plain = service("plain");
      const id = await api.record(plain);
      await sent(plain, api.clock);
      await sent(plain, api.clock);
      assert.equal((await api.read(id))["healthy_replicas"], 1);
    });

    test("a deployment that is over is left as it is", async () => {
      const over = service("over");
      for (const status of ["cancelled", "failed", "success"]) {
        const id = await api.record(over);
        const ended = await api.move(id, { status });
        await sent(over, api.clock);
        assert.deepEqual(await api.read(id), ended);
      }
    });

    test("lists and moves see what telemetry has shown, whether or not anyone looked before", async () => {
      const unseen = service("unseen");
      const id = await api.record(unseen);
      await sent(unseen, api.clock);
      const { body } = await api.call("GET", `?serviceName=${encodeURIComponent(unseen)}&status=in_progress`);
      assert.equal((body["items"] as unknown[]).length, 1);
      const other = await api.record(unseen);
      assert.equal((await api.move(other, { status: "rolled_back" }))["status"], "rolled_back");
      assert.equal((await api.read(id))["status"], "in_progress");
    });

    test("what a person decides while telemetry is read stands", async () => {
      const torn = service("torn");
      await sent(torn, api.clock + 1);
      for (let race = 0; race < 30; race++) {
        const id = await api.record(torn);
        const [{ status }] = await Promise.all([
          api.call("PATCH", id, { status: "cancelled" }),
          followTelemetry({ state, reader: tables }, { id }, api.clock + 2),
          followTelemetry({ state, reader: tables }, {}, api.clock + 2),
        ]);
        assert.equal(status, 200);
        assert.equal((await api.read(id))["status"], "cancelled");
      }
    });

    test("any number of them is followed, those of long ago only where they are asked for", async () => {
      const many = service("many");
      const at = api.clock;
      const row = {
        workspace: "default",
        service_name: many,
        service_version: "1.0.0",
        environment: "production",
        status: "pending" as const,
        strategy: "rolling",
      };
      for (let part = 0; part < 6; part++) {
        const rows = Array.from({ length: 200 }, () => ({ ...row, id: v7(), start_time: at }));
        await state.db.insertInto("deployments").values(rows).execute();
      }
      const old = v7();
      await state.db
        .insertInto("deployments")
        .values({ ...row, id: old, start_time: at - 8 * 24 * 60 * minute })
        .execute();
      await sent(many, at);
      const pending = () =>
        state.db
          .selectFrom("deployments")
          .select("id")
          .where("service_name", "=", many)
          .where("status", "=", "pending")
          .execute();
      await followTelemetry({ state, reader: tables }, {}, at);
      assert.deepEqual(await pending(), [{ id: old }]);
      assert.equal((await api.read(old))["status"], "in_progress");
      assert.deepEqual(await pending(), []);
    });

    test("the previous version is the one last seen in telemetry, where no deployment tells", async () => {
      const seen = service("seen");
      const previous = async (version: string, environment = "production") => {
        const id = await api.record(seen, { service_version: version, environment });
        const record = await api.read(id);
        await api.move(id, { status: "cancelled" });
        return record["previous_version"];
      };
      assert.equal(await previous("2.0.0"), undefined);
      await sent(seen, api.clock - 90 * minute, { service_version: "1.10.0" });
      await sent(seen, api.clock - 80 * minute, { service_version: "1.9.0+build.2" });
      await sent(seen, api.clock - 70 * minute, { service_version: "" });
      await sent(seen, api.clock - minute, { service_version: "2.0.0" });
      await sent(seen, api.clock - minute, { service_version: "3.0.0", environment: "staging" });
      await sent(seen, api.clock - minute, { service_version: "4.0.0", workspace: "other" });
      assert.equal(await previous("2.0.0"), "1.9.0+build.2");
      assert.equal(await previous("2.1.0"), "2.0.0");
      assert.equal(await previous("2.1.0", "staging"), "3.0.0");
      assert.equal(await previous("2.1.0", "canary"), undefined);
      await sent(seen, api.clock, { service_version: "nightly" });
      assert.equal(await previous("2.1.0"), undefined, "what ran last has no semantic version");
    });

    test("the timer moves deployments on by itself, through an outage of the telemetry store", async () => {
      const timed = service("timed");
      const id = await api.record(timed);
      await sent(timed, api.clock);
      const { promise: failed, resolve: fail } = Promise.withResolvers<void>();
      let outages = 3;
      const reader: TelemetryReader = {
        bytes: tables.bytes,
        rows: (query) => {
          if (outages === 0) return tables.rows(query);
          if (--outages === 0) fail();
          return Promise.reject(new StoreUnavailable("The engine is starting."));
        },
      };
      const progress = startDeploymentProgress({ state, reader, log: silent, now: () => api.clock, everyMs: 1 });
      await failed;
      await until(async () => {
        const row = await state.db.selectFrom("deployments").select("status").where("id", "=", id).executeTakeFirst();
        return row?.status === "in_progress";
      });
      await progress.stop();
    });

    test("a timer that is stopped ends what it was reading, and reads nothing more", async () => {
      await api.record(service("stopped"));
      const { promise: reading, resolve: read } = Promise.withResolvers<void>();
      let reads = 0;
      const reader: TelemetryReader = {
        bytes: tables.bytes,
        rows: ({ signal }) => {
          reads++;
          read();
          return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
        },
      };
      const progress = startDeploymentProgress({ state, reader, log: silent, now: () => api.clock, everyMs: 1 });
      await reading;
      await progress.stop();
      assert.equal(reads, 1);
    });
  });
}
