import type { Failure } from "./failure.ts";
import { createOutput, writeMessageField, writeStringField, writeVarintField, written } from "./protobuf-output.ts";

/** How a request, and the answer to it, is written. */
export type Encoding = "protobuf" | "json";

const retryInfo = "type.googleapis.com/google.rpc.RetryInfo";

/** The failure as a google.rpc.Status: its code, its sentence, and a RetryInfo where there is something to wait for. */
export function encodeStatus(failure: Failure, encoding: Encoding): Buffer {
  const { grpcCode: code, message, retryAfter } = failure;
  if (encoding === "json") {
    const details = retryAfter === undefined ? undefined : [{ "@type": retryInfo, retryDelay: `${retryAfter}s` }];
    return Buffer.from(JSON.stringify({ code, message, details }));
  }
  const out = createOutput(0);
  writeVarintField(out, 1, code);
  writeStringField(out, 2, message);
  if (retryAfter !== undefined) {
    writeMessageField(out, 3, () => {
      writeStringField(out, 1, retryInfo);
      // Any.value holds RetryInfo { retry_delay: Duration { seconds } }, each a message in the other.
      writeMessageField(out, 2, () => writeMessageField(out, 1, () => writeVarintField(out, 1, retryAfter)));
    });
  }
  return written(out);
}
