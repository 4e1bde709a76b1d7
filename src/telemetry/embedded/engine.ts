import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { resolve as absolute } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { StoreState } from "../contract.ts";
import { engineLibrary } from "./library.ts";
import type { FromEngine, ToEngine } from "./messages.ts";

export interface EngineOptions {
  /** The engine's own directory; made where it is missing. */
  readonly directory: string;
  readonly log: Log;
  /** What queries, inserts and merges may take together; default 1.5 GiB. The process takes about 200 MB beside it. */
  readonly memoryLimitBytes?: number;
  /** Reads at a time; default 6. */
  readonly sessions?: number;
  /** How long to wait for a directory that another process holds; default 10 s. */
  readonly lockWaitMs?: number;
  /** How often the engine is asked for a sign of life; default 10 s. Six in a row without answer, and it is killed. */
  readonly probeEveryMs?: number;
  onChange?(state: StoreState): void;
}

export interface Engine {
  /** Stays the same when the engine is started again. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** Of the process at the moment; undefined while there is none. */
  readonly pid: number | undefined;
  state(): StoreState;
  /** Waits for what is being inserted, then ends the process. */
  close(): Promise<void>;
}

const username = "vigil";
const defaultMemory = 1536 * 1024 * 1024;
const defaultSessions = 6;
const defaultLockWaitMs = 10_000;
const lockRetryMs = 250;
const firstBackoffMs = 100;
const longestBackoffMs = 5_000;
/** One that has been up for this long is not failing over and over. */
const steadyMs = 10_000;
/** Tries to start, if it dies at the start without a word. */
const startTries = 3;
/** Loading many thousands of parts takes a while; past this it hangs. */
const openMs = 300_000;
const defaultProbeEveryMs = 10_000;
/** Unanswered probes after which the engine is taken for stuck: a minute by default, far beyond any busy spell. */
const probesMissed = 6;
const closeMs = 7_000;

type Refusal = Extract<FromEngine, { type: "refused" }>;

/** How a start went: the port it serves on, or why not. */
type Start =
  | { readonly port: number }
  | { readonly failure: "locked" | "port" | "refused" | "died"; readonly detail: string };

