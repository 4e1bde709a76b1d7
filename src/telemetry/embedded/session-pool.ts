import { randomUUID } from "node:crypto";
import { asEngineError, engineError } from "./engine-error.ts";
import { quoteText, readStatement } from "./statement.ts";

/** What is used of chdb's Session. */
export interface EngineSession {
  queryAsync(sql: string, options: { format: string }): Promise<EngineAnswer>;
  close(): void;
}

export interface EngineAnswer {
  readonly elapsed: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
  bytes(): Uint8Array;
}

export interface Execution {
  /** One statement. */
  readonly sql: string;
  readonly format: string;
  readonly database: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Values as ClickHouse's HTTP interface takes them (`param_x`, escaped as in TSV). */
  readonly params: Readonly<Record<string, string>>;
  /** Stops the query where it is, waiting or running. */
  readonly signal?: AbortSignal;
}

export interface PoolOptions {
  open(): EngineSession;
  readonly size: number;
  /** Settings of every query that does not name them itself. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Queries that may wait for a session; more are refused. */
  readonly maxWaiting: number;
  /** Longest wait for a session, in milliseconds. */
  readonly maxWaitMs: number;
}

interface Slot {
  session: EngineSession;
  /** Undefined where it is not known. */
  database: string | undefined;
}

interface Waiter {
  take(slot: Slot): void;
  leave(error: Error): void;
}

/** The engine checks its own time limit between blocks only; this long after it, the query is killed. */
const overtimeMs = 2_000;
/** A KILL that comes before the query is on the engine's list finds nothing, so it is repeated. */
const killAgainMs = 100;

/**
 * Sessions of the embedded engine, each running one query at a time. Every query of a pool meets the same session as
 * the first one did: what it sets is set anew by the next, or the session is replaced.
 */
export class SessionPool {
  readonly #options: PoolOptions;
  readonly #control: EngineSession;
  readonly #free: Slot[] = [];
  readonly #waiting: Waiter[] = [];
  #busy = 0;
  #closed: (() => void) | undefined;

  /** `control` is the session that stops queries; it may be shared between pools. */
  constructor(control: EngineSession, options: PoolOptions) {
    this.#control = control;
    this.#options = options;
    for (let i = 0; i < options.size; i++) this.#free.push(this.#open());
  }

  /** @throws EngineError; the signal's reason when it is aborted while waiting */
  async run(execution: Execution): Promise<EngineAnswer> {
    const { sql, params } = execution;
    const { verb, several, placeholders } = readStatement(sql);
    if (several) throw engineError(62, "SYNTAX_ERROR", "Multi-statements are not allowed");
    if (sql.includes("\0")) throw engineError(62, "SYNTAX_ERROR", "The statement holds a NUL character");
    // A parameter of an earlier query would stand in silently for one that this one forgot.
    const missing = verb === "CREATE" ? undefined : [...placeholders].find((name) => !Object.hasOwn(params, name));
    if (missing) throw engineError(456, "UNKNOWN_QUERY_PARAMETER", `Substitution \`${missing}\` is not set.`);
    const slot = await this.#acquire(execution.signal);
    let spoilt = verb === "SET" || verb === "USE" || /\btemporary\b/i.test(sql);
    try {
      spoilt ||= Object.keys(execution.settings).some((name) => !Object.hasOwn(this.#options.defaults, name));
      const answer = await this.#runOn(slot, execution);
      slot.database = execution.database;
      return answer;
    } catch (error) {
      slot.database = undefined;
      throw asEngineError(error);
    } finally {
      this.#release(spoilt ? this.#replace(slot) : slot);
    }
  }

  /** Refuses what waits and resolves when what runs has ended. */
  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => (this.#closed = resolve));
    for (const waiter of this.#waiting.splice(0)) waiter.leave(stopping());
    if (this.#busy === 0) this.#closed?.();
    await ended;
    for (const { session } of this.#free) session.close();
  }

  async #runOn(slot: Slot, { sql, format, database, settings, params, signal }: Execution): Promise<EngineAnswer> {
    const all = { ...this.#options.defaults, ...settings };
    const assignments = [
      ...Object.entries(all).map(([name, value]) => `${name} = ${quoteText(value)}`),
      ...Object.entries(params).map(([name, value]) => `param_${name} = ${quoteText(value)}`),
    ];
    const marker = `/* vigil ${randomUUID()} */`;
    const text = [
      ...(slot.database === database ? [] : [`USE ${quoteName(database)}`]),
      ...(assignments.length > 0 ? [`SET ${assignments.join(", ")}`] : []),
      `${marker} ${sql}`,
    ].join(";\n");

    let late = false;
    let timer: NodeJS.Timeout | undefined;
    const stop = (): void => {
      clearTimeout(timer);
      void this.#control
        .queryAsync(`KILL QUERY WHERE startsWith(query, ${quoteText(marker)}) ASYNC`, { format: "Null" })
        .catch(() => {});
      timer = setTimeout(stop, killAgainMs);
    };
    const limit = Number(all.max_execution_time);
    if (limit > 0) {
      timer = setTimeout(
        () => {
          late = true;
          stop();
        },
        limit * 1000 + overtimeMs,
      );
    }
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await slot.session.queryAsync(text, { format });
    } catch (error) {
      if (late) throw engineError(159, "TIMEOUT_EXCEEDED", `Timeout exceeded: maximum: ${limit * 1000} ms.`);
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  }

  #acquire(signal: AbortSignal | undefined): Promise<Slot> {
    if (this.#closed) return Promise.reject(stopping());
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    const slot = this.#free.pop();
    if (slot) {
      this.#busy++;
      return Promise.resolve(slot);
    }
    if (this.#waiting.length >= this.#options.maxWaiting) return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      const settled = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      const waiter: Waiter = {
        take: (freed) => {
          settled();
          resolve(freed);
        },
        leave: (error) => {
          settled();
          const place = this.#waiting.indexOf(waiter);
          if (place >= 0) this.#waiting.splice(place, 1);
          reject(error);
        },
      };
      const abort = (): void => waiter.leave(signal?.reason as Error);
      const timer = setTimeout(() => waiter.leave(tooMany()), this.#options.maxWaitMs);
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #release(slot: Slot): void {
    const next = this.#waiting.shift();
    if (next) {
      next.take(slot);
      return;
    }
    this.#free.push(slot);
    this.#busy--;
    if (this.#busy === 0) this.#closed?.();
  }

  #open(): Slot {
    return { session: this.#options.open(), database: undefined };
  }

  #replace(slot: Slot): Slot {
    slot.session.close();
    return this.#open();
  }
}

function quoteName(name: string): string {
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}

function tooMany(): Error {
  return engineError(202, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many queries wait for the embedded engine.");
}

function stopping(): Error {
  return engineError(236, "ABORTED", "The embedded engine is stopping.");
}
