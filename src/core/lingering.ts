import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

/** How long what is still being sent is thrown away after it was refused. */
const lingerMs = 2000;

/** Whether the request has a body of which not all has come. (Without a body, too, `complete` is false at first.) */
export function isBeingSent({ complete, destroyed, headers }: IncomingMessage): boolean {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody && !complete && !destroyed;
}

/**
 * `answer` as a stream that ends when the rest of the request has come and been thrown away, or after a while. A
 * connection that is closed while its client still sends is reset, and the answer may be lost with it.
 */
export function lingering(answer: Buffer, request: IncomingMessage): Readable {
  const stream = new Readable({ read() {} });
  const end = (): void => {
    clearTimeout(timer);
    stream.push(null);
  };
  const timer = setTimeout(end, lingerMs);
  request.once("end", end).once("close", end).resume();
  stream.push(answer);
  return stream;
}
