import { createOutput, writeMessageField, writeStringField, writeVarintField, written } from "./protobuf-output.ts";
import type { Outcome } from "./receive.ts";
import type { Signal } from "./signal.ts";
import type { Encoding } from "./status.ts";

const rejectedNames: Readonly<Record<Signal, string>> = {
  traces: "rejectedSpans",
  logs: "rejectedLogRecords",
  metrics: "rejectedDataPoints",
};

/**
 * The Export…ServiceResponse of a payload that was taken. Its partial_success is there only where something was
 * rejected: senders take its presence for a warning.
 */
export function encodeResponse(signal: Signal, { rejected, message = "" }: Outcome, encoding: Encoding): Buffer {
  if (encoding === "json") {
    // ProtoJSON writes 64-bit integers as strings.
    const partialSuccess = { [rejectedNames[signal]]: String(rejected), errorMessage: message };
    return Buffer.from(JSON.stringify(rejected === 0 ? {} : { partialSuccess }));
  }
  const out = createOutput(0);
  if (rejected > 0) {
    writeMessageField(out, 1, () => {
      writeVarintField(out, 1, rejected);
      writeStringField(out, 2, message);
    });
  }
  return written(out);
}
