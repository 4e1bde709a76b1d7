import { ClickHouseError, ClickHouseLogLevel, createClient } from "@clickhouse/client";
import type { ClickHouseClient, ClickHouseSettings } from "@clickhouse/client";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { addAbortSignal, Readable } from "node:stream";
import { QueryTimeout, StoreUnavailable } from "../core/errors.ts";
import type { Query, TelemetryReader } from "./contract.ts";

export interface ConnectOptions {
  /** `http://` or `https://`, with a path where a proxy wants one. */
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  /** The current database of every statement. */
  readonly database: string;
  /** Inserts then go through Distributed tables, and return once the shards have them. */
  readonly cluster?: string;
  /** Reads and commands at a time, and as many inserts; more wait. Default 16. */
  readonly maxConnections?: number;
  /** Most memory that one read may take in the engine; default 768 MiB. */
  readonly maxQueryMemoryBytes?: number;
}

/**
 * SQL over ClickHouse's HTTP interface, be it the embedded engine's or a server's. Everything it does ends in bounded
 * time. Throws StoreUnavailable where the same call may succeed later, QueryTimeout where a read took too long, the
 * client's own ClickHouseError (with `code` and `type`) for the rest, and the signal's reason for what was aborted.
 */
export interface Connection extends TelemetryReader {
  /** Runs a statement that answers nothing. `maxSeconds`: default 600. */
  command(sql: string, params?: Query["params"], options?: { readonly maxSeconds?: number }): Promise<void>;
  /** Inserts blocks in ClickHouse's Native format. Resolves once they are stored. */
  insertNative(table: string, columns: readonly string[], body: Buffer | readonly Buffer[]): Promise<void>;
  /** Resolves where something answers at the URL. Says nothing of the password. */
  ping(): Promise<void>;
  /** Drops idle sockets. What runs goes on. */
  close(): Promise<void>;
}

const readSeconds = 30;
const commandSeconds = 600;
const insertSeconds = 60;
const pingMs = 5_000;
const connectMs = 5_000;
/** What a request may take beyond the engine's own limit: its turn in the engine's queue, and the way back. */
const graceMs = 20_000;

