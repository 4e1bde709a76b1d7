// One process a service: `SHOP_SERVICE=payment node service.ts`. Started by main.ts, which tells it where the others are.
import http from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { SpanStatusCode, logs, metrics, trace } from "@opentelemetry/api";
import type { Fault } from "./faults.ts";
import { startTelemetry } from "./telemetry.ts";

const name = process.env["SHOP_SERVICE"] ?? "";
const active = new Set((process.env["SHOP_FAULTS"] ?? "").split(",") as Fault[]);
const peers = JSON.parse(process.env["SHOP_PEERS"] ?? "{}") as Readonly<Record<string, string>>;
const version = name === "payment" && active.has("bad-deployment") ? "2.1.0" : "2.0.0";

const sdk = startTelemetry({ "service.name": name, "service.version": version });
const tracer = trace.getTracer("shop", version);
const logger = logs.getLogger("shop", version);
const meter = metrics.getMeter("shop", version);
const orders = meter.createCounter("shop.orders", { description: "Orders taken", unit: "{order}" });
const amounts = meter.createHistogram("shop.order.amount", { description: "Value of an order", unit: "EUR" });
let poolUsed = 0;
meter
  .createObservableGauge("shop.pool.used", { unit: "{connection}" })
  .addCallback((result) => result.observe(poolUsed));

interface Order {
  readonly item: number;
  readonly session: string;
}
type Handler = (order: Order) => Promise<unknown>;

class CardDeclinedError extends Error {
  override readonly name = "CardDeclinedError";
}
class PoolExhaustedError extends Error {
  override readonly name = "PoolExhaustedError";
}

async function call(peer: string, order: Order): Promise<unknown> {
  const answer = await fetch(peers[peer]!, { method: "POST", body: JSON.stringify(order) });
  if (!answer.ok) throw new Error(`${peer} answered ${answer.status}`);
  return answer.json();
}

/** A database that is only a span and a little time, as a client library would report it. */
async function query(statement: string): Promise<void> {
  await tracer.startActiveSpan(statement.split(" ", 1)[0]!, { kind: 2 }, async (span) => {
    span.setAttributes({
      "db.system.name": "postgresql",
      "db.query.text": statement,
      "server.address": "db.shop.internal",
    });
    await sleep(2 + Math.random() * 8);
    span.end();
  });
}

const handlers: Readonly<Record<string, Handler>> = {
  async frontend(order) {
    await call("catalog", order);
    return call("checkout", order);
  },
  async catalog({ item }) {
    if (active.has("slow-catalog")) await sleep(1000);
    await query("SELECT * FROM items WHERE id = $1");
    logger.emit({ severityNumber: 9, body: `Item ${item} looked up in ${(Math.random() * 9).toFixed(1)} ms` });
    return { price: 5 + (item % 40) };
  },
  async checkout(order) {
    if (active.has("full-pool") && poolUsed >= 2)
      throw new PoolExhaustedError(`no free connection (${poolUsed} of 2 in use)`);
    poolUsed++;
    try {
      await query("INSERT INTO orders (item, session) VALUES ($1, $2)");
      if (active.has("full-pool")) await sleep(1500);
      return await call("payment", order);
    } finally {
      poolUsed--;
    }
  },
  async payment({ item }) {
    if (active.has("bad-deployment") && item % 3 === 0)
      throw new CardDeclinedError(`card of item ${item} has no issuer`);
    await sleep(5 + Math.random() * 20);
    const amount = 5 + (item % 40);
    orders.add(1, { currency: "EUR" });
    amounts.record(amount, { currency: "EUR" });
    logger.emit({
      severityNumber: 9,
      body: `Payment of ${amount} EUR accepted`,
      attributes: { "payment.method": "card" },
    });
    return { paid: amount };
  },
};

const handler = handlers[name];
if (!handler) throw new Error(`There is no service ${name}.`);

const server = http.createServer((request, response) => {
  tracer.startActiveSpan(`${name} order`, async (span) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const order = JSON.parse(Buffer.concat(chunks).toString()) as Order;
      span.setAttributes({ "session.id": order.session, "shop.item": order.item });
      const answer = await handler(order);
      response.end(JSON.stringify(answer));
    } catch (error) {
      span.recordException(error as Error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message });
      logger.emit({ severityNumber: 17, body: `Order failed: ${(error as Error).message}` });
      response.writeHead(500).end();
    } finally {
      span.end();
    }
  });
});
server.listen(0, "127.0.0.1", () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));

process.on("message", (message: { fault: Fault; on: boolean }) => {
  if (message.on) active.add(message.fault);
  else active.delete(message.fault);
});
process.on("disconnect", () => {
  server.close();
  void sdk.shutdown().finally(() => process.exit(0));
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
