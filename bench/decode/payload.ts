import { attributes, field, request } from "../../src/ingest/otlp/protobuf/messages-for-tests.ts";

export const spansPerRequest = 500;
const resources = 5;

const routes = [
  "/",
  "/cart",
  "/cart/checkout",
  "/products/{id}",
  "/products/{id}/reviews",
  "/login",
  "/search",
  "/health",
];
const methods = ["GET", "GET", "GET", "POST", "PUT"];
const agents = [
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Safari/605.1.15",
  "okhttp/5.1.0",
];

/** Numbers that are the same in every run (a linear congruential generator). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * An export request as a collector sends it: 500 spans of five services' instances, with eleven attributes each (the
 * HTTP server conventions), a parent for most, an exception event for one in fifty.
 */
export function exportRequest(seed: number): Buffer {
  const random = generator(seed);
  const id = (bytes: number) => Buffer.from(Array.from({ length: bytes }, () => 1 + random(255)));
  const start = 1_790_000_000_000_000_000n;
  return request(
    ...Array.from({ length: resources }, (_, service) => ({
      resource: attributes(1, [
        ["service.name", `service-${service}`],
        ["service.namespace", "shop"],
        ["service.version", "4.17.2"],
        ["service.instance.id", `6f1c3a52-90b1-4f0e-9c1d-0000000000${10 + service}`],
        ["deployment.environment.name", "production"],
        ["telemetry.sdk.name", "opentelemetry"],
        ["telemetry.sdk.language", "nodejs"],
        ["telemetry.sdk.version", "2.1.0"],
        ["host.name", `node-${service}.eu-central-1.compute.internal`],
        ["k8s.pod.name", `service-${service}-7d9c8b6f5-x2k4q`],
        ["k8s.namespace.name", "shop"],
        ["process.pid", 4711n],
      ]),
      scope: [field.bytes(1, "@opentelemetry/instrumentation-http"), field.bytes(2, "0.205.0")],
      items: Array.from({ length: spansPerRequest / resources }, () => {
        const route = routes[random(routes.length)]!;
        const method = methods[random(methods.length)]!;
        const begin = start + BigInt(random(1_000_000_000));
        const failed = random(50) === 0;
        return [
          field.bytes(1, id(16)),
          field.bytes(2, id(8)),
          ...(random(4) === 0 ? [] : [field.bytes(4, id(8))]),
          field.bytes(5, `${method} ${route}`),
          field.varint(6, 2),
          field.fixed64(7, begin),
          field.fixed64(8, begin + BigInt(random(200_000_000))),
          ...attributes(9, [
            ["http.request.method", method],
            ["http.route", route],
            ["http.response.status_code", failed ? 500n : 200n],
            ["url.scheme", "https"],
            ["url.path", route.replace("{id}", String(random(100_000)))],
            ["server.address", "shop.example.com"],
            ["server.port", 443n],
            ["client.address", `203.0.113.${random(256)}`],
            ["network.protocol.version", "1.1"],
            ["user_agent.original", agents[random(agents.length)]!],
            ["thread.id", BigInt(random(64))],
          ]),
          ...(failed
            ? [
                field.message(
                  11,
                  field.fixed64(1, begin),
                  field.bytes(2, "exception"),
                  ...attributes(3, [
                    ["exception.type", "TypeError"],
                    ["exception.message", "Cannot read properties of undefined (reading 'price')"],
                    ["exception.stacktrace", "TypeError: …\n    at checkout (/srv/app/cart.js:12:7)\n".repeat(8)],
                  ]),
                ),
                field.message(15, field.bytes(2, "checkout failed"), field.varint(3, 2)),
              ]
            : []),
          field.fixed32(16, 0x101),
        ];
      }),
    })),
  );
}
