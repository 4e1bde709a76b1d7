import type { IncomingHttpHeaders } from "node:http";
import { isLoopbackOrigin } from "../../core/loopback.ts";

const allowedHeaders = ["content-type", "content-encoding", "authorization", "traceparent", "tracestate", "baggage"];

/** How long a browser may keep a preflight's answer; Chrome takes no more than two hours. */
const maxAgeSeconds = 7200;

/**
 * What lets pages of other origins send telemetry: given a request's headers, the answer's. Pages on loopback may,
 * and those of `origins` (`scheme://host[:port]`, in lower case); others get no headers, so that browsers keep the
 * answer from them.
 */
export function createCors(origins: readonly string[]): (headers: IncomingHttpHeaders) => Record<string, string> {
  const listed = new Set(origins);
  return (headers) => {
    const { origin } = headers;
    const answer: Record<string, string> = { vary: "Origin" };
    if (origin === undefined || (!listed.has(origin.toLowerCase()) && !isLoopbackOrigin(origin))) return answer;
    answer["access-control-allow-origin"] = origin;
    answer["access-control-expose-headers"] = "retry-after, x-request-id, x-trace-id";
    if (headers["access-control-request-method"] === undefined) return answer;
    const asked = String(headers["access-control-request-headers"] ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim());
    const own = asked.filter((name) => /^x-[a-z0-9-]+$/.test(name));
    answer["access-control-allow-methods"] = "POST";
    answer["access-control-allow-headers"] = [...allowedHeaders, ...own].join(", ");
    answer["access-control-max-age"] = String(maxAgeSeconds);
    return answer;
  };
}
