import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { StoreOverloaded } from "../../core/errors.ts";
import { readBody } from "./body.ts";
import type { BodyLimits } from "./body.ts";
import { isBeingSent, lingering } from "../../core/lingering.ts";
import { createCors } from "./cors.ts";
import { encodeResponse } from "./export-response.ts";
import { failureOf, Refused } from "./failure.ts";
import { transcode } from "./json/transcode.ts";
import type { OtlpReceiver, Outcome } from "./receive.ts";
import { signals } from "./signal.ts";
import type { Signal, Target } from "./signal.ts";
import { encodeStatus } from "./status.ts";
import type { Encoding } from "./status.ts";

export interface OtlpHttpOptions {
  readonly receiver: OtlpReceiver;
  /** Browser origins, besides loopback's, that may send. */
  readonly corsOrigins: readonly string[];
  readonly limits: BodyLimits;
  /** Says whose telemetry a request carries. Throws an error with a `statusCode` to refuse it. */
  readonly identify: (request: FastifyRequest) => Target | Promise<Target>;
}

/** Bodies under way may take so many times the largest one; past it senders are asked to come back. */
const bodiesAtOnce = 4;

const mediaTypes: Readonly<Record<Encoding, string>> = { protobuf: "application/x-protobuf", json: "application/json" };

/** The encoding that a Content-Type names; undefined for those that OTLP does not have. */
function encodingOf(contentType: string | undefined): Encoding | undefined {
  const [type = "", ...parameters] = (contentType ?? "").toLowerCase().split(";");
  const charset = parameters
    .map((p) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(p)?.[1])
    .find((c) => c !== undefined);
  if (charset !== undefined && !["utf-8", "utf8", "us-ascii"].includes(charset)) return undefined;
  switch (type.trim()) {
    case "application/x-protobuf":
    case "application/protobuf":
      return "protobuf";
    case "application/json":
      return "json";
    default:
      return undefined;
  }
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = failureOf(error);
  if (failure.httpStatus === 500) request.log.error({ err: error }, "a telemetry payload could not be taken");
  else request.log.debug({ err: error }, "a telemetry payload was refused");
  const encoding = encodingOf(request.headers["content-type"]) ?? "json";
  const answer = encodeStatus(failure, encoding);
  if (error instanceof Error && "headers" in error) reply.headers(error.headers as Record<string, string>);
  reply.code(failure.httpStatus).type(mediaTypes[encoding]).header("content-length", answer.length);
  if (failure.retryAfter !== undefined) reply.header("retry-after", failure.retryAfter);
  if (!isBeingSent(request.raw)) {
    reply.send(answer);
    return;
  }
  // Closing while the sender still sends would reset the connection, and with it the answer.
  reply.header("connection", "close").send(lingering(answer, request.raw));
}

/**
 * Adds OTLP over HTTP to `app`: POST /v1/traces, /v1/logs and /v1/metrics, and their preflights. These routes answer
 * their own errors, and those of the hooks before them, as google.rpc.Status in the request's encoding.
 * Source: the OTLP specification, "OTLP/HTTP".
 */
export function registerOtlpHttp(app: FastifyInstance, options: OtlpHttpOptions): void {
  const { receiver, corsOrigins, limits, identify } = options;
  const cors = createCors(corsOrigins);
  const mostHeld = limits.maxBodyBytes * bodiesAtOnce;
  let held = 0;

  /** Resolves as soon as the payload is in the store's hands, with what resolves when it is stored. */
  async function take(
    request: FastifyRequest,
    signal: Signal,
    encoding: Encoding,
    target: Target,
  ): Promise<() => Promise<Outcome>> {
    let own = 0;
    const hold = (count: number) => {
      if (held + count > mostHeld) throw new StoreOverloaded("too many bytes of telemetry requests are being read");
      own += count;
      held += count;
    };
    try {
      const body = await readBody(request.raw, limits, hold);
      const outcome = receiver.receive(signal, encoding === "json" ? transcode(signal, body) : body, target);
      return () => outcome;
    } finally {
      held -= own;
    }
  }

  app.register(async (scope) => {
    // The routes read their bodies themselves: decompressed as they arrive, and held once.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.setErrorHandler(answerError);
    scope.addHook("onRequest", (request, reply, done) => {
      reply.headers(cors(request.headers));
      done();
    });
    for (const signal of signals) {
      scope.options(`/v1/${signal}`, (_request, reply) => reply.code(204).header("allow", "OPTIONS, POST").send());
      scope.post(`/v1/${signal}`, async (request, reply) => {
        const target = await identify(request);
        const encoding = encodingOf(request.headers["content-type"]);
        if (encoding === undefined)
          throw new Refused(415, "The body must be application/x-protobuf or application/json.");
        const stored = await take(request, signal, encoding, target);
        const outcome = await stored();
        return reply.type(mediaTypes[encoding]).send(encodeResponse(signal, outcome, encoding));
      });
    }
  });
}
