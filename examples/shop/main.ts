// A small shop that sends traces, logs and metrics with the real OpenTelemetry SDK, and fails on purpose.
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { faults, isFault } from "./faults.ts";

const help = `A shop of four services and a browser, instrumented with OpenTelemetry.

Usage: npm run shop -- [OPTIONS]

  --vigil URL      where Vigil listens (default http://127.0.0.1:4318)
  --rate N         orders a second, up to 50 (default 1)
  --seconds N      stop after so long (default: until Ctrl-C)
  --fault NAME     switch a fault on at once; may be given several times
  -h, --help       this text

Faults (while it runs, type a name and Enter to switch one on or off):
${Object.entries(faults)
  .map(([name, text]) => `  ${name.padEnd(17)}${text}`)
  .join("\n")}
`;

function refuse(message: string): never {
  console.error(`shop: ${message}`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        vigil: { type: "string", default: "http://127.0.0.1:4318" },
        rate: { type: "string", default: "1" },
        seconds: { type: "string", default: "0" },
        fault: { type: "string", multiple: true, default: [] },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    return refuse(`${(error as Error).message.split(". ")[0]}. --help lists the options.`);
  }
}

const options = readOptions();
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}
const rate = Number(options.rate);
const seconds = Number(options.seconds);
if (!(rate > 0 && rate <= 50)) refuse("--rate must be a number over 0, up to 50.");
if (!(seconds >= 0 && seconds < 2 ** 31 / 1000)) refuse("--seconds must be a number of seconds, at least 0.");
for (const name of options.fault)
  if (!isFault(name)) refuse(`there is no fault ${name}; there are ${Object.keys(faults).join(", ")}.`);

const children: ChildProcess[] = [];
const on = new Set(options.fault);

/** Starts one process of the shop and resolves to the first thing that it says. */
async function start(file: string, env: Readonly<Record<string, string>>): Promise<string> {
  const child = fork(new URL(file, import.meta.url), {
    env: {
      ...process.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: options.vigil,
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_METRIC_EXPORT_INTERVAL: "5000",
      OTEL_METRIC_EXPORT_TIMEOUT: "4000",
      OTEL_BSP_SCHEDULE_DELAY: "1000",
      ...env,
    },
  });
  children.push(child);
  const [message] = (await once(child, "message")) as [string];
  return message;
}

function stop(): void {
  for (const child of children) if (child.connected) child.disconnect();
  process.exitCode = 0;
  input.close();
  clearTimeout(timer);
}

function toggle(name: string): void {
  if (!isFault(name)) return console.log(`There are ${Object.keys(faults).join(", ")}.`);
  if (!on.delete(name)) on.add(name);
  for (const child of children) if (child.connected) child.send({ fault: name, on: on.has(name) });
  console.log(`${name} is ${on.has(name) ? "on" : "off"}: ${faults[name]}`);
}

const shared = { SHOP_FAULTS: [...on].join(",") };
const catalog = await start("service.ts", { ...shared, SHOP_SERVICE: "catalog" });
const payment = await start("service.ts", { ...shared, SHOP_SERVICE: "payment" });
const checkout = await start("service.ts", {
  ...shared,
  SHOP_SERVICE: "checkout",
  SHOP_PEERS: JSON.stringify({ payment }),
});
const frontend = await start("service.ts", {
  ...shared,
  SHOP_SERVICE: "frontend",
  SHOP_PEERS: JSON.stringify({ catalog, checkout }),
});
await start("browser.ts", { SHOP_FRONTEND: frontend, SHOP_RATE: String(rate) });

const input = createInterface({ input: process.stdin });
input.on("line", (line) => toggle(line.trim()));
const timer = seconds > 0 ? setTimeout(stop, seconds * 1000) : undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
console.log(`The shop is open: ${rate} order${rate === 1 ? "" : "s"} a second, telemetry to ${options.vigil}.`);
console.log(
  on.size > 0
    ? `Faults on: ${[...on].join(", ")}.`
    : "Type a fault's name and Enter to switch it on; --help lists them.",
);
