// People in front of a browser, as its OpenTelemetry SDK would report them: sessions, page views, and requests
// whose trace begins here.
import { setTimeout as sleep } from "node:timers/promises";
import { context, trace } from "@opentelemetry/api";
import { startTelemetry } from "./telemetry.ts";

const frontend = process.env["SHOP_FRONTEND"]!;
const everyMs = 1000 / Number(process.env["SHOP_RATE"] ?? "1");
const agents = [
  "Mozilla/5.0 (X11; Linux x64; rv:140.0) Gecko/20100101 Firefox/140.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
];

const sdk = startTelemetry({ "service.name": "web", "service.version": "3.4.1", "telemetry.sdk.language": "webjs" });
const tracer = trace.getTracer("shop-web");
const closing = new AbortController();

async function visit(number: number): Promise<void> {
  const session = `session-${process.pid}-${number}`;
  const common = {
    "session.id": session,
    "user.id": `user-${number % 50}`,
    "user_agent.original": agents[number % agents.length]!,
  };
  for (const path of ["/", `/items/${number}`]) {
    const page = tracer.startSpan("page_view", { attributes: { ...common, "url.path": path } });
    page.addEvent("page_view", { "url.path": path });
    page.end();
    await sleep(20);
  }
  const click = tracer.startSpan("click buy", { attributes: { ...common, "url.path": `/items/${number}` } });
  await context.with(trace.setSpan(context.active(), click), async () => {
    const answer = await fetch(frontend, { method: "POST", body: JSON.stringify({ item: number, session }) }).catch(
      () => undefined,
    );
    if (!answer?.ok) click.setStatus({ code: 2, message: `the order failed (${answer?.status ?? "no answer"})` });
  });
  click.end();
}

process.on("disconnect", () => {
  closing.abort();
  void sdk.shutdown().finally(() => process.exit(0));
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
process.send?.("started");

for (let number = 1; !closing.signal.aborted; number++) {
  void visit(number);
  await sleep(everyMs);
}
