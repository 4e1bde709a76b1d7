import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { fastify } from "fastify";
import { createLog } from "../../core/log.ts";
import { startOtlpGrpc } from "./grpc.ts";
import { registerOtlpHttp } from "./http.ts";
import { createOtlpReceiver } from "./receive.ts";
import { createRecordingWriter } from "./recording-writer.ts";
import type { Recorded } from "./recording-writer.ts";

/** An application with OpenTelemetry's SDK; its times and ids are fixed, so that each run sends the same. */
const application = `
  import { NodeSDK } from "@opentelemetry/sdk-node";
  import { logs, metrics, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
  const idGenerator = { generateTraceId: () => "5b8efff798038103d269b633813fc60c", generateSpanId: () => "eee19b7ec3c1b174" };
  const sdk = new NodeSDK({ idGenerator, autoDetectResources: false });
  sdk.start();
  const attributes = { text: "a\\n\\"b\\" é€😀", whole: -5, half: 0.5, yes: true, many: ["x", "y"], numbers: [1, 2.5] };
  const span = trace.getTracer("shop", "1.2.3").startSpan("GET /orders", { kind: SpanKind.SERVER, startTime: [1763690000, 1], attributes });
  span.addEvent("paid", { sum: 12.5 }, [1763690000, 500]);
  span.addLink({ context: { ...span.spanContext(), spanId: "0102030405060708" }, attributes: { kind: "retry" } });
  span.setStatus({ code: SpanStatusCode.ERROR, message: "no stock" });
  span.end([1763690001, 999_999_999]);
  const times = { timestamp: [1763690000, 7], observedTimestamp: [1763690000, 8] };
  logs.getLogger("shop").emit({ ...times, severityNumber: 17, severityText: "ERROR", eventName: "sold.out", body: "no stock", attributes });
  logs.getLogger("shop").emit({ ...times, body: { nested: [1, "two", { three: true }], bytes: new Uint8Array([1, 2, 250]) } });
  const meter = metrics.getMeter("shop");
  meter.createCounter("orders", { unit: "1", description: "sold" }).add(3, attributes);
  meter.createHistogram("latency").record(12.5);
  meter.createObservableGauge("queue").addCallback((result) => result.observe(7));
  await sdk.shutdown();
`;

async function run(endpoint: string, protocol: string, compression: string): Promise<void> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", application], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_COMPRESSION: compression,
      OTEL_TRACES_EXPORTER: "otlp",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_SERVICE_NAME: "shop",
    },
  });
  let errors = "";
  child.stderr.on("data", (text) => (errors += text));
  const [code] = await once(child, "close");
  assert.equal(code, 0, errors);
}

/** What was recorded of a table, in one piece. */
function rowsOf(recorded: readonly Recorded[], table: string): string {
  return recorded.flatMap((r) => (r.table === table ? [r.native.toString("hex")] : [])).join("\n");
}

test("OpenTelemetry's exporters are understood, and a span makes the same row over every protocol", async (t) => {
  const writer = createRecordingWriter();
  const log = createLog("silent");
  const identify = () => ({ workspace: "default", project: "default" });
  const limits = { maxBodyBytes: 1_000_000, bodyTimeoutMs: 10_000 };
  const runs = new Map<string, readonly Recorded[]>();
  for (const [protocol, compression] of [
    ["http/protobuf", "none"],
    ["http/protobuf", "gzip"],
    ["http/json", "gzip"],
    ["grpc", "none"],
    ["grpc", "gzip"],
  ]) {
    // A receiver of its own for each run: to one, they would be retries of the same payload.
    const receiver = createOtlpReceiver({ writer, log, now: () => 1_763_690_000_000 });
    const app = fastify();
    registerOtlpHttp(app, { receiver, corsOrigins: [], limits, identify });
    await app.listen({ host: "127.0.0.1", port: 0 });
    const grpc = await startOtlpGrpc({ listen: "127.0.0.1:0", receiver, log, limits, identify });
    t.after(async () => {
      await app.close();
      await grpc.close({ deadlineMs: 0 });
    });
    const address = protocol === "grpc" ? grpc.address : `127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    await run(`http://${address}`, protocol!, compression!);
    runs.set(`${protocol} ${compression}`, writer.recorded.splice(0));
  }

  const first = runs.get("http/protobuf none")!;
  for (const text of ["GET /orders", 'a\n"b" é€😀', "no stock"]) {
    assert.ok(rowsOf(first, "spans").includes(Buffer.from(text).toString("hex")), text);
  }
  for (const [name, recorded] of runs) {
    const rows = (table: string) => recorded.filter((r) => r.table === table).reduce((sum, r) => sum + r.rows, 0);
    assert.equal(rows("spans"), 1, name);
    assert.equal(rows("logs"), 2, name);
    assert.ok(rows("metric_points") >= 3, name);
    assert.equal(rowsOf(recorded, "spans"), rowsOf(first, "spans"), name);
    assert.equal(rowsOf(recorded, "logs"), rowsOf(first, "logs"), name);
  }
});
