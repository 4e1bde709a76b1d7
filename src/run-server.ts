import { createLog, prettyLines } from "./core/log.ts";
import type { Config } from "./config/load.ts";
import { serve } from "./serve.ts";
import type { Vigil } from "./serve.ts";

/** A terminal's Ctrl-C reaches us once itself and once more through npm; the echo within this time is no second wish. */
const echoMs = 400;
/** Whoever supervises us is told that we end within 10 s. */
const stopMs = 9_500;

/** Runs the server until a signal ends it. Exits 0 after a clean stop; at once on a second signal. */
export async function runServer(config: Config, version: string): Promise<void> {
  const terminal = process.stdout.isTTY;
  const log = createLog(config.logLevel, terminal ? prettyLines(process.stdout) : undefined);
  let vigil: Vigil | undefined;
  let asked: number | undefined;
  const starting = new AbortController();

  async function stop(signal: string): Promise<void> {
    if (asked !== undefined) {
      if (Date.now() - asked > echoMs) process.exit(1);
      return;
    }
    asked = Date.now();
    log.info({ signal }, "stopping");
    setTimeout(() => {
      log.error("the stop took too long; what is unfinished is left");
      process.exit(1);
    }, stopMs).unref();
    starting.abort();
    if (vigil) {
      await vigil.close();
      log.info("stopped");
      process.exit(0);
    }
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(signal));

  vigil = await serve(config, { log, version });
  if (starting.signal.aborted) {
    await vigil.close();
    process.exit(0);
  }
  const served = { ...vigil.addresses, data: config.dataDir };
  if (terminal) process.stdout.write(banner(served, version));
  else log.info({ ...served, version }, "ready");
}

function banner(served: Readonly<Record<string, string>>, version: string): string {
  const rows = Object.entries(served).map(([name, where]) => `  ${name.padEnd(15)}${where}`);
  return `\nVigil ${version} is ready.\n\n${rows.join("\n")}\n\nCtrl-C stops it.\n\n`;
}
