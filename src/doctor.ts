import { statfsSync } from "node:fs";
import { createServer } from "node:net";
import { totalmem } from "node:os";
import { styleText } from "node:util";
import type { Config } from "./config/load.ts";
import type { Address } from "./config/kinds.ts";
import { OperatorError } from "./core/errors.ts";
import { openDataDirectory } from "./state/data-directory.ts";
import { examinePostgres } from "./state/examine-postgres.ts";
import { examineServer } from "./telemetry/examine-server.ts";
import { engineLibrary } from "./telemetry/embedded/library.ts";

/** What a check found, as a sentence; it throws OperatorError where a person has to act. */
type Check = () => Promise<string> | string;

/**
 * Looks at this machine and at what the configuration names, changes nothing but makes the data directory, and prints
 * a line for each thing looked at. Returns the exit code: 1 where something is wrong.
 */
export async function examine(config: Config): Promise<number> {
  let wrong = 0;
  for (const [name, check] of checks(config)) {
    try {
      print("green", "✓", name, await check());
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      wrong++;
      print("red", "✗", name, error.message);
    }
  }
  process.stdout.write(
    wrong === 0 ? "\nAll is well.\n" : `\n${wrong} of these need${wrong === 1 ? "s" : ""} attention.\n`,
  );
  return wrong === 0 ? 0 : 1;
}

function print(colour: "green" | "red", mark: string, name: string, sentence: string): void {
  process.stdout.write(`${styleText(colour, mark)} ${name.padEnd(16)}${sentence}\n`);
}

function checks(config: Config): readonly (readonly [string, Check])[] {
  const { listen, grpcListen } = config;
  const clickhouse = config["stores.clickhouse.url"];
  const postgres = config["stores.postgres.url"];
  return [
    ["Node", () => `Version ${process.versions.node}.`],
    ["configuration", () => (config.configFile ? `Read from ${config.configFile}.` : "No file; the defaults hold.")],
    ["data directory", () => dataDirectory(config.dataDir)],
    ["disk", () => disk(config.dataDir)],
    ["memory", () => memory(clickhouse ? 0 : config["engine.memory"])],
    ["API", () => listenable(listen, "--listen")],
    ["OTLP/gRPC", () => (grpcListen ? listenable(grpcListen, "--grpc-listen") : "Off.")],
    ["hooks", () => listenable(config["gateway.listen"], "--hooks-listen")],
    [
      "telemetry",
      () =>
        clickhouse
          ? examineServer(clickhouse, config["stores.clickhouse.cluster"])
          : `The embedded engine, ${engineLibrary()}.`,
    ],
    [
      "state",
      () => (postgres ? examinePostgres(postgres) : `SQLite ${process.versions["sqlite"]} in the data directory.`),
    ],
  ];
}

function dataDirectory(path: string): string {
  openDataDirectory(path).close();
  return `${path} can be written, and no other Vigil uses it.`;
}

/** Less than this, and a busy day may fill the disk before retention notices. */
const scarceBytes = 2 * 2 ** 30;

function disk(path: string): string {
  const { bavail, blocks, bsize } = statfsSync(path);
  const free = bavail * bsize;
  const sentence = `${gigabytes(free)} free of ${gigabytes(blocks * bsize)}.`;
  if (free < scarceBytes)
    throw new OperatorError(
      `${sentence} Vigil wants at least ${gigabytes(scarceBytes)}; choose another disk with --data DIR.`,
    );
  return sentence;
}

/** What the server itself takes beside the engine, with room. */
const serverBytes = 512 * 2 ** 20;

function memory(engineBytes: number): string {
  const sentence = `${gigabytes(totalmem())} on this machine.`;
  if (totalmem() < engineBytes + serverBytes) {
    throw new OperatorError(
      `${sentence} Vigil may take ${gigabytes(engineBytes + serverBytes)}; lower engine.memory (VIGIL_ENGINE_MEMORY) to what is there.`,
    );
  }
  return sentence;
}

function listenable({ host, port }: Address, flag: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", ({ code }: NodeJS.ErrnoException) =>
      reject(
        new OperatorError(
          `${host}:${port} cannot be listened on (${code}). Stop what holds it, or choose another with ${flag}.`,
        ),
      ),
    );
    probe.listen(port, host, () => probe.close(() => resolve(`${host}:${port} is free.`)));
  });
}

const gigabytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(1)} GB`;