export function connect(options: ConnectOptions): Connection {
  const { cluster, maxQueryMemoryBytes = 768 * 1024 * 1024 } = options;
  const client = openClient(options);
  // Sockets of their own, so that slow reads cannot keep rows from being stored.
  const insertClient = openClient(options);

  async function bytes(query: Query): Promise<Buffer> {
    const { sql, params, maxSeconds = readSeconds, signal } = query;
    const settings: ClickHouseSettings = {
      max_execution_time: maxSeconds,
      max_memory_usage: String(maxQueryMemoryBytes),
      // Lets a server cancel what nobody waits for any more, which it does to read-only queries alone.
      readonly: "2",
      cancel_http_readonly_queries_on_client_close: 1,
      output_format_json_quote_64bit_integers: 0,
      output_format_json_escape_forward_slashes: 0,
    };
    const read = (): Promise<Buffer> =>
      within(maxSeconds * 1000 + graceMs, signal, (abort) => execute(client, { query: sql, params, settings, abort }));
    try {
      // A socket kept from before the engine's restart is found dead only when it is used.
      return await read().catch((error: unknown) => (isReset(error) ? read() : Promise.reject(error)));
    } catch (error) {
      throw translate(error);
    }
  }

  return {
    bytes,

    async rows<T>(query: Query): Promise<T[]> {
      const answer = await bytes({ ...query, sql: `${query.sql}\nFORMAT JSONEachRow` });
      return answer
        .toString("utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as T);
    },

    async command(sql, params, { maxSeconds = commandSeconds } = {}) {
      const settings = { max_execution_time: maxSeconds };
      try {
        await within(maxSeconds * 1000 + graceMs, undefined, (abort) =>
          execute(client, { query: sql, params, settings, abort }),
        );
      } catch (error) {
        throw translate(error);
      }
    },

    async insertNative(table, columns, body) {
      const query = `INSERT INTO ${quoteName(table)} (${columns.map(quoteName).join(", ")}) FORMAT Native`;
      const settings: ClickHouseSettings = {
        max_execution_time: insertSeconds,
        // Either would answer before the rows are stored.
        async_insert: 0,
        ...(cluster ? { distributed_foreground_insert: 1 } : {}),
      };
      try {
        await within(insertSeconds * 1000 + graceMs, undefined, (abort) =>
          execute(insertClient, {
            query,
            settings,
            abort,
            values: Readable.from(Buffer.isBuffer(body) ? [body] : body),
          }),
        );
      } catch (error) {
        const translated = translate(error);
        throw translated instanceof QueryTimeout ? unavailable("Storing the rows took too long.", error) : translated;
      }
    },

    async ping() {
      try {
        const result = await within(pingMs, undefined, (abort) =>
          insertClient.ping({ select: false, abort_signal: abort }),
        );
        if (!result.success) throw result.error;
      } catch (error) {
        throw translate(error);
      }
    },

    async close() {
      await Promise.all([client.close(), insertClient.close()]);
    },
  };
}

function openClient({ url, username, password, database, maxConnections = 16 }: ConnectOptions): ClickHouseClient {
  const { protocol, hostname } = new URL(url);
  const sockets = { keepAlive: true, maxSockets: maxConnections };
  return createClient({
    url,
    username,
    password,
    database,
    application: "vigil",
    http_agent: limitConnecting(protocol === "https:" ? new HttpsAgent(sockets) : new HttpAgent(sockets)),
    // Each call has a limit of its own; this one only must not come first.
    request_timeout: 24 * 3600 * 1000,
    compression: { request: false, response: !["127.0.0.1", "localhost", "[::1]"].includes(hostname) },
    // Node's agent itself lets go of an idle socket before the server does, as that says in its Keep-Alive header. The
    // client's own timer (a limit over 0) is not cleared where a request is aborted before it has its socket, and then
    // ends whatever uses that socket next.
    keep_alive: { enabled: true, idle_socket_ttl: 0 },
    log: { level: ClickHouseLogLevel.OFF },
  });
}

interface Request {
  readonly query: string;
  readonly params?: Query["params"];
  readonly settings: ClickHouseSettings;
  readonly abort: AbortSignal;
  readonly values?: Readable;
}

async function execute(client: ClickHouseClient, { query, params, settings, abort, values }: Request): Promise<Buffer> {
  const { stream } = await client.exec({
    query,
    query_params: params,
    // A server that streams its answer reports an error in the middle of it, after a status of 200.
    clickhouse_settings: { ...settings, wait_end_of_query: 1 },
    abort_signal: abort,
    ...(values ? { values } : {}),
  });
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(abort, stream)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Aborts `run` after `ms`, or with `signal`, and then throws what ended it. */
async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  run: (abort: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort(new Aborted(signal?.reason));
  const timer = setTimeout(
    () => controller.abort(unavailable(`The telemetry store did not answer within ${ms / 1000} s.`)),
    ms,
  );
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await run(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** Carries a caller's reason past the translation of errors. */
class Aborted extends Error {
  readonly reason: unknown;
  constructor(reason: unknown) {
    super("aborted");
    this.reason = reason;
  }
}

/** ClickHouse's error codes after which the same statement may succeed (src/Common/ErrorCodes.cpp). */
const passing: ReadonlyMap<string, string> = new Map([
  ["173", "it has no memory left"],
  ["241", "it has no memory left"],
  ["243", "its disk is full"],
  ["252", "it has too many parts to merge"],
  ["202", "it has too many queries to run"],
  ["745", "it has too many queries to run"],
  ["439", "it has too many queries to run"],
  ["203", "it cannot reach its other servers"],
  ["209", "it cannot reach its other servers"],
  ["210", "it cannot reach its other servers"],
  ["279", "it cannot reach its other servers"],
  ["285", "it has too few replicas alive"],
  ["286", "it has too few replicas alive"],
  ["319", "it cannot tell whether the rows were stored"],
  ["225", "it cannot reach its Keeper"],
  ["242", "its table is read-only for now"],
  ["244", "it cannot reach its Keeper"],
  ["999", "it cannot reach its Keeper"],
  ["236", "it is stopping"],
  ["394", "it stopped the query"],
]);
const timeouts: ReadonlySet<string> = new Set(["159", "160"]);

function translate(error: unknown): unknown {
  if (error instanceof Aborted) return error.reason;
  if (error instanceof StoreUnavailable || error instanceof TypeError || error instanceof RangeError) return error;
  if (!(error instanceof ClickHouseError)) {
    return unavailable(
      `The telemetry store cannot be reached (${(error as NodeJS.ErrnoException).code ?? String(error).slice(0, 200)}).`,
      error,
    );
  }
  if (timeouts.has(error.code))
    return Object.assign(new QueryTimeout("The query took longer than it may."), { cause: error });
  const reason = passing.get(error.code);
  return reason ? unavailable(`The telemetry store cannot answer at the moment: ${reason}.`, error) : error;
}

function unavailable(message: string, cause?: unknown): StoreUnavailable {
  return Object.assign(new StoreUnavailable(message), { cause });
}

function isReset(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "ECONNRESET" || code === "EPIPE";
}

/** A host that drops packets would otherwise be waited for minutes. */
function limitConnecting<A extends HttpAgent>(agent: A): A {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = create(options, callback);
    const timer = setTimeout(() => {
      socket?.destroy(Object.assign(new Error("No connection in time."), { code: "ETIMEDOUT" }));
    }, connectMs);
    for (const event of ["connect", "close"]) socket?.once(event, () => clearTimeout(timer));
    return socket;
  };
  return agent;
}

function quoteName(name: string): string {
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}
