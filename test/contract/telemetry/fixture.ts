import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectSocket, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createLog } from "../../../src/core/log.ts";
import { connect } from "../../../src/telemetry/connection.ts";
import type { Connection } from "../../../src/telemetry/connection.ts";
import type { TelemetryBlocks, TelemetryTable, TelemetryWriter } from "../../../src/telemetry/contract.ts";
import { startEngine } from "../../../src/telemetry/embedded/engine.ts";
import type { Lock } from "../../../src/telemetry/migrations.ts";
import { openTelemetry } from "../../../src/telemetry/store.ts";
import type { Telemetry, TelemetryOptions } from "../../../src/telemetry/store.ts";

/** A directory of this test's own, gone when it ends. */
export function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "vigil-telemetry-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** One at a time, as the state store's lock lets the nodes in. */
export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve();
  return (fn) => {
    const result = last.then(fn);
    last = result.catch(() => {});
    return result;
  };
}

export async function openForTest(
  t: TestContext,
  options: Partial<TelemetryOptions> & { directory: string },
): Promise<Telemetry> {
  const telemetry = await openTelemetry({
    retention: { traces: 30, logs: 30, metrics: 30, minFreeDisk: "0" },
    lock: createLock(),
    log: createLog("silent"),
    ...options,
  });
  t.after(() => telemetry.close());
  return telemetry;
}

export interface TestServer {
  /** With user and password, as it would be configured. */
  readonly address: string;
  readonly url: string;
  /** A connection whose current database is `database`. */
  sql(database: string): Connection;
  close(): Promise<void>;
}

/** A ClickHouse server, as far as HTTP can tell: the embedded engine on its own. */
export async function openServer(t: TestContext, directory = temporaryDirectory(t)): Promise<TestServer> {
  const engine = await startEngine({ directory, log: createLog("silent") });
  const { url, username, password } = engine;
  const connections: Connection[] = [];
  const close = async () => {
    for (const connection of connections.splice(0)) await connection.close();
    await engine.close();
  };
  t.after(close);
  return {
    address: `http://${username}:${password}@${new URL(url).host}`,
    url,
    sql(database) {
      const connection = connect({ url, username, password, database });
      connections.push(connection);
      return connection;
    },
    close,
  };
}

export interface SpanOptions {
  readonly service: string;
  readonly version?: string;
  readonly instance?: string;
  readonly names: readonly string[];
  /** Unix nanoseconds */
  readonly ts?: bigint;
  /** 2 is error */
  readonly status?: number;
}

/** Appends one span for each name; resolves when they are stored. */
export function appendSpans(
  writer: TelemetryWriter,
  { service, version = "", instance = "", names, ts = 0n, status = 0 }: SpanOptions,
): Promise<void> {
  return writer.append("spans", (block) => {
    for (const name of names) {
      block.spanName.set(block.rows, block.spanName.texts.indexOfText(name));
      block.ts.set64(block.rows, Number(ts >> 32n), Number(ts & 0xffffffffn));
      block.statusCode.set8(block.rows, status);
      block.endRow();
    }
    share(block, service, version, instance);
  }).stored;
}

/** Appends one log record for each body; resolves when they are stored. */
export function appendLogs(
  writer: TelemetryWriter,
  service: string,
  severity: string,
  bodies: readonly string[],
): Promise<void> {
  return writer.append("logs", (block) => {
    for (const body of bodies) {
      const bytes = Buffer.from(body);
      block.body.set(block.rows, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.byteLength);
      block.severityText.set(block.rows, block.severityText.texts.indexOfText(severity));
      block.endRow();
    }
    share(block, service, "", "");
  }).stored;
}

/** Gives the rows of an append their service, and nothing else of a resource. */
function share(block: TelemetryBlocks[TelemetryTable], service: string, version: string, instance: string): void {
  const resource = {
    serviceNamespace: 0,
    serviceName: block.serviceName.texts.indexOfText(service),
    serviceVersion: block.serviceVersion.texts.indexOfText(version),
    serviceInstance: block.serviceInstance.texts.indexOfText(instance),
    environment: 0,
    resource: 0,
    resourceMeta: 0,
    session: new DataView(new ArrayBuffer(0)),
  };
  const workspace = block.workspace.texts.indexOfText("default");
  block.share(workspace, block.project.texts.indexOfText("default"), resource, { scope: 0, scopeMeta: 0 });
}

export interface Wire {
  /** Where to connect, instead of the engine. */
  readonly url: string;
  /** Lets connections through to the engine, or refuses them and breaks those that are open. */
  through: string | undefined;
}

/** A way to a server that can be cut: with nothing behind it, every connection is reset. */
export async function openWire(t: TestContext): Promise<Wire> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    return socket;
  };
  let target: string | undefined;
  const server = createServer((socket) => {
    track(socket);
    if (target === undefined) {
      socket.resetAndDestroy();
      return;
    }
    const { hostname, port } = new URL(target);
    const behind = track(connectSocket(Number(port), hostname));
    socket.pipe(behind).pipe(socket);
    socket.on("close", () => behind.destroy());
    behind.on("close", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  t.after(async () => {
    cut();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get through() {
      return target;
    },
    set through(url) {
      target = url;
      if (url === undefined) cut();
    },
  };
}

/** Waits until something holds; the test's own time limit ends it where it never does. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(20);
}
