import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import type { TestContext } from "node:test";
import type { FastifyInstance } from "fastify";
import { createLog } from "../../core/log.ts";
import { createApi } from "./server.ts";
import type { ApiOptions } from "./server.ts";

export interface TestApi {
  readonly app: FastifyInstance;
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** Lines that were logged, parsed. */
  readonly lines: Record<string, unknown>[];
  /** Sends `text` as it is over a connection of its own; resolves to all bytes that came back until it closed. */
  raw(text: string | Buffer): Promise<string>;
}

/** An API listening on a free port of loopback, with the routes that `define` adds; closed when the test ends. */
export async function startTestApi(
  t: TestContext,
  define: (app: FastifyInstance) => void = () => {},
  options: Partial<ApiOptions> = {},
): Promise<TestApi> {
  const lines: Record<string, unknown>[] = [];
  const log = createLog("debug", {
    write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  const app = createApi({ log, version: "1.2.3", access: { mode: "local" }, ...options });
  define(app);
  await app.listen({ host: "127.0.0.1", port: 0 });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const { port } = app.server.address() as AddressInfo;

  async function raw(text: string | Buffer): Promise<string> {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    // A reset after the answer has come is no news.
    socket.on("error", () => {});
    socket.write(text);
    await once(socket, "close");
    return Buffer.concat(chunks).toString("utf8");
  }
  return { app, port, url: `http://127.0.0.1:${port}`, lines, raw };
}

export interface ProblemAnswer {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance?: string;
  timestamp: string;
  errors?: { field: string; message: string; code: string; rejected_value?: string }[];
  resource_type?: string;
  resource_id?: string;
  error_code?: string;
}

/** The problem details in an answer of `fetch`. */
export async function problemIn(response: Response): Promise<ProblemAnswer> {
  return (await response.json()) as ProblemAnswer;
}

/** Status, headers (lower case) and body of a raw answer that closes the connection. */
export function parseRaw(answer: string): { status: number; headers: Map<string, string>; body: string } {
  const end = answer.indexOf("\r\n\r\n");
  const [first = "", ...rest] = answer.slice(0, end).split("\r\n");
  const headers = new Map(
    rest.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return { status: Number(first.split(" ")[1]), headers, body: answer.slice(end + 4) };
}
