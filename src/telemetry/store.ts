import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { OperatorError, StoreUnavailable } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { LogBlock } from "./blocks/log-block.ts";
import { MetricBlock } from "./blocks/metric-block.ts";
import { SpanBlock } from "./blocks/span-block.ts";
import { connect } from "./connection.ts";
import type { Connection } from "./connection.ts";
import type { Query, StoreState, TelemetryBlocks, TelemetryStore, TelemetryWriter } from "./contract.ts";
import { startEngine } from "./embedded/engine.ts";
import type { Engine } from "./embedded/engine.ts";
import { migrate } from "./migrations.ts";
import type { Lock, Sql } from "./migrations.ts";
import { expire, readDiskSpace, startRetention } from "./retention.ts";
import type { DiskSpace, Dropped, Retention } from "./retention.ts";
import { rebuildRollups } from "./rollups.ts";
import { createSequence } from "./sequence.ts";
import { parseServer, prepareDatabase } from "./server.ts";
import type { Server } from "./server.ts";
import { createWriter } from "./writer.ts";
import type { GroupCommitWriter, WriterLimits } from "./writer.ts";

export interface TelemetryOptions {
  /** Vigil's data directory; the embedded engine keeps its files in `telemetry` below it. */
  readonly directory: string;
  /** A ClickHouse server's address, with user, password and database (`/name`) where they differ from the defaults; empty: embedded. */
  readonly clickhouseUrl?: string;
  /** The cluster's name in that server's configuration; empty: that server alone. */
  readonly cluster?: string;
  readonly retention: Retention;
  /** Most memory that the embedded engine may take. */
  readonly engineMemoryBytes?: number;
  readonly writer?: Partial<WriterLimits>;
  /** One node at a time: migrations, retention, rebuilding. */
  readonly lock: Lock;
  readonly log: Log;
  /** Measures the disk in the engine's stead. */
  readonly diskSpace?: () => Promise<DiskSpace | undefined>;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export interface Telemetry extends TelemetryStore {
  /** Builds service_activity again from the telemetry; returns the days, YYYY-MM-DD. */
  rebuildRollups(): Promise<readonly string[]>;
  /** One round of retention, as the timer does once a minute. */
  expire(): Promise<readonly Dropped[]>;
}

/** How long the store waits before it looks again for a server that is away. */
const lookAgainMs = 250;

/**
 * Starts the embedded engine or connects to the server, and brings the schema up to date. A server that does not
 * answer is looked for in the background, its schema migrated when it comes; until then the store is away.
 *
 * @throws OperatorError where a person has to act: a wrong password, a server that is too old, a directory in use, …
 */
export async function openTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { directory, clickhouseUrl, cluster, engineMemoryBytes, log } = options;
  if (clickhouseUrl) return openStore(options, parseServer(clickhouseUrl, cluster));
  if (cluster)
    throw new OperatorError(
      "stores.clickhouse.cluster needs stores.clickhouse.url: the embedded engine has no cluster.",
    );
  const engine = await startEngine({
    directory: join(directory, "telemetry"),
    log,
    memoryLimitBytes: engineMemoryBytes,
  });
  const { url, username, password } = engine;
  return openStore(options, { url, username, password, layout: { database: "vigil" } }, engine);
}

