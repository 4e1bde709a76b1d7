// The real OpenTelemetry SDK's exporters send; the API answers with what they sent.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as GrpcExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { startVigil } from "./start-vigil.ts";
import type { RunningVigil } from "./start-vigil.ts";

let vigil: RunningVigil;
before(async () => {
  vigil = await startVigil();
});
after(() => vigil.stop());

async function get(path: string): Promise<string> {
  const answer = await fetch(`${vigil.url}${path}`);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return text;
}

interface Items {
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

const startedAt = 1_795_000_000_123_456_789n;
const hrTime = (nano: bigint): [number, number] => [Number(nano / 1_000_000_000n), Number(nano % 1_000_000_000n)];

/** Sends one trace of two spans with everything in it that the SDK can send; its ids are its own. */
async function sendTrace(exporter: SpanExporter, traceId: string): Promise<void> {
  let spanNumber = 0;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "tills",
      "service.version": "1.2.3",
      "process.pid": 42,
      "shop.floor": "2nd",
    }),
    idGenerator: { generateTraceId: () => traceId, generateSpanId: () => String(++spanNumber).padStart(16, "a") },
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("tills.http", "0.9.0");
  const parent = tracer.startSpan("POST /pay", {
    kind: SpanKind.SERVER,
    startTime: hrTime(startedAt),
    root: true,
    attributes: {
      "http.request.method": "POST",
      size: 12,
      ratio: 0.5,
      ok: true,
      codes: [1, 2],
      naïve: 'ünïcode ✓ "quoted"\n',
    },
  });
  parent.addEvent("exception", { "exception.type": "Error", "exception.message": "no change" }, hrTime(startedAt + 5n));
  const child = tracer.startSpan(
    "charge",
    {
      kind: SpanKind.CLIENT,
      startTime: hrTime(startedAt + 7n),
      links: [{ context: parent.spanContext(), attributes: { why: "retry" } }],
    },
    trace.setSpan(ROOT_CONTEXT, parent),
  );
  child.setStatus({ code: SpanStatusCode.ERROR, message: "declined" });
  child.end(hrTime(startedAt + 1_000_000_007n));
  parent.end(hrTime(startedAt + 2_000_000_000n));
  await provider.shutdown();
}

describe("traces", () => {
  test("the same trace through protobuf, JSON and gRPC is the same rows", async () => {
    const ways: readonly (readonly [string, SpanExporter])[] = [
      ["1".repeat(32), new ProtobufExporter({ url: `${vigil.url}/v1/traces` })],
      ["2".repeat(32), new JsonExporter({ url: `${vigil.url}/v1/traces` })],
      ["3".repeat(32), new GrpcExporter({ url: `http://${vigil.grpc}` })],
    ];
    const answers: string[] = [];
    for (const [traceId, exporter] of ways) {
      await sendTrace(exporter, traceId);
      answers.push((await get(`/v1/traces/${traceId}/spans`)).replaceAll(traceId, "TRACE"));
    }
    assert.equal(answers[1], answers[0]);
    assert.equal(answers[2], answers[0]);
  });

  test("a span comes back with everything that the SDK sent", async () => {
    const { items } = JSON.parse(await get(`/v1/traces/${"1".repeat(32)}/spans`)) as Items;
    assert.equal(items.length, 2);
    const [parent, child] = items;
    assert.equal(parent!["name"], "POST /pay");
    assert.equal(parent!["kind"], 2);
    assert.equal(parent!["parent_span_id"], undefined);
    assert.deepEqual(parent!["attributes"], [
      { key: "http.request.method", value: "POST" },
      { key: "size", value: "12" },
      { key: "ratio", value: "0.5" },
      { key: "ok", value: "true" },
      { key: "codes", value: "[1,2]" },
      { key: "naïve", value: 'ünïcode ✓ "quoted"\n' },
    ]);
    const resource = parent!["resource"] as Record<string, unknown>;
    assert.equal(resource["service.name"], "tills");
    assert.equal(resource["process.pid"], 42);
    assert.deepEqual(resource["attributes"], [{ key: "shop.floor", value: "2nd" }]);
    assert.equal((parent!["events"] as Record<string, unknown>[])[0]!["name"], "exception");
    assert.deepEqual(child!["status"], { code: 2, message: "declined" });
    assert.equal(child!["parent_span_id"], parent!["span_id"]);
    assert.equal((child!["links"] as Record<string, unknown>[])[0]!["trace_id"], "1".repeat(32));
    assert.equal((child!["instrumentation_scope"] as Record<string, unknown>)["name"], "tills.http");
  });

  test("nanoseconds keep all their digits", async () => {
    const text = await get(`/v1/traces/${"1".repeat(32)}/spans`);
    assert.ok(text.includes(`"start_time_unix_nano":${startedAt}`));
    assert.ok(text.includes(`"end_time_unix_nano":${startedAt + 2_000_000_000n}`));
  });
});

test("logs come back newest first, with the page's cursor leading to every one of them once", async () => {
  const provider = new LoggerProvider({
    resource: resourceFromAttributes({ "service.name": "printer" }),
    processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url: `${vigil.url}/v1/logs` }) })],
  });
  const logger = provider.getLogger("printer");
  for (let i = 0; i < 25; i++)
    logger.emit({ severityNumber: 9, body: `page ${i} printed`, timestamp: hrTime(startedAt + BigInt(i)) });
  await provider.shutdown();

  const bodies: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = JSON.parse(
      await get(`/api/v1/logs?serviceName=printer&query=printed&limit=10${cursor && `&cursor=${cursor}`}`),
    ) as Items & { next_cursor: string | null };
    bodies.push(...page.items.map((item) => (item["body"] as { string_value: string }).string_value));
    cursor = page.next_cursor;
  }
  assert.deepEqual(
    bodies,
    Array.from({ length: 25 }, (_, i) => `page ${24 - i} printed`),
  );
});

test("every service that sent is listed", async () => {
  const { items } = JSON.parse(await get("/api/v1/services")) as Items;
  assert.deepEqual(
    items.map((item) => item["name"]),
    ["printer", "tills"],
  );
});
