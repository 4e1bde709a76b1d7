import type { Config } from "./config/load.ts";
import { OperatorError } from "./core/errors.ts";
import { createLog } from "./core/log.ts";
import { openStores } from "./open-stores.ts";

/**
 * Builds the rollups (what statistics and lists of services are answered from) again from the telemetry itself, and
 * says which days it did. With the embedded engine Vigil must not run meanwhile.
 */
export async function rebuildRollups(config: Config): Promise<string> {
  const stores = await openStores(config, createLog("silent"));
  try {
    const { status, detail } = stores.telemetry.state();
    if (status !== "ready") throw new OperatorError(detail ?? "The telemetry store is away.");
    const days = await stores.telemetry.rebuildRollups();
    return days.length === 0 ? "There is no telemetry yet; nothing to build.\n" : `Built again: ${days.join(", ")}.\n`;
  } finally {
    await stores.close();
  }
}
