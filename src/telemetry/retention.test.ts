import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../core/log.ts";
import type { Query } from "./contract.ts";
import type { Sql } from "./migrations.ts";
import { expire, startRetention } from "./retention.ts";
import type { DiskSpace, RetentionOptions } from "./retention.ts";

/** Partitions by table; a drop takes one out, and every table's day weighs a gigabyte. */
class FakeParts implements Sql {
  readonly commands: string[] = [];
  readonly days: Set<string>;
  constructor(days: string[]) {
    this.days = new Set(days);
  }
  async command(sql: string): Promise<void> {
    this.commands.push(sql);
    const [, table, day] =
      /^ALTER TABLE (\w+?)(?:_local)?(?: ON CLUSTER `\w+`)? DROP PARTITION '([\d-]+)'$/.exec(sql) ?? [];
    assert.ok(this.days.delete(`${table} ${day}`), sql);
  }
  async rows<T>({ sql }: Query): Promise<T[]> {
    const suffix = sql.includes("clusterAllReplicas(`main`, system.parts)") ? "_local" : "";
    return [...this.days].map((entry) => {
      const [table, partition] = entry.split(" ");
      return { table: `${table}${suffix}`, partition };
    }) as T[];
  }
  space = async (): Promise<DiskSpace> => ({ freeBytes: (20 - this.days.size) * 2 ** 30, totalBytes: 20 * 2 ** 30 });
}

function setUp(days: string[], options: Partial<RetentionOptions> = {}) {
  const parts = new FakeParts(days);
  const lines: Record<string, unknown>[] = [];
  const log = createLog("info", { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const round = () =>
    expire({
      sql: parts,
      layout: { database: "vigil" },
      retention: { traces: 2, logs: 2, metrics: 2, minFreeDisk: "0" },
      diskSpace: parts.space,
      log,
      now: () => Date.UTC(2026, 10, 21, 12),
      ...options,
    });
  return { parts, lines, round };
}

test("a day goes when its newest row is past its time, each signal by its own", async () => {
  const { parts, lines, round } = setUp(
    [
      "spans 2026-11-17",
      "spans 2026-11-18",
      "spans 2026-11-19",
      "logs 2026-11-19",
      "logs 2026-11-20",
      "metric_points 2026-11-01",
    ],
    { retention: { traces: 2, logs: 1, metrics: 90, minFreeDisk: "0" } },
  );
  const dropped = await round();
  assert.deepEqual(
    dropped.map(({ table, day, why }) => `${table} ${day} ${why}`),
    ["spans 2026-11-17 age", "spans 2026-11-18 age", "logs 2026-11-19 age"],
  );
  assert.deepEqual([...parts.days], ["spans 2026-11-19", "logs 2026-11-20", "metric_points 2026-11-01"]);
  assert.deepEqual(lines[0]?.dropped, ["spans 2026-11-17", "spans 2026-11-18", "logs 2026-11-19"]);
});

test("the moment at which a day goes is exact", async () => {
  const midnight = Date.UTC(2026, 10, 22);
  const kept = setUp(["spans 2026-11-19"], { now: () => midnight - 1 });
  assert.equal((await kept.round()).length, 0);
  const gone = setUp(["spans 2026-11-19"], { now: () => midnight });
  assert.equal((await gone.round()).length, 1);
});

test("the rollup stays as long as any signal that it tells of", async () => {
  const { parts, round } = setUp(["service_activity 2026-11-11", "service_activity 2026-11-10"], {
    retention: { traces: 2, logs: 10, metrics: 3, minFreeDisk: "0" },
  });
  await round();
  assert.deepEqual([...parts.days], ["service_activity 2026-11-11"]);
});

const fourDays = [
  "spans 2026-11-19",
  "logs 2026-11-19",
  "logs 2026-11-20",
  "spans 2026-11-20",
  "spans 2026-11-21",
  "service_activity 2026-11-19",
];

test("while the disk is too full the oldest day goes from all tables, and no more than needed", async () => {
  // 14 of 20 GB are free.
  const { parts, lines, round } = setUp(fourDays, {
    retention: { traces: 9, logs: 9, metrics: 9, minFreeDisk: "75%" },
  });
  const dropped = await round();
  assert.deepEqual(dropped, [
    { table: "spans", day: "2026-11-19", why: "disk" },
    { table: "logs", day: "2026-11-19", why: "disk" },
  ]);
  assert.deepEqual([...parts.days].toSorted(), [
    "logs 2026-11-20",
    "service_activity 2026-11-19",
    "spans 2026-11-20",
    "spans 2026-11-21",
  ]);
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.level, "warn");
  assert.equal(lines[0]?.freeBytes, 14 * 2 ** 30);
});

test("today's rows and the rollup are never dropped for space, and a log line says when nothing else is left", async () => {
  const { parts, lines, round } = setUp(fourDays, {
    retention: { traces: 9, logs: 9, metrics: 9, minFreeDisk: "99%" },
  });
  await round();
  assert.deepEqual([...parts.days], ["spans 2026-11-21", "service_activity 2026-11-19"]);
  assert.equal(lines.at(-1)?.level, "error");
});

test("the wanted space may be given in bytes; 0, or a disk that nobody knows, drops nothing", async () => {
  const days = { traces: 9, logs: 9, metrics: 9 };
  const inBytes = setUp(fourDays, { retention: { ...days, minFreeDisk: String(15 * 2 ** 30) } });
  assert.equal((await inBytes.round()).length, 2);
  const off = setUp(fourDays, {
    retention: { ...days, minFreeDisk: "0" },
    diskSpace: async () => ({ freeBytes: 0, totalBytes: 1 }),
  });
  assert.equal((await off.round()).length, 0);
  const unknown = setUp(fourDays, { retention: { ...days, minFreeDisk: "99%" }, diskSpace: async () => undefined });
  assert.equal((await unknown.round()).length, 0);
});

test("in a cluster the local tables' partitions go, on every server", async () => {
  const { parts, round } = setUp(["spans 2026-11-01"], { layout: { database: "vigil", cluster: "main" } });
  await round();
  assert.deepEqual(parts.commands, ["ALTER TABLE spans_local ON CLUSTER `main` DROP PARTITION '2026-11-01'"]);
});

test("rounds follow each other, never side by side, and a failed one does not end them", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const rounds: PromiseWithResolvers<void>[] = [];
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const stop = startRetention(() => {
    const round = Promise.withResolvers<void>();
    rounds.push(round);
    return round.promise;
  }, log);
  assert.equal(rounds.length, 1, "the first one at once");
  t.mock.timers.tick(120_000);
  assert.equal(rounds.length, 1);
  rounds[0]!.reject(new Error("away"));
  await new Promise(setImmediate);
  assert.match(lines.join(""), /away/);
  t.mock.timers.tick(60_000);
  assert.equal(rounds.length, 2);
  rounds[1]!.resolve();
  await new Promise(setImmediate);
  t.mock.timers.tick(60_000);
  assert.equal(rounds.length, 3);
  stop();
  rounds[2]!.resolve();
  await new Promise(setImmediate);
  t.mock.timers.tick(600_000);
  assert.equal(rounds.length, 3);
});
