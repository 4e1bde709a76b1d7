// A process of its own for the tests that need one, or that kill one: `child.ts TASK PLACE`.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { JobKind } from "../../../src/core/job.ts";
import { claimJobs } from "../../../src/state/job-leases.ts";
import { createJobQueue } from "../../../src/state/jobs.ts";
import { openAt } from "./drivers.ts";
import type { Place } from "./drivers.ts";

export const childKind: JobKind<{ n: number }> = { name: "child" };

const tasks = {
  /** Opens the store and closes it. */
  async open(place: Place) {
    await (await openAt(place)).close();
  },
  /** Enqueues one job after the other, and says the id of each as soon as it counts as stored. */
  async enqueue(place: Place) {
    const queue = createJobQueue(await openAt(place));
    for (let n = 0; ; n++) console.log((await queue.enqueue(childKind, { n })).id);
  },
  /** Claims a job for a short while, says its id and never answers. */
  async claim(place: Place) {
    const store = await openAt(place);
    const { claimed } = await claimJobs(store, { kinds: [childKind.name], limit: 1, leaseMs: 200 });
    console.log(claimed[0]?.id);
    setInterval(() => {}, 1000);
  },
} as const;

/** Starts a task in a process of its own. */
export function start(
  task: keyof typeof tasks,
  place: Place,
): ChildProcess & { readonly lines: AsyncIterable<string> } {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), task, JSON.stringify(place)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  return Object.assign(child, { lines: createInterface({ input: child.stdout }) });
}

/** Runs a task to its end. */
export async function run(task: keyof typeof tasks, place: Place): Promise<{ code: number | null; output: string }> {
  const child = start(task, place);
  let output = "";
  child.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

if (import.meta.main) {
  const [task, place] = process.argv.slice(2);
  await tasks[task as keyof typeof tasks](JSON.parse(place!) as Place);
}
