import { sql } from "kysely";
import type { StateStore } from "../../state/store.ts";
import { performanceLevel } from "./dora-level.ts";
import type { DoraFigures, PerformanceLevel } from "./dora-level.ts";
import { matches, unixMilli } from "./read.ts";
import type { DeploymentFilter } from "./read.ts";

export interface DoraMetrics extends DoraFigures {
  readonly performance_level: PerformanceLevel;
}

const day = 24 * 3_600_000;
const hour = 3_600_000;
const defaultDays = 30;

/**
 * DORA's figures of the deployments that `filter` selects by their start. Without `startTime` they are those of the 30
 * days before the end, without `endTime` the end is `now` (Unix milliseconds).
 */
export async function readDora(
  state: Pick<StateStore, "db">,
  filter: Omit<DeploymentFilter, "status">,
  now: number,
): Promise<DoraMetrics> {
  const end = filter.endTime === undefined ? now : unixMilli(filter.endTime);
  const start = filter.startTime === undefined ? end - defaultDays * day : unixMilli(filter.startTime);
  // Not bounded by now: what another node has just recorded counts, whatever its clock says.
  const window = (where: Parameters<typeof matches>[0]) =>
    where.and([matches(where, { ...filter, startTime: undefined }), where("start_time", ">=", start)]);

  const counts = await state.db
    .selectFrom("deployments")
    .select(["status", ({ fn }) => fn.countAll<number>().as("count")])
    .where(window)
    .groupBy("status")
    .execute();
  const count = (status: string) => counts.find((row) => row.status === status)?.count ?? 0;
  const successes = count("success");
  const failures = count("failed") + count("rolled_back");

  const figures: DoraFigures = {
    deployment_frequency: end > start ? (successes * day) / (end - start) : 0,
    lead_time_hours: await medianDuration(state, window, successes),
    change_failure_rate: successes + failures > 0 ? failures / (successes + failures) : null,
    mttr_hours: await meanRecovery(state, window),
  };
  return { ...figures, performance_level: performanceLevel(figures) };
}

type Window = (where: Parameters<typeof matches>[0]) => ReturnType<typeof matches>;

/** Hours from start to end of the successful deployments; the database sorts, so that a long window costs no memory. */
async function medianDuration({ db }: Pick<StateStore, "db">, window: Window, total: number): Promise<number | null> {
  const rows = await db
    .selectFrom("deployments")
    .select(({ eb }) => eb("end_time", "-", eb.ref("start_time")).as("took"))
    .where(window)
    .where("status", "=", "success")
    .orderBy("took")
    .offset(Math.max(0, Math.floor((total - 1) / 2)))
    .limit(total % 2 === 0 ? 2 : 1)
    .execute();
  if (rows.length === 0) return null;
  return rows.reduce((sum, { took }) => sum + took!, 0) / rows.length / hour;
}

/**
 * Hours from the end of each deployment that failed or was rolled back to the next success of the same service in the
 * same environment, be it after the window. Those that have none yet are left out.
 */
async function meanRecovery({ db }: Pick<StateStore, "db">, window: Window): Promise<number | null> {
  const recovered = db
    .selectFrom("deployments")
    .select((failure) => [
      "end_time",
      failure
        .selectFrom("deployments as next")
        .select(({ fn }) => fn.min("next.end_time").as("end"))
        .whereRef("next.workspace", "=", "deployments.workspace")
        .whereRef("next.service_name", "=", "deployments.service_name")
        .whereRef("next.environment", "=", "deployments.environment")
        // Word for word the condition of the index over successes, as SQLite wants it.
        .where(sql<boolean>`status = 'success'`)
        .whereRef("next.end_time", ">=", "deployments.end_time")
        .as("recovered_at"),
    ])
    .where(window)
    .where("status", "in", ["failed", "rolled_back"])
    .as("failures");
  const { took, count } = await db
    .selectFrom(recovered)
    .select(({ eb, fn }) => [
      fn.sum<number | null>(eb("recovered_at", "-", eb.ref("end_time"))).as("took"),
      fn.countAll<number>().as("count"),
    ])
    .where("recovered_at", "is not", null)
    .executeTakeFirstOrThrow();
  return took === null ? null : Number(took) / count / hour;
}