/**
 * Starts the embedded ClickHouse engine in a child process and keeps it running: when it dies it is started again, on
 * the same port and with the same password.
 *
 * @throws OperatorError where there is no engine for this machine, the directory is held by another process, or the
 *   engine cannot open it
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  engineLibrary();
  const supervisor = new Supervisor({ ...options, directory: absolute(options.directory) });
  await supervisor.start();
  return supervisor;
}

class Supervisor implements Engine {
  readonly username = username;
  readonly password = randomBytes(24).toString("base64url");
  readonly #options: EngineOptions;
  readonly #closing = new AbortController();
  #port = 0;
  #child: ChildProcess | undefined;
  #ended: Promise<string> = Promise.resolve("");
  /** The last lines that the process at the moment has printed. */
  #said: readonly string[] = [];
  #state: StoreState = { status: "starting", detail: "The telemetry engine is starting." };
  #supervision: Promise<void> = Promise.resolve();

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get pid(): number | undefined {
    return this.#child?.exitCode === null && this.#child.signalCode === null ? this.#child.pid : undefined;
  }

  state(): StoreState {
    return this.#state;
  }

  async start(): Promise<void> {
    const { directory, lockWaitMs = defaultLockWaitMs } = this.#options;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new OperatorError(
        `The telemetry directory ${directory} cannot be made (${(error as NodeJS.ErrnoException).code}).`,
      );
    }
    const began = Date.now();
    for (let tries = 1; ; tries++) {
      const start = await this.#launch();
      if ("port" in start) break;
      if (start.failure === "locked") {
        // An engine whose parent was killed needs a moment to notice.
        if (Date.now() - began < lockWaitMs) {
          await delay(lockRetryMs);
          continue;
        }
        throw new OperatorError(
          `The telemetry directory ${directory} is in use by another Vigil. Stop that one, or choose another directory.`,
        );
      }
      if (start.failure === "died" && tries < startTries) continue;
      throw new OperatorError(`The telemetry engine cannot open ${directory}: ${start.detail}`);
    }
    this.#supervision = this.#supervise();
  }

  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#closing.abort();
      this.#become({ status: "away", detail: "The telemetry engine has been stopped." });
      this.#tell({ type: "close" });
    }
    const child = this.#child;
    const late = setTimeout(() => {
      this.#options.log.warn("the telemetry engine took too long to stop and is killed");
      child?.kill("SIGKILL");
    }, closeMs);
    await this.#ended;
    clearTimeout(late);
    await this.#supervision;
  }

  /** Starts the engine again whenever it has ended, until it is closed. */
  async #supervise(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#closing;
    let backoff = firstBackoffMs;
    while (!signal.aborted) {
      const since = Date.now();
      let why = await this.#ended;
      if (Date.now() - since > steadyMs) backoff = firstBackoffMs;
      for (;;) {
        if (signal.aborted) return;
        log.error({ why, said: this.#said.slice(-5), retryInMs: backoff }, "the telemetry engine ended");
        this.#become({ status: "away", detail: `The telemetry engine ended (${why}) and is started again.` });
        await delay(backoff, undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
        backoff = Math.min(backoff * 2, longestBackoffMs);
        const start = await this.#launch();
        if ("port" in start) break;
        why = start.detail;
      }
      log.info("the telemetry engine is back");
    }
  }

  async #launch(): Promise<Start> {
    const { directory, log, memoryLimitBytes = defaultMemory, sessions = defaultSessions } = this.#options;
    const child = fork(fileURLToPath(new URL("child.ts", import.meta.url)), [], {
      // A group of its own: the terminal's Ctrl-C and Ctrl-Z are for the parent, which has rows to flush first.
      detached: true,
      cwd: directory,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [],
      // Each running query holds a thread of libuv's pool: the reads, the write, the one that stops others, and files.
      env: { UV_THREADPOOL_SIZE: String(sessions + 8), TZ: "UTC", NODE_COMPILE_CACHE: getCompileCacheDir() },
    });
    this.#child = child;
    this.#become({ status: "starting", detail: "The telemetry engine is starting." });

    const said: string[] = [];
    this.#said = said;
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on("line", (line) => {
        if (said.push(line.slice(0, 2000)) > 50) said.shift();
        log.debug({ engine: line }, "the telemetry engine said");
      });
    }
    const ended = new Promise<string>((resolve) => {
      child.on("error", (error) => resolve(error.message));
      // "close", not "exit": only then has all been read that it said.
      child.on("close", (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    this.#ended = ended;

    let refusal: Refusal | undefined;
    const ready = new Promise<Start>((resolve) => {
      child.on("message", (message: FromEngine) => {
        if (message.type === "refused") refusal = message;
        else if (message.type === "ready") resolve({ port: message.port });
      });
    });
    this.#tell({
      type: "open",
      directory,
      port: this.#port,
      username,
      password: this.password,
      memoryLimitBytes,
      sessions,
    });
    const slow = setTimeout(() => child.kill("SIGKILL"), openMs);
    const result = await Promise.race([ready, ended.then((why) => failedStart(why, said, refusal))]);
    clearTimeout(slow);
    if ("port" in result) {
      this.#port = result.port;
      log.debug({ enginePid: child.pid }, "the telemetry engine serves");
      this.#watch(child);
      if (this.#closing.signal.aborted) this.#tell({ type: "close" });
      else this.#become({ status: "ready" });
    }
    return result;
  }

  /** Kills an engine that has stopped answering; supervision then starts it again. */
  #watch(child: ChildProcess): void {
    const { log, probeEveryMs = defaultProbeEveryMs } = this.#options;
    let missed = 0;
    const timer = setInterval(() => {
      if (missed++ >= probesMissed) {
        log.error("the telemetry engine does not answer and is killed");
        child.kill("SIGKILL");
      } else this.#tell({ type: "probe" });
    }, probeEveryMs);
    child.on("message", (message: FromEngine) => {
      if (message.type === "probed") missed = 0;
    });
    child.on("close", () => clearInterval(timer));
  }

  #tell(message: ToEngine): void {
    // It may have died a moment ago; its end is noticed elsewhere.
    this.#child?.send(message, () => {});
  }

  #become(state: StoreState): void {
    this.#state = state;
    this.#options.onChange?.(state);
  }
}

function failedStart(why: string, said: readonly string[], refusal: Refusal | undefined): Start {
  // The driver keeps the engine's own words from its exception; they are on stderr.
  const words = said.findLast((line) => line.includes("DB::Exception"))?.replace(/^.*?(?=Code: \d+)/, "");
  if (words?.includes("Cannot lock file"))
    return { failure: "locked", detail: "its directory is in use by another process" };
  if (refusal?.portTaken) return { failure: "port", detail: refusal.message };
  if (refusal) return { failure: "refused", detail: words ?? refusal.message };
  return { failure: "died", detail: words ?? said.findLast((line) => /Error\b/.test(line)) ?? why };
}
