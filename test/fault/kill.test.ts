// kill -9 at any instant loses nothing that was acknowledged.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startVigil } from "../e2e/start-vigil.ts";
import type { RunningVigil } from "../e2e/start-vigil.ts";

const rounds = 4;
const rowsPerPayload = 20;
const senders = 4;

function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "vigil-kill-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** One payload of log records; `id` and a number make each body its own. */
function payload(id: string): string {
  const logRecords = Array.from({ length: rowsPerPayload }, (_, i) => ({
    timeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
    body: { stringValue: `${id}.${i}` },
  }));
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
}

/** Sends until `stopped` says so; adds the ids of what was acknowledged to `acknowledged`. */
async function send(url: string, name: string, acknowledged: Set<string>, stopped: () => boolean): Promise<void> {
  for (let n = 0; !stopped(); n++) {
    const id = `${name}-${n}`;
    try {
      const answer = await fetch(`${url}/v1/logs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: payload(id),
        signal: AbortSignal.timeout(30_000),
      });
      if (answer.status === 200) for (let i = 0; i < rowsPerPayload; i++) acknowledged.add(`${id}.${i}`);
      else assert.ok([502, 503, 504].includes(answer.status), `a retryable status, not ${answer.status}`);
      await answer.arrayBuffer();
    } catch (error) {
      // The server was killed: no answer is no acknowledgement.
      if (error instanceof assert.AssertionError) throw error;
    }
  }
}

/** Every body in the store. */
async function stored(url: string): Promise<Set<string>> {
  const bodies = new Set<string>();
  let cursor: string | null = "";
  while (cursor !== null) {
    const answer: Response = await fetch(
      `${url}/api/v1/logs?limit=10000&orderBy=timestamp_asc${cursor && `&cursor=${cursor}`}`,
    );
    assert.equal(answer.status, 200);
    const page = (await answer.json()) as { items: { body: { string_value: string } }[]; next_cursor: string | null };
    for (const item of page.items) bodies.add(item.body.string_value);
    cursor = page.next_cursor;
  }
  return bodies;
}

function assertAllStored(acknowledged: ReadonlySet<string>, found: ReadonlySet<string>): void {
  assert.ok(acknowledged.size > 0, "something was acknowledged");
  const lost = [...acknowledged].filter((id) => !found.has(id));
  assert.deepEqual(lost, [], `${lost.length} of ${acknowledged.size} acknowledged rows are lost`);
}

/** The engine's process, as the log tells it. */
function enginePid(vigil: RunningVigil): number {
  return vigil.log.findLast((entry) => "enginePid" in entry)!["enginePid"] as number;
}

async function whenReady(vigil: RunningVigil): Promise<void> {
  while ((await fetch(`${vigil.url}/health/ready`)).status !== 200) await sleep(50);
}

test("the server is killed while it takes telemetry, over and over", async (t) => {
  const data = temporaryDirectory(t);
  const acknowledged = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const vigil = await startVigil({ data });
    t.after(() => vigil.stop());
    let stopped = false;
    const sending = Array.from({ length: senders }, (_, i) =>
      send(vigil.url, `r${round}s${i}`, acknowledged, () => stopped),
    );
    // A different instant of the writer's work each round.
    await sleep(300 + 137 * round);
    vigil.process.kill("SIGKILL");
    stopped = true;
    await Promise.all(sending);
  }
  const vigil = await startVigil({ data });
  t.after(() => vigil.stop());
  assertAllStored(acknowledged, await stored(vigil.url));
});

test("the engine alone is killed: requests meanwhile get 503, and it comes back with everything", async (t) => {
  const vigil = await startVigil({ data: temporaryDirectory(t), args: ["--log-level", "debug"] });
  t.after(() => vigil.stop());
  const acknowledged = new Set<string>();
  let stopped = false;
  const sending = Array.from({ length: senders }, (_, i) => send(vigil.url, `s${i}`, acknowledged, () => stopped));
  for (let round = 0; round < rounds; round++) {
    await sleep(300 + 137 * round);
    process.kill(enginePid(vigil), "SIGKILL");
    await sleep(50);
    await whenReady(vigil);
  }
  await sleep(300);
  stopped = true;
  await Promise.all(sending);
  assertAllStored(acknowledged, await stored(vigil.url));
});
