import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { GiveUpJob, JobStopped, RetryJobLater } from "../../../src/core/job.ts";
import type { Job, JobKind, JobStatus } from "../../../src/core/job.ts";
import { jobHandler, startWorker } from "../../../src/state/job-worker.ts";
import type { JobHandler, Worker, WorkerOptions } from "../../../src/state/job-worker.ts";
import { createJobQueue } from "../../../src/state/jobs.ts";
import type { JobQueue } from "../../../src/state/jobs.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { openAt, silent, until } from "./drivers.ts";
import type { TestDriver } from "./drivers.ts";

/** What the workers of the queue must hold in every home of the state store. */
export function jobWorkerSuite(driver: () => TestDriver): void {
  let store: StateStore;
  let queue: JobQueue;
  before(async () => {
    store = await openAt(await driver().fresh());
    queue = createJobQueue(store);
  });
  after(() => store.close());

  const workers: Worker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
  });
  function work(handler: JobHandler, options: Partial<WorkerOptions> = {}): Worker {
    const worker = startWorker({ queue, handlers: [handler], log: silent, ...options });
    workers.push(worker);
    return worker;
  }

  let kinds = 0;
  const newKind = (): JobKind<string> => ({ name: `work-${++kinds}` });
  const becomes = (id: string, status: JobStatus) =>
    until(async () => {
      const job = await queue.read(id);
      return job?.status === status && job;
    });
  const aborted = (job: Job<unknown>) =>
    new Promise<never>((_, reject) => job.signal.addEventListener("abort", () => reject(job.signal.reason)));

  test("a worker does what it is there for, what waited and what comes, and leaves the rest", async () => {
    const mine = newKind();
    const other = await queue.enqueue(newKind(), "other");
    const first = await queue.enqueue(mine, "waited");
    const seen: string[] = [];
    work(
      jobHandler(mine, async (job) => {
        seen.push(job.payload);
        assert.deepEqual([job.attempt, job.maxAttempts, job.signal.aborted], [1, 5, false]);
      }),
    );
    await becomes(first.id, "completed");
    const second = await store.db.transaction().execute((transaction) => queue.enqueue(mine, "came", { transaction }));
    await becomes(second.id, "completed");
    assert.deepEqual(seen, ["waited", "came"]);
    assert.equal((await queue.read(other.id))?.status, "queued");
  });

  test("never more at a time than its concurrency, and that many", async () => {
    const mine = newKind();
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) ids.push((await queue.enqueue(mine, String(n))).id);
    let inside = 0;
    let most = 0;
    const { promise: full, resolve: fill } = Promise.withResolvers<void>();
    work(
      jobHandler(mine, async () => {
        most = Math.max(most, ++inside);
        if (inside === 3) fill();
        await full;
        await new Promise(setImmediate);
        inside--;
      }),
      { concurrency: 3 },
    );
    for (const id of ids) await becomes(id, "completed");
    assert.equal(most, 3);
  });

  test("several workers do each job once", async () => {
    const mine = newKind();
    const seen: string[] = [];
    const handler = jobHandler(mine, async (job) => void seen.push(job.payload));
    for (let n = 0; n < 4; n++) work(handler);
    const enqueued = await Promise.all(Array.from({ length: 60 }, (_, n) => queue.enqueue(mine, String(n))));
    for (const { id } of enqueued) await becomes(id, "completed");
    assert.equal(seen.length, 60);
    assert.equal(new Set(seen).size, 60);
  });

  test("what throws is tried again, and what asks for a time gets it", async () => {
    const mine = newKind();
    const { id } = await queue.enqueue(mine, "");
    work(
      jobHandler(mine, async ({ attempt }) => {
        if (attempt < 3) throw new RetryJobLater(`not at ${attempt}`, 0);
      }),
    );
    const done = await becomes(id, "completed");
    assert.deepEqual([done.attempt, done.lastError], [3, "RetryJobLater: not at 2"]);
    const { id: later } = await queue.enqueue(mine, "");
    await becomes(later, "completed");
  });

  test("an error of no special kind backs off", async () => {
    const mine = newKind();
    const { id } = await queue.enqueue(mine, "");
    work(jobHandler(mine, () => Promise.reject(new Error("broken"))));
    const waiting = await until(async () => {
      const job = await queue.read(id);
      return job?.status === "queued" && job.attempt === 1 && job;
    });
    assert.equal(waiting.lastError, "Error: broken");
    assert.ok(waiting.dueAt >= waiting.startedAt! + 500);
  });

  test("what is given up has failed at once, with its error", async () => {
    const mine = newKind();
    const { id } = await queue.enqueue(mine, "");
    work(jobHandler(mine, () => Promise.reject(new GiveUpJob("the channel is gone"))));
    const failed = await becomes(id, "failed");
    assert.deepEqual([failed.attempt, failed.lastError], [1, "GiveUpJob: the channel is gone"]);
  });

  for (const [from, leaseMs] of [
    // So long that no heartbeat comes by itself.
    ["this process at once", 3_600_000],
    ["another node at a heartbeat", 300],
  ] as const) {
    test(`a job that runs hears of its cancellation from ${from}`, async () => {
      const mine = newKind();
      const { promise: reason, resolve } = Promise.withResolvers<unknown>();
      const handler = jobHandler(mine, async (job) => {
        await aborted(job).catch(resolve);
        throw new Error("stopped half-way");
      });
      work(handler, { leaseMs });
      const { id } = await queue.enqueue(mine, "");
      await becomes(id, "running");
      // A second queue object knows no worker, as one in another process would not.
      const caller = leaseMs === 300 ? createJobQueue(store) : queue;
      assert.equal(await caller.cancel(id), "running");
      assert.equal((await becomes(id, "cancelled")).attempt, 1);
      assert.equal(((await reason) as JobStopped).reason, "cancelled");
    });
  }

  test("a job that takes longer than its lease is kept by heartbeats", async () => {
    const mine = newKind();
    const { id } = await queue.enqueue(mine, "");
    const { promise: finish, resolve } = Promise.withResolvers<void>();
    work(
      jobHandler(mine, () => finish),
      { leaseMs: 300 },
    );
    const { dueAt } = await becomes(id, "running");
    await until(async () => (await queue.read(id))!.dueAt > dueAt + 300);
    resolve();
    assert.equal((await becomes(id, "completed")).attempt, 1);
  });

  test("a job that was lost is told so, and what comes of it counts no more", async () => {
    const mine = newKind();
    const { id } = await queue.enqueue(mine, "");
    const { promise: reason, resolve } = Promise.withResolvers<unknown>();
    const { promise: finish, resolve: end } = Promise.withResolvers<void>();
    const worker = work(
      jobHandler(mine, async (job) => {
        await aborted(job).catch(resolve);
        await finish;
      }),
      { leaseMs: 300 },
    );
    await becomes(id, "running");
    // As if another worker had claimed it.
    await store.db
      .updateTable("jobs")
      .set({ lease: 100, due_at: Date.now() + 3_600_000 })
      .where("id", "=", id)
      .execute();
    assert.equal(((await reason) as JobStopped).reason, "lease_lost");
    end();
    await worker.stop();
    assert.equal((await queue.read(id))?.status, "running");
  });

  test("stop waits for what runs", async () => {
    const mine = newKind();
    const { id } = await queue.enqueue(mine, "");
    const { promise: finish, resolve } = Promise.withResolvers<void>();
    const worker = work(jobHandler(mine, () => finish));
    await becomes(id, "running");
    const stopped = worker.stop();
    const { id: late } = await queue.enqueue(mine, "");
    resolve();
    await stopped;
    assert.equal((await queue.read(id))?.status, "completed");
    assert.equal((await queue.read(late))?.status, "queued");
  });

  test("stop gives back what does not end in time, for another worker to do", async () => {
    const mine = newKind();
    const { id } = await queue.enqueue(mine, "", { maxAttempts: 1 });
    const { promise: reason, resolve } = Promise.withResolvers<unknown>();
    const slow = work(jobHandler(mine, (job) => aborted(job).catch(resolve)));
    await becomes(id, "running");
    await slow.stop(0);
    assert.equal(((await reason) as JobStopped).reason, "worker_stops");
    const back = await queue.read(id);
    assert.deepEqual([back?.status, back?.attempt], ["queued", 0]);
    work(jobHandler(mine, async () => {}));
    assert.equal((await becomes(id, "completed")).attempt, 1);
  });
}
