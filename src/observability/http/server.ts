import { LogController, fastify } from "fastify";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../../core/log.ts";
import { createAccess } from "./access.ts";
import type { Access, AccessOptions } from "./access.ts";
import { trackMethods } from "./allowed-methods.ts";
import { problemOf } from "./failure.ts";
import { parseJsonBody } from "./json-body.ts";
import { printJson } from "./json.ts";
import { registerDocs } from "./docs.ts";
import { isBeingSent, lingering } from "../../core/lingering.ts";
import { NotFoundProblem, Problem, problemBody } from "./problem.ts";
import { answerClientError, answerOddRequests, securityHeaders } from "./raw-errors.ts";
import { requestId, traceIdOf } from "./request-ids.ts";
import { requestPath, uriReference } from "./request-path.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** On whose behalf the request acts. */
    access: Access;
    /** The trace that the request belongs to, as X-Trace-Id answers it. */
    traceId: string;
  }
}

export interface ApiOptions {
  readonly log: Log;
  /** Of the product: shown by the OpenAPI document. */
  readonly version: string;
  readonly access: AccessOptions;
}

/** A body of JSON: the largest that a route of the API has use for. Ingestion sets its own limit. */
const bodyLimit = 1024 * 1024;
/** Cursors and searches are long; a request line past this is an accident or an attack. */
const longestUrl = 16 * 1024;
const maxHeaderSize = 32 * 1024;
const longestParameter = 2048;
/** For all of a request to arrive: 64 MiB of telemetry over a slow line included. */
const requestTimeoutMs = 300_000;

/**
 * The API's server, not yet listening. It answers every request that fails as problem details, gives every answer its
 * ids, and lets nobody in whom `access` refuses. Routes of the API are added by `defineRoute`; a plugin with routes of
 * another kind has its own body parsers and error handler in its own scope, and is refused by throwing Problem.
 */
export function createApi({ log, version, access }: ApiOptions): FastifyInstance {
  const app: FastifyInstance = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    genReqId: (request) => requestId(request.headers),
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    http: { maxHeaderSize, requireHostHeader: false },
    routerOptions: { maxParamLength: longestParameter },
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      // Routing failed, and no hook has run.
      try {
        greet(request, reply);
        fail(error, request, reply);
      } catch (refusal) {
        fail(refusal, request, reply);
      }
    },
  });
  const admit = createAccess(access);
  const methodsOf = trackMethods(app);

  app.decorateRequest("access");
  app.decorateRequest("traceId", "");
  app.decorate("documentedRoutes", []);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    parseJsonBody(app.getDefaultJsonParser("error", "error")),
  );
  app.setReplySerializer((payload) => printJson(payload));
  app.setErrorHandler(fail);
  app.setNotFoundHandler((request) => {
    const path = requestPath(request.raw.url ?? "/");
    const methods = methodsOf(path);
    if (methods.length === 0) throw new NotFoundProblem("route", uriReference(path));
    throw new Problem(405, `This route takes ${methods.join(", ")}.`, { headers: { allow: methods.join(", ") } });
  });
  app.addHook("onRequest", (request, reply, done) => {
    greet(request, reply);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { method, url } = request.raw;
    const took = { method, path: requestPath(url ?? "/"), status: reply.statusCode, ms: Math.round(reply.elapsedTime) };
    request.log.debug(took, "answered");
    done();
  });
  answerOddRequests(app.server);
  registerDocs(app, version);
  return app;

  /** What comes before anything else can be said of a request. Throws the Problem with which it is refused. */
  function greet(request: FastifyRequest, reply: FastifyReply): void {
    request.traceId = traceIdOf(request.headers);
    reply.headers(securityHeaders);
    reply.header("x-request-id", request.id);
    reply.header("x-trace-id", request.traceId);
    const url = request.raw.url ?? "/";
    request.access = admit(request.raw, requestPath(url));
    if (url.length > longestUrl) throw new Problem(414, `The URL is longer than ${longestUrl} characters.`);
  }

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = problemOf(error);
    if (reply.raw.destroyed) request.log.debug({ err: error }, "the client went away");
    else if (problem.statusCode === 500) request.log.error({ err: error }, "a request failed");
    else if (problem.statusCode > 500) request.log.warn({ err: error }, "a request could not be answered");
    const body = problemBody(problem, uriReference(requestPath(request.raw.url ?? "/")));
    // As bytes: to text Fastify would add a charset, which this media type does not have.
    const bytes = Buffer.from(printJson(body));
    reply.code(problem.statusCode).headers(problem.headers).type("application/problem+json");
    if (!isBeingSent(request.raw)) reply.removeHeader("connection").send(bytes);
    else reply.header("connection", "close").header("content-length", bytes.length).send(lingering(bytes, request.raw));
  }
}
