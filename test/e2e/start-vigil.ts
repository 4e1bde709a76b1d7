import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

export interface StartOptions {
  /** Default: a new temporary directory that `stop` removes. */
  readonly data?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** The product as a process of its own, on free ports. */
export interface RunningVigil {
  /** http://127.0.0.1:port */
  readonly url: string;
  /** 127.0.0.1:port of OTLP/gRPC */
  readonly grpc: string;
  readonly data: string;
  readonly process: ChildProcess;
  /** The log lines so far, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** SIGTERM, unless it has ended; removes the data directory where it was made here. Resolves to the exit code. */
  stop(): Promise<number | null>;
}

/** Runs the command line to its end. */
export async function runVigil(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [main, ...args], { env: cleanEnv(env), stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

/** Starts Vigil and resolves when it says that it is ready. */
export async function startVigil(options: StartOptions = {}): Promise<RunningVigil> {
  const data = options.data ?? mkdtempSync(join(tmpdir(), "vigil-e2e-"));
  const args = [
    "serve",
    "--data",
    data,
    "--listen",
    "127.0.0.1:0",
    "--grpc-listen",
    "127.0.0.1:0",
    ...(options.args ?? []),
  ];
  const child = spawn(process.execPath, [main, ...args], {
    env: cleanEnv(options.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const log: Record<string, unknown>[] = [];
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  // A test process that ends early takes what it started along.
  const killLate = () => child.kill("SIGKILL");
  process.once("exit", killLate);

  const ready = await new Promise<Record<string, string>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      log.push(entry);
      if (entry["msg"] === "ready") resolve(entry as Record<string, string>);
    });
    void ended.then(([code]) => reject(new Error(`Vigil ended with ${code} before it was ready: ${stderr}`)));
  });

  return {
    url: ready["OTLP/HTTP"]!,
    grpc: ready["OTLP/gRPC"]!,
    data,
    process: child,
    log,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      const [code] = (await ended) as [number | null];
      process.off("exit", killLate);
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
      return code;
    },
  };
}

/** The environment without what would configure Vigil by accident. */
function cleanEnv(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("VIGIL_") && name !== "NODE_TEST_CONTEXT",
  );
  return { ...Object.fromEntries(own), ...extra };
}
