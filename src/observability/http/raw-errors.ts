import type { Server, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { Problem, ValidationProblem, problemBody } from "./problem.ts";
import { requestId, traceIdOf } from "./request-ids.ts";
import { requestPath, uriReference } from "./request-path.ts";

/** Headers that every answer has. Pages that need more (styles, scripts) set their own content-security-policy. */
export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
} as const;

/** Answers what Node's parser refused before there was a request: garbage, headers that are too large or too slow. */
export function answerClientError(error: Error & { code?: string }, socket: Duplex): void {
  // Bytes of ours in the middle of an answer that has begun would be read as a part of it.
  const { _httpMessage: current } = socket as Duplex & { _httpMessage?: ServerResponse };
  if (error.code === "ECONNRESET" || !socket.writable || current?.headersSent) {
    socket.destroy();
    return;
  }
  socket.end(rawAnswer(clientProblem(error.code)));
}

function clientProblem(code: string | undefined): Problem {
  if (code === "HPE_HEADER_OVERFLOW") return new Problem(431, "The request's line and headers are too large.");
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return new Problem(413, "The extensions of the body's chunks are too large.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new Problem(408, "The request did not arrive in time.");
  return new ValidationProblem([{ field: "request", code: "format", message: "Is not valid HTTP." }]);
}

/** Gives an answer of ours where Node would give a bare one: CONNECT, and expectations other than 100-continue. */
export function answerOddRequests(server: Server): void {
  server.on("connect", (_request, socket) => {
    socket.on("error", () => socket.destroy());
    socket.end(rawAnswer(new Problem(405, "Vigil is not a proxy.", { headers: { allow: "GET, HEAD, POST" } })));
  });
  server.on("checkExpectation", (request, response) => {
    const body = problemText(
      new Problem(417, "The only expectation that is met is 100-continue."),
      requestPath(request.url ?? "/"),
    );
    const ids = { "x-request-id": requestId(request.headers), "x-trace-id": traceIdOf(request.headers) };
    const rest = {
      "content-type": "application/problem+json",
      "content-length": Buffer.byteLength(body),
      connection: "close",
    };
    response.writeHead(417, { ...securityHeaders, ...ids, ...rest }).end(body);
  });
}

function problemText(problem: Problem, path?: string): string {
  return JSON.stringify(problemBody(problem, path === undefined ? undefined : uriReference(path)));
}

function rawAnswer(problem: Problem): string {
  const body = problemText(problem);
  const headers = {
    ...securityHeaders,
    "content-type": "application/problem+json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId({}),
    "x-trace-id": traceIdOf({}),
    date: new Date().toUTCString(),
    ...problem.headers,
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.statusCode} ${STATUS_CODES[problem.statusCode]}\r\n${lines.join("")}\r\n${body}`;
}
