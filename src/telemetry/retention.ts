import type { Log } from "../core/log.ts";
import { localTable, onCluster, quoteText } from "./ddl.ts";
import type { Layout, TableName } from "./ddl.ts";
import type { Sql } from "./migrations.ts";
import { everywhere, readDays, utcDay } from "./partitions.ts";
import type { TableDay } from "./partitions.ts";

/** How long telemetry is kept after its arrival, in whole days, and how much of the disk it leaves free. */
export interface Retention {
  readonly traces: number;
  readonly logs: number;
  readonly metrics: number;
  /** A share of the disk ("5%") or bytes ("1073741824"); "0": never mind. */
  readonly minFreeDisk: string;
}

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

export interface RetentionOptions {
  readonly sql: Sql;
  readonly layout: Layout;
  readonly retention: Retention;
  /** The fullest disk that telemetry lies on, counting as free what is dropped and not yet deleted; undefined: unknown. */
  readonly diskSpace: () => Promise<DiskSpace | undefined>;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export interface Dropped extends TableDay {
  readonly why: "age" | "disk";
}

const dayMs = 86_400_000;

/**
 * Drops the days that are past their time, then, while the disk is too full, the oldest day of all tables together,
 * but never today's. A day is a partition, so that dropping it is one cheap step and never a rewrite. One node at a
 * time, or two of them drop a day each for the same want of space.
 *
 * @returns what was dropped
 */
export async function expire(options: RetentionOptions): Promise<readonly Dropped[]> {
  const { sql, layout, retention, diskSpace, log, now = Date.now } = options;
  const dropped: Dropped[] = [];
  const drop = async (table: TableName, day: string, why: Dropped["why"]) => {
    await sql.command(`ALTER TABLE ${localTable(layout, table)}${onCluster(layout)} DROP PARTITION ${quoteText(day)}`);
    dropped.push({ table, day, why });
  };

  const { traces, logs, metrics } = retention;
  // service_activity tells of all three signals, and is dropped with the last of them.
  const keepDays: Readonly<Record<TableName, number>> = {
    spans: traces,
    logs,
    metric_points: metrics,
    log_stats: logs,
    span_stats: traces,
    session_activity: Math.max(traces, logs),
    service_activity: Math.max(traces, logs, metrics),
  };
  const left: TableDay[] = [];
  for (const { table, day } of await readDays(sql, layout)) {
    const endOfDay = Date.parse(day) + dayMs;
    if (endOfDay <= now() - keepDays[table] * dayMs) await drop(table, day, "age");
    else left.push({ table, day });
  }
  if (dropped.length > 0) log.info({ dropped: dropped.map(describe) }, "telemetry past its retention was dropped");

  const today = utcDay(now());
  // service_activity is tiny beside what it is built from: dropping it would lose sight of services and free nothing.
  // The other rollups go with their telemetry, which they count.
  const candidates = left.filter(({ table, day }) => table !== "service_activity" && day < today);
  for (const day of [...new Set(candidates.map((candidate) => candidate.day))].toSorted()) {
    const space = await diskSpace();
    if (!space || !isTooFull(space, retention.minFreeDisk)) return dropped;
    const before = dropped.length;
    for (const candidate of candidates) if (candidate.day === day) await drop(candidate.table, day, "disk");
    log.warn(
      { dropped: dropped.slice(before).map(describe), ...space },
      "telemetry was dropped early: the disk is too full",
    );
  }
  const space = await diskSpace();
  if (space && isTooFull(space, retention.minFreeDisk)) {
    log.error({ ...space }, "the disk is too full, and no telemetry from before today is left to drop");
  }
  return dropped;
}

/**
 * Runs `round` now and then every `everyMs`, never two at a time; a round that fails is logged, and the next one tries
 * again. Returns what stops the timer; a round that is under way goes on.
 */
export function startRetention(round: () => Promise<unknown>, log: Log, everyMs = 60_000): () => void {
  let running = false;
  const tick = async () => {
    if (running) return;
    running = true;
    try {
      await round();
    } catch (error) {
      log.warn({ err: error }, "telemetry retention did not get through; it tries again in a while");
    }
    running = false;
  };
  const timer = setInterval(() => void tick(), everyMs);
  timer.unref();
  void tick();
  return () => clearInterval(timer);
}

/**
 * What the engine says of the disks that Vigil's tables lie on: the one with the smallest share free. Undefined as
 * long as nothing is stored. Dropped and merged parts are still on the disk for some minutes; they count as free, or
 * one want of space would take day after day.
 */
export async function readDiskSpace(sql: Sql, layout: Layout): Promise<DiskSpace | undefined> {
  const [row] = await sql.rows<{ free: string; total: string }>({
    sql: `
      SELECT toString(disk.free + held.leaving) AS free, toString(disk.total) AS total
      FROM (
        SELECT hostName() AS host, name, free_space AS free, total_space AS total
        FROM ${everywhere(layout, "disks")} WHERE total_space > 0
      ) AS disk
      INNER JOIN (
        SELECT hostName() AS host, disk_name AS name, sumIf(bytes_on_disk, NOT active) AS leaving
        FROM ${everywhere(layout, "parts")} WHERE database = {database:String} GROUP BY host, name
      ) AS held USING (host, name)
      ORDER BY (disk.free + held.leaving) / disk.total LIMIT 1`,
    params: { database: layout.database },
  });
  return row && { freeBytes: Number(row.free), totalBytes: Number(row.total) };
}

function isTooFull({ freeBytes, totalBytes }: DiskSpace, minFreeDisk: string): boolean {
  const wanted = minFreeDisk.endsWith("%")
    ? (Number(minFreeDisk.slice(0, -1)) / 100) * totalBytes
    : Number(minFreeDisk);
  return freeBytes < wanted;
}

function describe({ table, day }: TableDay): string {
  return `${table} ${day}`;
}
