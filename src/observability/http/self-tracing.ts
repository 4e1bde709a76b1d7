import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Span } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isIngestion } from "./access.ts";
import { parentOf } from "./request-ids.ts";
import { requestPath } from "./request-path.ts";

/**
 * Traces the API's requests with OpenTelemetry (HTTP semantic conventions), as service `vigil`. Requests that bring
 * telemetry are left out: each would make telemetry of its own, and so on without end.
 *
 * @param endpoint where to send to once the app listens: the base URL of an OTLP/HTTP receiver
 */
export function traceRequests(
  app: FastifyInstance,
  { endpoint, version }: { endpoint: () => string; version: string },
): void {
  let provider: TracerProvider | undefined;
  const spans = new WeakMap<FastifyRequest, Span>();

  app.addHook("onListen", () => {
    provider = new TracerProvider({
      resource: resourceFromAttributes({ "service.name": "vigil", "service.version": version }),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: new OTLPTraceExporter({ url: `${endpoint()}/v1/traces` }),
          scheduledDelayMillis: 1000,
        }),
      ],
    });
  });
  // While the listener still takes them.
  app.addHook("preClose", () => provider?.shutdown());

  app.addHook("onRequest", (request, reply, done) => {
    const path = requestPath(request.raw.url ?? "/");
    if (!provider || isIngestion(path)) return done();
    const parent = parentOf(request.headers);
    const span = provider.getTracer("vigil", version).startSpan(
      request.routeOptions.url ? `${request.method} ${request.routeOptions.url}` : request.method,
      {
        kind: SpanKind.SERVER,
        attributes: {
          "http.request.method": request.method,
          "http.route": request.routeOptions.url ?? "",
          "url.path": path,
          "url.scheme": "http",
        },
      },
      parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT,
    );
    spans.set(request, span);
    // The trace that the answer names is the one that can be looked up.
    request.traceId = span.spanContext().traceId;
    reply.header("x-trace-id", request.traceId);
    done();
  });
  app.addHook("onError", (request, _reply, error, done) => {
    spans.get(request)?.recordException(error);
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    const span = spans.get(request);
    span?.setAttribute("http.response.status_code", reply.statusCode);
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    done();
  });
}
