import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createLog } from "../../core/log.ts";
import { connect } from "../connection.ts";
import type { Connection } from "../connection.ts";
import { startEngine } from "./engine.ts";
import type { Engine, EngineOptions } from "./engine.ts";

/** A directory that is removed when the test ends. */
export function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "vigil-engine-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** An engine in a directory of its own, with a connection to its default database; both are gone when the test ends. */
export async function engineForTests(
  t: TestContext,
  options: Partial<EngineOptions> = {},
): Promise<{ engine: Engine; connection: Connection; directory: string }> {
  const directory = options.directory ?? temporaryDirectory(t);
  const engine = await startEngine({ log: createLog("silent"), ...options, directory });
  const { url, username, password } = engine;
  const connection = connect({ url, username, password, database: "default" });
  t.after(async () => {
    await connection.close();
    await engine.close();
  });
  return { engine, connection, directory };
}

/** Resolves when `holds` is true. A condition that never comes true ends with the test's own time limit. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(20);
}
