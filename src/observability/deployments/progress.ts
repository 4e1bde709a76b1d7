import type { Log } from "../../core/log.ts";
import { QueryTimeout, StoreUnavailable } from "../../core/errors.ts";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import type { DeploymentStores } from "./create.ts";
import { isOpen } from "./lifecycle.ts";

/** Which of the deployments that are not over to look at. */
export interface ProgressScope {
  readonly workspace?: string;
  readonly serviceName?: string;
  readonly environment?: string;
  /** This one, however old it is. */
  readonly id?: string;
}

/** An instance that sent something in this time is there. */
const healthyMs = 5 * 60_000;
/**
 * Many pipelines never report the end of a deployment. Past this age telemetry is asked about one only where somebody
 * asks for that very deployment, so that forgotten ones cost nothing.
 */
const followedMs = 7 * 24 * 3_600_000;
const batch = 500;

interface OpenDeployment {
  readonly id: string;
  readonly workspace: string;
  readonly service_name: string;
  readonly service_version: string;
  readonly environment: string;
  readonly status: string;
  readonly start_time: number;
  readonly seen_replicas: number | null;
}

/**
 * Brings deployments that are not over to what telemetry shows at `now` (Unix milliseconds): where the new version sent
 * something from after the start on, `pending` becomes `in_progress`, and its instances of the last 5 minutes are
 * counted. Any number of nodes may do this at once: what a person did meanwhile stays.
 */
export async function followTelemetry(
  { state, reader }: DeploymentStores,
  scope: ProgressScope,
  now: number,
  signal?: AbortSignal,
): Promise<void> {
  const { workspace, serviceName, environment, id } = scope;
  for (let last: string | undefined; ;) {
    const past = last;
    const open: OpenDeployment[] = await state.db
      .selectFrom("deployments")
      .select([
        "id",
        "workspace",
        "service_name",
        "service_version",
        "environment",
        "status",
        "start_time",
        "seen_replicas",
      ])
      .where(isOpen)
      .$if(id !== undefined, (query) => query.where("id", "=", id!))
      .$if(id === undefined, (query) => query.where("start_time", ">", now - followedMs))
      .$if(workspace !== undefined, (query) => query.where("workspace", "=", workspace!))
      .$if(serviceName !== undefined, (query) => query.where("service_name", "=", serviceName!))
      .$if(environment !== undefined, (query) => query.where("environment", "=", environment!))
      .$if(past !== undefined, (query) => query.where("id", ">", past!))
      .orderBy("id")
      .limit(batch)
      .execute();
    if (open.length === 0) return;
    const seen = await instancesSeen(reader, open, now, signal);
    const changed = open.filter(
      (deployment) =>
        seen.has(deployment.id) &&
        (deployment.status === "pending" || deployment.seen_replicas !== seen.get(deployment.id)),
    );
    if (changed.length > 0) {
      // In the order of their ids, so that two nodes never wait for each other.
      await state.db.transaction().execute(async (trx) => {
        for (const { id: one } of changed) {
          await trx
            .updateTable("deployments")
            .set({ status: "in_progress", seen_replicas: seen.get(one)! })
            .where("id", "=", one)
            .where(isOpen)
            .execute();
        }
      });
    }
    if (open.length < batch) return;
    last = open.at(-1)!.id;
  }
}

/** Of the deployments whose version sent telemetry since their start: how many of its instances are there. */
async function instancesSeen(
  reader: TelemetryReader,
  open: readonly OpenDeployment[],
  now: number,
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const healthy = "last_seen >= fromUnixTimestamp64Milli({healthy_since:Int64}, 'UTC')";
  const rows = await reader.rows<{ id: string; instances: number }>({
    // Telemetry that names no instance is from one at least.
    sql: `
SELECT
  id,
  greatest(
    uniqExactIf(service_instance, ${healthy} AND service_instance != ''),
    toUInt64(countIf(${healthy}) > 0)
  ) AS instances
FROM service_activity
INNER JOIN
(
  SELECT
    tupleElement(deployment, 1) AS id,
    tupleElement(deployment, 2) AS workspace,
    tupleElement(deployment, 3) AS service_name,
    tupleElement(deployment, 4) AS service_version,
    tupleElement(deployment, 5) AS environment,
    fromUnixTimestamp64Milli(tupleElement(deployment, 6), 'UTC') AS start_time
  FROM
  (
    SELECT arrayJoin(arrayZip(
      {ids:Array(String)}, {workspaces:Array(String)}, {services:Array(String)},
      {versions:Array(String)}, {environments:Array(String)}, {starts:Array(Int64)}
    )) AS deployment
  )
) AS deployments USING (workspace, service_name, service_version, environment)
WHERE service_activity.workspace IN {workspaces:Array(String)}
  AND service_activity.service_name IN {services:Array(String)}
  AND hour >= toStartOfHour(fromUnixTimestamp64Milli({first_start:Int64}, 'UTC'))
  AND hour >= toStartOfHour(start_time)
  AND last_seen >= start_time
GROUP BY id`,
    params: {
      ids: open.map(({ id }) => id),
      workspaces: open.map(({ workspace }) => workspace),
      services: open.map(({ service_name }) => service_name),
      versions: open.map(({ service_version }) => service_version),
      environments: open.map(({ environment }) => environment),
      starts: open.map(({ start_time }) => start_time),
      first_start: Math.min(...open.map(({ start_time }) => start_time)),
      healthy_since: now - healthyMs,
    },
    signal,
  });
  return new Map(rows.map(({ id, instances }) => [id, instances]));
}

/** Looks at telemetry every `everyMs` (10 seconds) until it is stopped. A store that is away is waited for. */
export function startDeploymentProgress({
  log,
  now = Date.now,
  everyMs = 10_000,
  ...stores
}: DeploymentStores & { readonly log: Log; readonly now?: () => number; readonly everyMs?: number }): {
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  let failing = false;
  let round = Promise.resolve();
  let timer = setTimeout(begin, everyMs).unref();

  function begin(): void {
    round = look().finally(() => {
      if (!stopping.signal.aborted) timer = setTimeout(begin, everyMs).unref();
    });
  }

  async function look(): Promise<void> {
    try {
      await followTelemetry(stores, {}, now(), stopping.signal);
      failing = false;
    } catch (error) {
      if (stopping.signal.aborted) return;
      // Said once, however long it lasts; the stores themselves say that they are away.
      const expected = error instanceof StoreUnavailable || error instanceof QueryTimeout;
      if (!failing) log[expected ? "debug" : "error"]({ err: error }, "deployments could not be followed in telemetry");
      failing = true;
    }
  }

  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await round;
    },
  };
}
