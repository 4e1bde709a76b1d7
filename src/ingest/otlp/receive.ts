import { hash } from "node:crypto";
import type { Log } from "../../core/log.ts";
import type { Appended, TelemetryWriter } from "../../telemetry/contract.ts";
import { createDedup } from "./dedup.ts";
import { decodeLogs } from "./protobuf/decode-logs.ts";
import { decodeMetrics } from "./protobuf/decode-metrics.ts";
import { decodeTraces } from "./protobuf/decode-traces.ts";
import type { Signal, Target } from "./signal.ts";

/** What became of a payload that was stored. */
export interface Outcome {
  /** Spans, log records or data points that were not stored because they are invalid. */
  readonly rejected: number;
  /** Why, in a sentence. */
  readonly message?: string;
}

export interface OtlpReceiver {
  /**
   * Stores an Export…ServiceRequest of `signal` and resolves when it is durable. The same bytes for the same target
   * again within five minutes are not stored again, and have the same outcome. The bytes are read before this
   * returns. Rejects with MalformedPayload, StoreUnavailable or StoreOverloaded.
   */
  receive(signal: Signal, protobuf: Uint8Array, target: Target): Promise<Outcome>;
}

export interface OtlpReceiverOptions {
  readonly writer: TelemetryWriter;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** The one way into the store for all of OTLP's transports and encodings. */
export function createOtlpReceiver({ writer, log, now = Date.now }: OtlpReceiverOptions): OtlpReceiver {
  const dedup = createDedup<Outcome>();

  function append(signal: Signal, bytes: Uint8Array, target: Target): Appended<Outcome> {
    const context = { ...target, nowMs: now() };
    switch (signal) {
      case "traces":
        return writer.append("spans", (block) => decodeTraces(bytes, block, context));
      case "logs":
        return writer.append("logs", (block) => decodeLogs(bytes, block, context));
      case "metrics":
        return writer.append("metric_points", (block) => decodeMetrics(bytes, block, context));
    }
  }

  async function store(signal: Signal, bytes: Uint8Array, target: Target): Promise<Outcome> {
    const { result, stored } = append(signal, bytes, target);
    const { rejected, message } = result;
    await stored;
    if (rejected > 0)
      log.debug({ signal, rejected, reason: message, ...target }, "a part of a telemetry payload was rejected");
    return { rejected, message };
  }

  return {
    async receive(signal, bytes, target) {
      if (bytes.length === 0) return { rejected: 0 };
      // SHA-256: as fast as SHA-1 here (2 GB/s), and nobody can make two payloads that it takes for one.
      const key = `${hash("sha256", bytes, "base64")}\0${signal}\0${target.workspace}\0${target.project}`;
      return dedup.once(key, () => store(signal, bytes, target));
    },
  };
}
