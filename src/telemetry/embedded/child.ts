// The process of the embedded engine: opens a data directory with chdb and serves ClickHouse's HTTP interface on
// loopback. It is told what to do over IPC, and ends with its parent, however that ends.
import { writeFileSync } from "node:fs";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Session } from "chdb";
import { engineConfig } from "./engine-config.ts";
import { createHttpInterface } from "./http-interface.ts";
import { openIncoming } from "./incoming.ts";
import type { FromEngine, OpenEngine, ToEngine } from "./messages.ts";
import { SessionPool } from "./session-pool.ts";

const mebibyte = 1 << 20;
/** Reads beyond this wait get 503. */
const maxWaitMs = 15_000;
const maxWaiting = 256;
/** Far above the 32 MiB at which the writer seals a block. */
const maxInsertBytes = 256 * mebibyte;
const maxUploads = 16;
/** Three tables are written, each by one insert at a time; most of an insert's time is the disk's. */
const writeSessions = 3;
/** An answer is held in memory whole, in the engine's growing buffer, here, and by whoever asked. */
const maxResultBytes = 128 * mebibyte;
/** Of a query that names no limit. */
const defaultSeconds = 60;
/** What runs at the end may take this long to end by itself; what is inserted is always waited for. */
const closeMs = 2_000;

let close: (() => Promise<void>) | undefined;
let probe: (() => Promise<void>) | undefined;

// A signal to the whole group or unit must not take the engine from under a parent that still writes.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGTSTP"] as const) process.on(signal, () => {});
// Nothing is lost by this: what was acknowledged is in files. An orderly end could wait for a query.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
process.on("message", (message: ToEngine) => {
  if (message.type === "open") void open(message);
  else if (message.type === "close") void end();
  else void probe?.().then(() => say({ type: "probed" }));
});

async function open(options: OpenEngine): Promise<void> {
  try {
    const server = serveEngine(options);
    server.listen(options.port, "127.0.0.1");
    await once(server, "listening");
    say({ type: "ready", port: (server.address() as AddressInfo).port });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const refusal: FromEngine = { type: "refused", message, portTaken: code === "EADDRINUSE" };
    process.send?.(refusal, () => process.exit(1));
  }
}

function serveEngine({ directory, username, password, memoryLimitBytes, sessions }: OpenEngine): Server {
  const configFile = join(directory, "engine.xml");
  const incomingDirectory = join(directory, "incoming");
  writeFileSync(configFile, engineConfig({ memoryLimitBytes, filesDirectory: incomingDirectory }), { mode: 0o600 });
  // As on a server. In this build rows would else be acknowledged before they are stored, and whatever does not begin
  // with a statement's word be taken for an expression to select.
  const connectionArgs = [`--config-file=${configFile}`, "--async_insert=0", "--implicit_select=0"];
  const openSession = (): Session => new Session(join(directory, "db"), { connectionArgs });
  // Only once the directory is this process's alone may files of another be removed from it.
  const control = openSession();
  const incoming = openIncoming(incomingDirectory, { maxBytes: maxInsertBytes, maxFiles: maxUploads });
  const defaults = {
    max_execution_time: String(defaultSeconds),
    max_memory_usage: String(Math.floor(memoryLimitBytes * 0.7)),
    output_format_json_quote_64bit_integers: "0",
    output_format_json_escape_forward_slashes: "1",
  };
  const reads = new SessionPool(control, {
    open: openSession,
    size: sessions,
    defaults: { ...defaults, max_result_bytes: String(maxResultBytes), result_overflow_mode: "throw" },
    maxWaiting,
    maxWaitMs,
  });
  const writes = new SessionPool(control, {
    open: openSession,
    size: writeSessions,
    defaults,
    maxWaiting,
    maxWaitMs: 60_000,
  });
  const server = createHttpInterface({ username, password, reads, writes, incoming });

  close = async () => {
    server.close();
    server.closeIdleConnections();
    await Promise.all([writes.close(), Promise.race([reads.close(), delay(closeMs)])]);
    control.close();
  };
  probe = async () => {
    // An error, as of memory used up, is a sign of life too.
    await control.queryAsync("SELECT 1", { format: "Null" }).catch(() => {});
  };
  return server;
}

async function end(): Promise<void> {
  await close?.();
  process.exit(0);
}

function say(message: FromEngine): void {
  process.send?.(message);
}
