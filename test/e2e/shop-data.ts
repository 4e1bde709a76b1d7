import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const shop = fileURLToPath(new URL("../../examples/shop/main.ts", import.meta.url));

/** Ids of things that the shop's telemetry has put into the store. */
export interface ShopData {
  readonly traceId: string;
  readonly sessionId: string;
}

/** Runs the example shop against Vigil at `url` for a few seconds, with a fault, and names what it left. */
export async function fillFromShop(url: string): Promise<ShopData> {
  const args = [shop, "--vigil", url, "--rate", "5", "--seconds", "6", "--fault", "bad-deployment"];
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  const [code] = (await once(child, "exit")) as [number];
  assert.equal(code, 0);
  const logs = (await (await fetch(`${url}/api/v1/logs?severityMin=17&limit=1`)).json()) as {
    items: { trace_id: string }[];
  };
  const traceId = logs.items[0]!.trace_id;
  const spans = (await (await fetch(`${url}/v1/traces/${traceId}/spans`)).json()) as {
    items: { attributes: { key: string; value: string }[] }[];
  };
  const attributes = spans.items.flatMap((span) => span.attributes);
  return { traceId, sessionId: attributes.find(({ key }) => key === "session.id")!.value };
}
