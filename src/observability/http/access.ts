import type { IncomingMessage } from "node:http";
import { isLoopbackHost, isLoopbackOrigin } from "../../core/loopback.ts";
import { Problem, ValidationProblem } from "./problem.ts";

/** On whose behalf a request acts. */
export interface Access {
  readonly workspace: string;
}

/**
 * Who may call the API. `local`: everyone on this machine, without a credential; so that no web page that somebody
 * here has open may call it too, requests whose Host is not this machine or whose Origin is another site are refused.
 */
interface LocalAccess {
  readonly mode: "local";
  /** Host names other than loopback's under which the listener may be called. */
  readonly hosts?: readonly string[];
  /** Whether a page of another `origin` may call `path`. By default pages on loopback may send telemetry. */
  readonly allowsOrigin?: (path: string, origin: string) => boolean;
}

export type AccessOptions = LocalAccess;

/** OTLP over HTTP: what browsers of other origins may send to. */
const ingestionPaths = new Set(["/v1/traces", "/v1/logs", "/v1/metrics"]);

export function isIngestion(path: string): boolean {
  return ingestionPaths.has(path);
}

/** An `allowsOrigin` that lets pages of loopback and of `origins` ("*": all) send telemetry, and do nothing else. */
export function ingestionOrigins(origins: readonly string[]): (path: string, origin: string) => boolean {
  const listed = new Set(origins.map((origin) => origin.toLowerCase()));
  return (path, origin) =>
    isIngestion(path) && (listed.has("*") || listed.has(origin.toLowerCase()) || isLoopbackOrigin(origin));
}

/** Says whose request it is; throws the Problem with which it is refused. */
export function createAccess(options: AccessOptions): (request: IncomingMessage, path: string) => Access {
  const hosts = new Set(options.hosts?.map((host) => host.toLowerCase()));
  const allowsOrigin = options.allowsOrigin ?? ingestionOrigins([]);

  return (request, path) => {
    const { host, origin } = request.headers;
    if (host === undefined && request.httpVersion !== "1.0") {
      throw new ValidationProblem([{ field: "Host", code: "required", message: "The header is required." }]);
    }
    const name = hostName(host ?? "");
    if (name === undefined || (!isLoopbackHost(name) && !hosts.has(name))) {
      throw new Problem(
        403,
        "The Host header does not name this machine. Call Vigil under localhost, or run it with auth.mode token.",
      );
    }
    // A page's own requests name the very host that they go to; "null" is a page that hides where it is from.
    if (origin !== undefined && !isSameHost(origin, host ?? "") && !allowsOrigin(path, origin)) {
      throw new Problem(403, "Pages of other origins may not call this route.");
    }
    return { workspace: "default" };
  };
}

/** The name in a Host header, in lower case, without port, brackets kept; undefined where it has another form. */
function hostName(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/.exec(host.toLowerCase())?.[1]?.replace(/\.$/, "");
}

function isSameHost(origin: string, host: string): boolean {
  const match = /^https?:\/\/(.+)$/.exec(origin.toLowerCase());
  return match !== null && host !== "" && match[1] === host.toLowerCase();
}
