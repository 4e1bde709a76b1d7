import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { asEngineError, engineError, statusOf } from "./engine-error.ts";
import type { Incoming } from "./incoming.ts";
import type { EngineAnswer, Execution, SessionPool } from "./session-pool.ts";
import { quoteText, readStatement } from "./statement.ts";

export interface HttpInterfaceOptions {
  readonly username: string;
  readonly password: string;
  readonly reads: SessionPool;
  /** Inserts of rows that come in the body. */
  readonly writes: SessionPool;
  readonly incoming: Incoming;
}

/** SQL text past this is refused; the engine itself parses no more than `max_query_size` (256 KiB) of it. */
const maxSqlBytes = 1 << 20;
/** Parameters travel in the request line. */
const maxHeaderBytes = 1 << 20;
/** Longer than clients keep an idle socket, so that it is never the server that closes one just reused. */
const keepAliveMs = 65_000;

/** What ClickHouse's HTTP interface knows besides settings. */
const ownParameters: ReadonlySet<string> = new Set([
  "query",
  "database",
  "default_format",
  "query_id",
  // What follows changes nothing here: answers are sent whole, once the query has ended, and never compressed.
  "wait_end_of_query",
  "buffer_size",
  "enable_http_compression",
  "http_zlib_compression_level",
  "send_progress_in_http_headers",
  "http_headers_progress_interval_ms",
  "cancel_http_readonly_queries_on_client_close",
]);
/** Leaving these unheeded would answer something else than what was asked for. */
const unsupportedParameters: ReadonlySet<string> = new Set([
  "session_id",
  "role",
  "compress",
  "decompress",
  "user",
  "password",
  "quota_key",
]);

/** Stopped when their client has gone: nobody sees their answer, and they change nothing. */
const readVerbs: ReadonlySet<string> = new Set(["SELECT", "WITH", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "EXISTS"]);

/** ClickHouse's HTTP interface (GET /ping, GET and POST / with a query), as far as its official client uses it. */
export function createHttpInterface(options: HttpInterfaceOptions): Server {
  return createServer({ maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveMs }, (request, response) => {
    void serve(request, response, options);
  });
}

async function serve(request: IncomingMessage, response: ServerResponse, options: HttpInterfaceOptions): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("The client has gone.")));
  try {
    const url = new URL(request.url ?? "/", "http://engine");
    if (url.pathname === "/ping" && request.method === "GET") {
      send(response, 200, "Ok.\n");
      return;
    }
    if (!isAuthentic(request, options)) {
      throw engineError(
        516,
        "AUTHENTICATION_FAILED",
        "Authentication failed: password is incorrect, or there is no user with such name.",
      );
    }
    if (url.pathname !== "/") {
      send(response, 404, "There is no handle for this path.\n");
      return;
    }
    if (request.method !== "POST" && request.method !== "GET") {
      send(response, 405, "Use GET or POST.\n", { Allow: "GET, POST" });
      return;
    }
    const queryId = url.searchParams.get("query_id") ?? randomUUID();
    response.setHeader("X-ClickHouse-Query-Id", queryId.replaceAll(/[^\x21-\x7e]/g, "?"));
    await answer(request, response, url.searchParams, gone.signal, options);
  } catch (error) {
    if (!gone.signal.aborted) sendError(request, response, error);
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  search: URLSearchParams,
  gone: AbortSignal,
  { reads, writes, incoming }: HttpInterfaceOptions,
): Promise<void> {
  if (request.headers["content-encoding"])
    throw engineError(48, "NOT_IMPLEMENTED", "Compressed requests are not supported.");
  const { settings, params } = readSearch(search);
  // Kept from the engine, whose session would be read-only for good, and done here by the statement's verb.
  const readonly = request.method === "GET" || (settings.readonly ?? "0") !== "0";
  delete settings.readonly;
  const inUrl = search.get("query");
  const statement = inUrl === null ? undefined : readStatement(inUrl);
  const execution = {
    settings,
    params,
    format:
      search.get("default_format") ?? (request.headers["x-clickhouse-format"] as string | undefined) ?? "TabSeparated",
    database: search.get("database") ?? (request.headers["x-clickhouse-database"] as string | undefined) ?? "default",
  };

  if (inUrl !== null && statement?.data && !readonly) {
    if (statement.data.inline) throw inlineRows();
    const rows = await incoming.receive(request);
    try {
      if (rows.byteLength === 0) throw engineError(108, "NO_DATA_TO_INSERT", "No data to insert");
      const sql = statement.data.from(`FROM INFILE ${quoteText(rows.path)}`);
      // Not stopped when the client goes: whether its rows were stored would be left to chance.
      const result = await writes.run({ ...execution, sql });
      sendAnswer(response, result, { written_rows: String(result.rowsRead), written_bytes: String(result.bytesRead) });
    } finally {
      await rows.remove();
    }
    return;
  }

  const body = await readSql(request);
  if (inUrl !== null && body.trim() !== "")
    throw engineError(36, "BAD_ARGUMENTS", "The query is in the URL, and yet there is a body.");
  const sql = inUrl ?? body;
  const { verb, data } = statement ?? readStatement(sql);
  if (verb === "") throw engineError(62, "SYNTAX_ERROR", "Empty query");
  if (readonly && !readVerbs.has(verb)) throw engineError(164, "READONLY", "Cannot execute query in readonly mode.");
  if (data) throw inlineRows();
  const query: Execution = readVerbs.has(verb) ? { ...execution, sql, signal: gone } : { ...execution, sql };
  sendAnswer(response, await reads.run(query), {});
}

