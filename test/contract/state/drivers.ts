import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../../src/core/log.ts";
import { openState } from "../../../src/state/open-state.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { startPostgres } from "./postgres.ts";
import type { TestPostgres } from "./postgres.ts";

/** Where a state store is; `openState` and the child processes of the tests take it. */
export interface Place {
  readonly directory: string;
  readonly postgresUrl?: string;
}

/** One home of the state store, for suites that must hold in both. */
export interface TestDriver {
  readonly name: "sqlite" | "postgres";
  /** An empty place that nobody else uses. */
  fresh(): Promise<Place>;
  /** Closes and removes everything that this made. */
  close(): Promise<void>;
}

export const silent = createLog("silent");

export function openAt(place: Place): Promise<StateStore> {
  return openState({ ...place, log: silent });
}

export async function sqliteDriver(): Promise<TestDriver> {
  const directories: string[] = [];
  return {
    name: "sqlite",
    async fresh() {
      const directory = mkdtempSync(join(tmpdir(), "vigil-state-"));
      directories.push(directory);
      return { directory };
    },
    async close() {
      for (const directory of directories) rmSync(directory, { recursive: true });
    },
  };
}

export async function postgresDriver(): Promise<TestDriver & { readonly server: TestPostgres }> {
  const server = await startPostgres();
  return {
    name: "postgres",
    server,
    fresh: async () => ({ directory: "/nonexistent", postgresUrl: await server.createDatabase() }),
    close: () => server.stop(),
  };
}

/** Resolves once `check` gives something; the runner's time limit ends a wait that is in vain. */
export async function until<T>(check: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const result = await check();
    if (result !== undefined && result !== false) return result;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
