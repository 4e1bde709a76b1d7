import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import type { JobKind, JobStatus } from "../../../src/core/job.ts";
import { claimJobs, completeJob, extendLeases, failJob, releaseJobs } from "../../../src/state/job-leases.ts";
import type { Lease } from "../../../src/state/job-leases.ts";
import { createJobQueue } from "../../../src/state/jobs.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { openAt } from "./drivers.ts";
import type { TestDriver } from "./drivers.ts";

/** What may happen to a job; `stale` reports come from a lease before the last one. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: "claim" } as const) },
  { weight: 2, arbitrary: fc.constant({ do: "lease runs out" } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("heartbeat" as const), stale: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("complete" as const), stale: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("fail" as const), stale: fc.boolean(), giveUp: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), stale: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: "cancel" } as const) },
);

interface Model {
  status: JobStatus;
  attempt: number;
  cancelRequested: boolean;
  expired: boolean;
  leases: Lease[];
}

const ended = (status: JobStatus) => status !== "queued" && status !== "running";

/** The queue's states against a model of them that is simple enough to be read. */
export function jobModelSuite(driver: () => TestDriver): void {
  let store: StateStore;
  before(async () => {
    store = await openAt(await driver().fresh());
  });
  after(() => store.close());

  test("whatever happens to a job, it is in the state that the model says", { timeout: 120_000 }, async () => {
    const queue = createJobQueue(store);
    let runs = 0;
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 25 }),
      async (max, steps) => {
        const kind: JobKind<null> = { name: `model-${++runs}` };
        const { id } = await queue.enqueue(kind, null, { maxAttempts: max, key: "k", keyHolds: "until_done" });
        const model: Model = { status: "queued", attempt: 0, cancelRequested: false, expired: false, leases: [] };
        for (const next of steps) {
          await take(next, id, kind.name, max, model);
          const job = (await queue.read(id))!;
          assert.equal(job.status, model.status);
          assert.equal(job.attempt, model.attempt);
          assert.equal(job.cancelRequested, model.cancelRequested && !ended(model.status));
          assert.equal(job.finishedAt !== null, ended(model.status));
          assert.equal(job.key, ended(model.status) ? null : "k");
        }
      },
    );
    await fc.assert(property, { seed: 20_261_121, numRuns: 60 });

    async function take(
      next: typeof step extends fc.Arbitrary<infer T> ? T : never,
      id: string,
      kind: string,
      max: number,
      model: Model,
    ) {
      if (next.do === "claim") {
        const { claimed, buried } = await claimJobs(store, { kinds: [kind], limit: 2, leaseMs: 3_600_000 });
        if (model.status === "queued" || (model.status === "running" && model.expired)) {
          const over = model.cancelRequested || model.attempt >= max;
          assert.equal(buried.length, over ? 1 : 0);
          assert.equal(claimed.length, over ? 0 : 1);
          if (over) model.status = model.cancelRequested ? "cancelled" : "failed";
          else {
            model.status = "running";
            model.attempt++;
            model.leases.push(claimed[0]!);
            assert.equal(claimed[0]!.attempt, model.attempt);
          }
          model.expired = false;
        } else assert.deepEqual([claimed, buried], [[], []]);
        return;
      }
      if (next.do === "lease runs out") {
        if (model.status !== "running") return;
        await store.db.updateTable("jobs").set({ due_at: 0 }).where("id", "=", id).execute();
        model.expired = true;
        return;
      }
      if (next.do === "cancel") {
        if (model.status === "queued") model.status = "cancelled";
        else if (model.status === "running") model.cancelRequested = true;
        assert.equal(await queue.cancel(id), model.status);
        return;
      }
      const lease = model.leases.at(next.stale ? -2 : -1);
      if (lease === undefined) return;
      const holds = model.status === "running" && !next.stale;
      if (next.do === "heartbeat") {
        const kept = await extendLeases(store, [lease], 3_600_000);
        assert.deepEqual(
          kept.map((answer) => answer.cancelRequested),
          holds ? [model.cancelRequested] : [],
        );
        if (holds) model.expired = false;
      } else if (next.do === "complete") {
        assert.equal(await completeJob(store, lease), holds);
        if (holds) model.status = "completed";
      } else if (next.do === "fail") {
        const over = next.giveUp || model.attempt >= max;
        const status = model.cancelRequested ? "cancelled" : over ? "failed" : "queued";
        assert.equal(await failJob(store, lease, "no", next.giveUp ? undefined : 0), holds ? status : undefined);
        if (holds) model.status = status;
      } else {
        await releaseJobs(store, [lease]);
        if (holds) {
          model.status = model.cancelRequested ? "cancelled" : "queued";
          model.attempt--;
        }
      }
    }
  });
}
