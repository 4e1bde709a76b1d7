import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { SpanContext } from "@opentelemetry/api";

/** The request's id: the client's own where it is well formed, else a new one. */
export function requestId(headers: IncomingHttpHeaders): string {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(sent) ? sent : randomUUID();
}

/** The span that the request comes from, by W3C Trace Context, or undefined. */
export function parentOf(headers: IncomingHttpHeaders): SpanContext | undefined {
  // Versions after 00 may have more fields behind the same four; ff is no version.
  const match = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(
    String(headers["traceparent"] ?? ""),
  );
  if (!match || (match[1] === "00" && match[5] !== undefined)) return undefined;
  return { traceId: match[2]!, spanId: match[3]!, traceFlags: Number.parseInt(match[4]!, 16) & 1, isRemote: true };
}

/** The id of the trace that the request belongs to, or a new one: 32 hexadecimal digits. */
export function traceIdOf(headers: IncomingHttpHeaders): string {
  return parentOf(headers)?.traceId ?? randomBytes(16).toString("hex");
}
