import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startVigil } from "./start-vigil.ts";
import type { RunningVigil } from "./start-vigil.ts";

let vigil: RunningVigil;
before(async () => {
  vigil = await startVigil({ env: { VIGIL_SELF_TRACING: "true" } });
});
after(() => vigil.stop());

test("Vigil's own requests are traces in it, under the id that their answers name", async () => {
  const parent = { traceId: "ab".repeat(16), spanId: "cd".repeat(8) };
  const answer = await fetch(`${vigil.url}/api/v1/logs?limit=1`, {
    headers: { traceparent: `00-${parent.traceId}-${parent.spanId}-01` },
  });
  assert.equal(answer.headers.get("x-trace-id"), parent.traceId);

  const path = `${vigil.url}/v1/traces/${parent.traceId}/spans`;
  let spans = await fetch(path);
  while (spans.status === 404) {
    await sleep(50);
    spans = await fetch(path);
  }
  const { items } = (await spans.json()) as { items: Record<string, unknown>[] };
  assert.equal(items.length, 1);
  assert.equal(items[0]!["name"], "GET /api/v1/logs");
  assert.equal(items[0]!["parent_span_id"], parent.spanId);
  assert.equal((items[0]!["resource"] as Record<string, unknown>)["service.name"], "vigil");
});
