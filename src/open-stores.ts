import type { Config } from "./config/load.ts";
import type { Log } from "./core/log.ts";
import { openDataDirectory } from "./state/data-directory.ts";
import { openState } from "./state/open-state.ts";
import type { StateStore } from "./state/store.ts";
import { openTelemetry } from "./telemetry/store.ts";
import type { Telemetry } from "./telemetry/store.ts";

export interface Stores {
  readonly state: StateStore;
  readonly telemetry: Telemetry;
  /** Stores what waits, then closes both and lets go of the data directory. */
  close(): Promise<void>;
}

/**
 * The ground floor: the data directory, the state store, the telemetry store.
 *
 * @throws OperatorError where a person has to act; what was opened by then is closed again
 */
export async function openStores(config: Config, log: Log): Promise<Stores> {
  const directory = openDataDirectory(config.dataDir);
  let state: StateStore | undefined;
  try {
    const opened = await openState({ directory: directory.path, postgresUrl: config["stores.postgres.url"], log });
    state = opened;
    const telemetry = await openTelemetry({
      directory: directory.path,
      clickhouseUrl: config["stores.clickhouse.url"],
      cluster: config["stores.clickhouse.cluster"],
      engineMemoryBytes: config["engine.memory"],
      retention: {
        logs: config["retention.logs"],
        traces: config["retention.traces"],
        metrics: config["retention.metrics"],
        minFreeDisk: config["retention.minFreeDisk"],
      },
      writer: { maxWaitingBytes: config["ingest.maxWaitingBytes"] },
      lock: (work) => opened.withLock("telemetry", work),
      log,
    });
    return {
      state: opened,
      telemetry,
      async close() {
        await telemetry.close();
        await opened.close();
        directory.close();
      },
    };
  } catch (error) {
    await state?.close();
    directory.close();
    throw error;
  }
}