async function openStore(options: TelemetryOptions, server: Server, engine?: Engine): Promise<Telemetry> {
  const store = new ClickHouseStore(options, server, engine);
  try {
    await store.start();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

class ClickHouseStore implements Telemetry {
  readonly writer: TelemetryWriter;
  readonly #options: TelemetryOptions;
  readonly #server: Server;
  readonly #engine: Engine | undefined;
  readonly #connection: Connection;
  readonly #writer: GroupCommitWriter<TelemetryBlocks>;
  readonly #closing = new AbortController();
  #state: StoreState = { status: "starting", detail: "The telemetry store is being opened." };
  /** Why the store is away, as it was logged. */
  #problem: string | undefined;
  #prepared = false;
  #watching = false;
  #stopRetention: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: TelemetryOptions, server: Server, engine: Engine | undefined) {
    this.#options = options;
    this.#server = server;
    this.#engine = engine;
    const { url, username, password, layout } = server;
    this.#connection = connect({ url, username, password, database: layout.database, cluster: layout.cluster });
    this.#writer = createWriter<TelemetryBlocks>({
      blocks: { spans: () => new SpanBlock(), logs: () => new LogBlock(), metric_points: () => new MetricBlock() },
      insert: (table, body, block) => {
        const columns = block.columns.map((column) => column.name);
        return this.#noticing(this.#connection.insertNative(table, columns, body));
      },
      admit: () => this.#assertReady(),
      sequence: createSequence(options.now),
      log: options.log,
      limits: options.writer,
      now: options.now,
    });
    this.writer = this.#writer;
  }

  /** Resolves when the store is ready, or away and being looked for. */
  async start(): Promise<void> {
    try {
      await this.#prepare();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      this.#setAway(error);
      this.#watch();
    }
  }

  state(): StoreState {
    const engine = this.#engine?.state();
    return engine && engine.status !== "ready" ? engine : this.#state;
  }

  rows<T>(query: Query): Promise<T[]> {
    return this.#whenReady(() => this.#connection.rows<T>(query));
  }

  bytes(query: Query): Promise<Buffer> {
    return this.#whenReady(() => this.#connection.bytes(query));
  }

  rebuildRollups(): Promise<readonly string[]> {
    const { layout } = this.#server;
    const { now } = this.#options;
    return this.#exclusively((sql) => rebuildRollups({ sql, layout, hold: this.#writer.hold, now }));
  }

  expire(): Promise<readonly Dropped[]> {
    const { layout } = this.#server;
    const { retention, log, now } = this.#options;
    return this.#exclusively((sql) => {
      const diskSpace = this.#options.diskSpace ?? (() => readDiskSpace(sql, layout));
      return expire({ sql, layout, retention, diskSpace, log, now });
    });
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    this.#stopRetention?.();
    await this.#writer.close();
    // A search for the server, or work that waits for its turn among the nodes, ends by itself at its next statement.
    await this.#connection.close();
    await this.#engine?.close();
  }

  /** Makes the database and its schema what they have to be; from then on the store is ready. */
  async #prepare(): Promise<void> {
    const { lock, log } = this.#options;
    const server = this.#server;
    // Vigil's own database may not be there yet, and a connection whose database is missing is refused.
    const { url, username, password } = server;
    const bare = connect({ url, username, password, database: "default" });
    try {
      await prepareDatabase(bare, server);
    } catch (error) {
      if (error instanceof StoreUnavailable || error instanceof OperatorError) throw error;
      throw new OperatorError(`ClickHouse at ${url} refused Vigil: ${(error as Error).message}`);
    } finally {
      await bare.close();
    }
    this.#state = { status: "starting", detail: "The telemetry store's schema is being brought up to date." };
    await migrate(this.#connection, server.layout, { lock, log });
    if (this.#closing.signal.aborted) return;
    this.#prepared = true;
    this.#state = { status: "ready" };
    this.#stopRetention ??= startRetention(async () => {
      try {
        if (this.state().status === "ready") await this.expire();
      } catch (error) {
        if (!this.#closing.signal.aborted) throw error;
      }
    }, log);
  }

  /** Looks for the store until it answers, in the background. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    void this.#lookAgain().finally(() => {
      this.#watching = false;
    });
  }

  async #lookAgain(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const { status } = this.#state;
      try {
        if (this.#prepared) await this.#connection.ping();
        else await this.#prepare();
        if (signal.aborted) return;
        this.#state = { status: "ready" };
        this.#problem = undefined;
        if (status === "away") log.info("the telemetry store is back");
        return;
      } catch (error) {
        if (!signal.aborted) this.#setAway(error as Error);
      }
      await delay(lookAgainMs, undefined, { signal }).catch(() => {});
    }
  }

  #setAway(error: Error): void {
    if (this.#problem !== error.message) this.#options.log.warn({ err: error }, "the telemetry store is away");
    this.#problem = error.message;
    this.#state = { status: "away", detail: error.message };
  }

  #assertReady(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable("Vigil is shutting down.");
    const { status, detail } = this.state();
    if (status !== "ready") throw new StoreUnavailable(detail ?? "The telemetry store is away.");
  }

  async #whenReady<T>(work: () => Promise<T>): Promise<T> {
    this.#assertReady();
    return this.#noticing(work());
  }

  /** Runs work on the tables that no other node may do at the same time. It ends at its next statement when the store closes. */
  #exclusively<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const guard: Sql = {
      rows: (query) => this.rows(query),
      command: (sql, params) => this.#whenReady(() => this.#connection.command(sql, params)),
    };
    return this.#options.lock(() => work(guard));
  }

  /** A store that could not take or answer something may be gone: see whether it still answers at all. */
  async #noticing<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof StoreUnavailable && !this.#closing.signal.aborted) this.#watch();
      throw error;
    }
  }
}
