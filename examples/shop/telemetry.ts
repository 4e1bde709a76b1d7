import { createRequire } from "node:module";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { NodeSDK } from "@opentelemetry/sdk-node";

/** Starts the real OpenTelemetry SDK; where to send to is in OTEL_EXPORTER_OTLP_ENDPOINT, as for any application. */
export function startTelemetry(attributes: Readonly<Record<string, string>>): NodeSDK {
  const sdk = new NodeSDK({
    // Host and process detectors would say much about this machine and nothing about the shop.
    autoDetectResources: false,
    resource: defaultResource().merge(
      resourceFromAttributes({
        "service.namespace": "shop",
        "service.instance.id": `${attributes["service.name"]}-${process.pid}`,
        "deployment.environment.name": "production",
        "process.pid": process.pid,
        ...attributes,
      }),
    ),
    instrumentations: [new HttpInstrumentation(), new UndiciInstrumentation()],
  });
  sdk.start();
  // The instrumentation hooks `require`; a module that imports node:http sees the same, now hooked, exports.
  createRequire(import.meta.url)("node:http");
  return sdk;
}
