import type { FastifyBodyParser, FastifyRequest } from "fastify";
import { Problem, ValidationProblem } from "./problem.ts";

type Done = (error: Error | null, body?: unknown) => void;

/**
 * A parser of JSON bodies that are UTF-8 and not compressed. An empty body is no body: some clients name a content type
 * on every request. `parse` is Fastify's, which refuses what would change an object's prototype.
 */
export function parseJsonBody(parse: FastifyBodyParser<string>): FastifyBodyParser<Buffer> {
  return function parseBody(request: FastifyRequest, bytes: Buffer, done: Done): void {
    const encoding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    if (encoding !== "identity") {
      done(new Problem(415, "The body must not be compressed.", { headers: { "accept-encoding": "identity" } }));
      return;
    }
    if (bytes.length === 0) {
      done(null, undefined);
      return;
    }
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      done(malformed("Is not valid UTF-8."));
      return;
    }
    const finish: Done = (error, body) => done(error === null ? null : malformed(syntaxMessage(text)), body);
    void parse(request, text, finish);
  };
}

/** Where `text` stops being JSON. The engine's own message is not shown: it quotes what was sent. */
function syntaxMessage(text: string): string {
  try {
    JSON.parse(text);
    return "Has a field of a name that may not be used: __proto__, or constructor with a prototype.";
  } catch (error) {
    const place = /\(line \d+ column \d+\)/.exec(String(error))?.[0];
    return place ? `Is not valid JSON ${place}.` : "Is not valid JSON.";
  }
}

function malformed(message: string): ValidationProblem {
  return new ValidationProblem([{ field: "body", code: "format", message }]);
}
