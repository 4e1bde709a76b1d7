import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Client } from "./client.ts";

export type Attributes = Readonly<Record<string, unknown>>;

/** A log record or a span as OTLP/JSON has it, what every one of them has filled in by `sendLogs` / `sendSpans`. */
export type OtlpFields = Readonly<Record<string, unknown>>;

/** A random id of `bytes` bytes in lowercase hexadecimal digits. */
export function randomId(bytes: 8 | 16): string {
  return randomBytes(bytes).toString("hex");
}

/** Now, in Unix nanoseconds. */
export function nowNano(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

/** Nanoseconds as RFC 3339 has them, in UTC with nine decimals. */
export function rfc3339(nanos: bigint): string {
  const seconds = nanos / 1_000_000_000n;
  const decimals = String(nanos % 1_000_000_000n).padStart(9, "0");
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${decimals}Z`;
}

/** OTLP's attributes: texts, booleans and safe numbers by themselves, other values (`{ bytesValue }`, …) as they are. */
export function attributes(values: Attributes): object[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: unknown): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return value;
}

/** Stores log records of one resource; resolves when they can be read. */
export async function sendLogs(
  client: Client,
  resource: Attributes,
  records: readonly OtlpFields[],
  scope: OtlpFields = {},
) {
  const logRecords = records.map((record) => ({ timeUnixNano: String(nowNano()), ...record }));
  await post(client, "/v1/logs", {
    resourceLogs: [{ resource: { attributes: attributes(resource) }, scopeLogs: [{ scope, logRecords }] }],
  });
}

/** Stores spans of one resource; resolves when they can be read. */
export async function sendSpans(
  client: Client,
  resource: Attributes,
  spans: readonly OtlpFields[],
  scope: OtlpFields = {},
) {
  const start = nowNano();
  const filled = spans.map((span) => ({
    spanId: randomId(8),
    name: "work",
    kind: 1,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 1_000_000n),
    ...span,
  }));
  await post(client, "/v1/traces", {
    resourceSpans: [{ resource: { attributes: attributes(resource) }, scopeSpans: [{ scope, spans: filled }] }],
  });
}

async function post(client: Client, path: string, body: object): Promise<void> {
  const answer = await client.send("POST", path, { body });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((JSON.parse(answer.text) as { partialSuccess?: object }).partialSuccess, undefined, answer.text);
}