function readSearch(search: URLSearchParams): { settings: Record<string, string>; params: Record<string, string> } {
  const settings: Record<string, string> = {};
  const params: Record<string, string> = {};
  for (const [name, value] of search) {
    if (ownParameters.has(name)) continue;
    if (unsupportedParameters.has(name))
      throw engineError(48, "NOT_IMPLEMENTED", `The embedded engine has no ${name}.`);
    if (!/^[A-Za-z_]\w{0,199}$/.test(name))
      throw engineError(115, "UNKNOWN_SETTING", "The name of a setting is malformed.");
    if (name.startsWith("param_")) params[name.slice("param_".length)] = value;
    else settings[name] = value;
  }
  return { settings, params };
}

async function readSql(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxSqlBytes)
      throw engineError(307, "TOO_MANY_BYTES", `The statement takes more than ${maxSqlBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function isAuthentic({ headers }: IncomingMessage, { username, password }: HttpInterfaceOptions): boolean {
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/.exec(headers.authorization ?? "")?.[1];
  const given =
    basic === undefined
      ? `${String(headers["x-clickhouse-user"])}:${String(headers["x-clickhouse-key"])}`
      : Buffer.from(basic, "base64").toString("utf8");
  return timingSafeEqual(digest(given), digest(`${username}:${password}`));
}

/** Of equal length for any text, which is what the comparison in constant time asks for. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function sendAnswer(response: ServerResponse, result: EngineAnswer, written: Readonly<Record<string, string>>): void {
  const summary = {
    read_rows: String(result.rowsRead),
    read_bytes: String(result.bytesRead),
    written_rows: "0",
    written_bytes: "0",
    total_rows_to_read: "0",
    result_rows: "0",
    result_bytes: "0",
    elapsed_ns: String(Math.round(result.elapsed * 1e9)),
    ...written,
  };
  const { buffer, byteOffset, byteLength } = result.bytes();
  send(response, 200, Buffer.from(buffer, byteOffset, byteLength), { "X-ClickHouse-Summary": JSON.stringify(summary) });
}

function sendError(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const { code, message } = asEngineError(error);
  // The rest of an upload that was refused half-way is read and dropped: a socket that is closed with bytes unread is
  // reset, and the answer lost with it.
  request.resume();
  send(response, statusOf(code), `${message}\n`, { "X-ClickHouse-Exception-Code": String(code) });
}

function send(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

function inlineRows(): Error {
  return engineError(
    36,
    "BAD_ARGUMENTS",
    "Rows of an INSERT come in the body, and its statement in the URL's query parameter.",
  );
}
