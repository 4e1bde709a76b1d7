// The diagram: what Vigil is made of, in the order in which it opens; it closes in reverse.
import type { FastifyInstance } from "fastify";
import type { Config } from "./config/load.ts";
import type { Address } from "./config/kinds.ts";
import { OperatorError } from "./core/errors.ts";
import type { Log } from "./core/log.ts";
import { startOtlpGrpc } from "./ingest/otlp/grpc.ts";
import { registerOtlpHttp } from "./ingest/otlp/http.ts";
import { createOtlpReceiver } from "./ingest/otlp/receive.ts";
import type { Target } from "./ingest/otlp/signal.ts";
import { startDeploymentProgress } from "./observability/deployments/progress.ts";
import { deploymentRoutes } from "./observability/deployments/routes.ts";
import { sessionRoutes } from "./observability/sessions/routes.ts";
import { registerHealth } from "./observability/health/routes.ts";
import { ingestionOrigins } from "./observability/http/access.ts";
import { createApi } from "./observability/http/server.ts";
import { patternRoutes } from "./observability/logs/patterns/routes.ts";
import { logRoutes } from "./observability/logs/routes.ts";
import { serviceRoutes } from "./observability/services/routes.ts";
import { traceRoutes } from "./observability/traces/routes.ts";
import { openStores } from "./open-stores.ts";

export interface Vigil {
  /** What is served where, for a person to read. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Stops listening, answers what is in flight, stores what waits, closes the stores. */
  close(): Promise<void>;
}

/** How long requests in flight may take to end when Vigil stops. */
const drainMs = 5_000;
/** For a telemetry payload to arrive in full, over a slow line too. */
const bodyTimeoutMs = 60_000;

/**
 * Opens the stores, wires the parts and listens.
 *
 * @throws OperatorError where a person has to act; everything that was opened by then is closed again
 */
export async function serve(config: Config, { log, version }: { log: Log; version: string }): Promise<Vigil> {
  const opened: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const end of opened.splice(0).toReversed()) await end();
  };
  try {
    const { state, telemetry, close: closeStores } = await openStores(config, log);
    opened.push(closeStores);

    const receiver = createOtlpReceiver({ writer: telemetry.writer, log });
    const limits = { maxBodyBytes: config["ingest.maxBodyBytes"], bodyTimeoutMs };
    const addresses: Record<string, string> = {};

    if (config.grpcListen) {
      const grpc = await startOtlpGrpc({ listen: hostPort(config.grpcListen), receiver, log, limits, identify });
      opened.push(() => grpc.close({ deadlineMs: drainMs }));
      addresses["OTLP/gRPC"] = grpc.address;
    }

    const corsOrigins = config["ingest.corsOrigins"];
    const api = createApi({ log, version, access: { mode: "local", allowsOrigin: ingestionOrigins(corsOrigins) } });
    if (config.selfTracing) {
      // Loaded only where it is wanted: the SDK takes 10 MB.
      const { traceRequests } = await import("./observability/http/self-tracing.ts");
      traceRequests(api, { endpoint: () => api.listeningOrigin, version });
    }
    registerHealth(api, { version, components: () => ({ telemetry: telemetry.state(), state: state.state() }) });
    registerOtlpHttp(api, { receiver, corsOrigins, limits, identify });
    traceRoutes(api, telemetry);
    logRoutes(api, telemetry);
    patternRoutes(api, telemetry);
    serviceRoutes(api, telemetry);
    sessionRoutes(api, telemetry);
    deploymentRoutes(api, { state, reader: telemetry });
    const progress = startDeploymentProgress({ state, reader: telemetry, log });
    opened.push(() => progress.stop());
    opened.push(() => api.close());
    const url = await listenOn(api, config.listen);
    return { addresses: { API: `${url}/api/v1`, "OTLP/HTTP": url, ...addresses, documentation: `${url}/docs` }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** In local mode everything belongs to the one workspace that there is. */
function identify(): Target {
  return { workspace: "default", project: "default" };
}

/** Returns the URL that is listened on; throws OperatorError where it cannot be. */
async function listenOn(api: FastifyInstance, { host, port }: Address): Promise<string> {
  try {
    return await api.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const taken = code === "EADDRINUSE" ? "another program listens there already" : `the system refused it (${code})`;
    throw new OperatorError(
      `Vigil cannot listen on ${hostPort({ host, port })}: ${taken}. Choose another address with --listen.`,
    );
  }
}

function hostPort({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
