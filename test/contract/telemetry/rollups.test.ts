import assert from "node:assert/strict";
import { test } from "node:test";
import type { TelemetryReader } from "../../../src/telemetry/contract.ts";
import { appendLogs, appendSpans, openForTest, openServer, temporaryDirectory } from "./fixture.ts";

interface Activity {
  readonly service_name: string;
  readonly service_version: string;
  readonly service_instance: string;
  readonly hour: string;
  readonly first: string;
  readonly last: string;
  readonly spans: number;
  readonly error_spans: number;
  readonly logs: number;
  readonly error_logs: number;
}

function readActivity(reader: TelemetryReader): Promise<Activity[]> {
  return reader.rows<Activity>({
    sql: `
      SELECT service_name, service_version, service_instance, toString(hour) AS hour,
        toString(min(first_seen)) AS first, toString(max(last_seen)) AS last,
        sum(spans) AS spans, sum(error_spans) AS error_spans, sum(logs) AS logs, sum(error_logs) AS error_logs
      FROM service_activity WHERE workspace = 'default'
      GROUP BY service_name, service_version, service_instance, service_activity.hour
      ORDER BY service_name, service_version, service_instance, service_activity.hour`,
  });
}

test("activity is summed up as it arrives, by hour of arrival, and no time is after arrival", async (t) => {
  let now = Date.UTC(2026, 10, 21, 10, 59, 59, 500);
  const telemetry = await openForTest(t, { directory: temporaryDirectory(t), now: () => now });
  const at = (ms: number) => BigInt(ms) * 1_000_000n;
  await appendSpans(telemetry.writer, {
    service: "shop",
    version: "1",
    instance: "i",
    names: ["a", "b"],
    ts: at(now - 100),
  });
  await appendSpans(telemetry.writer, {
    service: "shop",
    version: "1",
    instance: "i",
    names: ["c"],
    ts: at(now - 5_000),
    status: 2,
  });
  await appendLogs(telemetry.writer, "shop", "ERROR", ["x"]);
  await appendLogs(telemetry.writer, "shop", "INFO", ["y", "z"]);
  now += 1_000;
  await appendSpans(telemetry.writer, {
    service: "shop",
    version: "1",
    instance: "i",
    names: ["future"],
    ts: at(now + 86_400_000),
  });
  const none = { spans: 0, error_spans: 0, logs: 0, error_logs: 0 };
  const key = { service_name: "shop", service_version: "1", service_instance: "i" };
  assert.deepEqual(await readActivity(telemetry), [
    {
      ...key,
      service_version: "",
      service_instance: "",
      hour: "2026-11-21 10:00:00",
      first: "2026-11-21 10:59:59.000000000",
      last: "2026-11-21 10:59:59.000000000",
      ...none,
      logs: 3,
      error_logs: 1,
    },
    {
      ...key,
      hour: "2026-11-21 10:00:00",
      first: "2026-11-21 10:59:54.500000000",
      last: "2026-11-21 10:59:59.400000000",
      ...none,
      spans: 3,
      error_spans: 1,
    },
    {
      ...key,
      hour: "2026-11-21 11:00:00",
      first: "2026-11-21 11:00:00.000000000",
      last: "2026-11-21 11:00:00.000000000",
      ...none,
      spans: 1,
    },
  ]);
});

test("built again it is what it was, over several days, with rows arriving meanwhile", async (t) => {
  const day = 86_400_000;
  const today = Date.UTC(2026, 10, 21, 12);
  let now = today - 3 * day;
  const server = await openServer(t);
  const telemetry = await openForTest(t, { directory: "", clickhouseUrl: server.address, now: () => now });
  for (; now <= today; now += day) {
    for (const service of ["cart", "shop"]) {
      const ts = BigInt(now) * 1_000_000n;
      await appendSpans(telemetry.writer, {
        service,
        version: `${now}`,
        instance: "i",
        names: ["a", "b"],
        ts,
        status: 2,
      });
      await appendLogs(telemetry.writer, service, "FATAL", ["x"]);
    }
  }
  now = today;
  const before = await readActivity(telemetry);
  assert.equal(before.length, 16);
  assert.equal((await telemetry.rebuildRollups()).length, 4);
  assert.deepEqual(await readActivity(telemetry), before);

  // As after a crash between an insert and its view, and with senders that do not stop.
  await server
    .sql("vigil")
    .command("ALTER TABLE service_activity DELETE WHERE service_name = 'cart' SETTINGS mutations_sync = 2");
  const rebuilding = telemetry.rebuildRollups();
  const sent = Array.from({ length: 20 }, (_, i) =>
    appendSpans(telemetry.writer, { service: "late", names: [`${i}`] }),
  );
  await Promise.all([rebuilding, ...sent]);
  const after = await readActivity(telemetry);
  assert.deepEqual(
    after.filter((row) => row.service_name !== "late"),
    before,
  );
  assert.deepEqual(
    after.filter((row) => row.service_name === "late").map((row) => row.spans),
    [20],
  );
});
