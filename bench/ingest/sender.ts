// The client of bench/ingest, a process of its own so that its work is not counted: sends OTLP/HTTP for a while and
// reports what was acknowledged. Arguments: URL, seconds, connections, "gzip" or "plain".
import { gzipSync } from "node:zlib";
import { Agent, request } from "node:http";
import { exportRequest, spansPerRequest } from "../decode/payload.ts";

const [url, seconds, connections, coding] = process.argv.slice(2) as [string, string, string, string];
const different = 200;
const payloads = Array.from({ length: different }, (_, i) => exportRequest(i + 1));
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const headers = { "content-type": "application/x-protobuf", ...(coding === "gzip" && { "content-encoding": "gzip" }) };

/**
 * The n-th payload. An unknown field with a number at its end makes each one its own, so that none is taken for a
 * retry of an earlier one.
 */
function payload(n: number): Buffer {
  const field = Buffer.from([0x7d, n & 0xff, (n >> 8) & 0xff, (n >> 16) & 0xff, (n >> 24) & 0xff]);
  const whole = Buffer.concat([payloads[n % different]!, field]);
  return coding === "gzip" ? gzipSync(whole, { level: 1 }) : whole;
}

function send(body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(`${url}/v1/traces`, {
      method: "POST",
      agent,
      headers: { ...headers, "content-length": body.length },
    });
    call.on("response", (answer) => answer.resume().on("end", () => resolve(answer.statusCode ?? 0)));
    call.on("error", reject).end(body);
  });
}

const sent = { acknowledged: 0, refused: 0, milliseconds: [] as number[] };
let number = 0;
const started = performance.now();
const until = started + Number(seconds) * 1000;
await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    while (performance.now() < until) {
      const body = payload(number++);
      const before = performance.now();
      const status = await send(body);
      sent.milliseconds.push(performance.now() - before);
      if (status === 200) sent.acknowledged += spansPerRequest;
      else sent.refused += spansPerRequest;
    }
  }),
);
const milliseconds = sent.milliseconds.toSorted((a, b) => a - b);
const percentile = (share: number) => milliseconds[Math.floor(share * (milliseconds.length - 1))]!;
process.send?.({
  ...sent,
  milliseconds: undefined,
  seconds: (performance.now() - started) / 1000,
  p50: percentile(0.5),
  p99: percentile(0.99),
});
agent.destroy();
process.disconnect?.();
