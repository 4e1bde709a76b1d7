import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { JobKind } from "../../../src/core/job.ts";
import { claimJobs, completeJob, extendLeases, failJob, releaseJobs } from "../../../src/state/job-leases.ts";
import { createJobQueue } from "../../../src/state/jobs.ts";
import type { JobQueue } from "../../../src/state/jobs.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { childKind, start } from "./child.ts";
import { openAt, until } from "./drivers.ts";
import type { Place, TestDriver } from "./drivers.ts";

const lease = 60_000;
const day = 86_400_000;

/** What the durable queue must hold in every home of the state store. */
export function jobQueueSuite(driver: () => TestDriver): void {
  let place: Place;
  let store: StateStore;
  let queue: JobQueue;
  before(async () => {
    place = await driver().fresh();
    store = await openAt(place);
    queue = createJobQueue(store);
  });
  after(() => store.close());

  let kinds = 0;
  /** A kind that no other test of the suite has. */
  const kind = (): JobKind<unknown> => ({ name: `kind-${++kinds}` });
  const claim = async (of: JobKind<unknown>, limit = 1, leaseMs = lease) =>
    (await claimJobs(store, { kinds: [of.name], limit, leaseMs })).claimed;
  const claimOne = async (of: JobKind<unknown>, leaseMs = lease) => {
    const [job] = await claim(of, 1, leaseMs);
    assert.ok(job, "a job was there to claim");
    return job;
  };

  test("a job comes as it was enqueued, is claimed once, and is completed", async () => {
    const mine = kind();
    const payload = { text: "ä \0 \ud800 \u2028", list: [1, 2.5, null, true], none: {} };
    const { id, created } = await queue.enqueue(mine, payload);
    assert.equal(created, true);
    const queued = await queue.read(id);
    assert.equal(queued?.status, "queued");
    assert.deepEqual(queued?.payload, payload);
    const job = await claimOne(mine);
    assert.deepEqual([job.id, job.kind, job.attempt, job.maxAttempts], [id, mine.name, 1, 5]);
    assert.deepEqual(job.payload, payload);
    assert.deepEqual(await claim(mine), []);
    assert.equal(await completeJob(store, job), true);
    const done = await queue.read(id);
    assert.equal(done?.status, "completed");
    assert.ok(done.startedAt! >= done.createdAt && done.finishedAt! >= done.startedAt!);
    assert.equal(await completeJob(store, job), false, "it cannot be completed twice");
    assert.deepEqual(await claim(mine), []);
  });

  test("an unknown id is nothing to read or to cancel", async () => {
    assert.equal(await queue.read("no-such-job"), undefined);
    assert.equal(await queue.cancel("no-such-job"), undefined);
  });

  test("a job of a transaction is there if that commits, and only then", async () => {
    const mine = kind();
    const undone = store.db.transaction().execute(async (transaction) => {
      await queue.enqueue(mine, "undone", { transaction });
      throw new Error("no");
    });
    await assert.rejects(undone, /no/);
    assert.deepEqual(await claim(mine), []);
    await store.db.transaction().execute((transaction) => queue.enqueue(mine, "done", { transaction }));
    assert.equal((await claimOne(mine)).payload, "done");
  });

  test("higher priority goes first, then what was due first; what is not due waits", async () => {
    const mine = kind();
    const now = Date.now();
    await queue.enqueue(mine, "later", { runAt: now - 1000 });
    await queue.enqueue(mine, "sooner", { runAt: now - 2000 });
    await queue.enqueue(mine, "urgent", { priority: 1 });
    await queue.enqueue(mine, "tomorrow", { priority: 2, runAt: now + day });
    const order: unknown[] = [];
    for (let i = 0; i < 3; i++) order.push((await claimOne(mine)).payload);
    assert.deepEqual(order, ["urgent", "sooner", "later"]);
    assert.deepEqual(await claim(mine), []);
  });

  test("twenty that claim at once never get the same job, and miss none", async () => {
    const mine = kind();
    const ids: string[] = [];
    for (let i = 0; i < 100; i++) ids.push((await queue.enqueue(mine, i)).id);
    const taken = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const got: string[] = [];
        for (;;) {
          const jobs = await claim(mine, 3);
          if (jobs.length === 0) return got;
          assert.ok(jobs.length <= 3, "never more than were asked for");
          got.push(...jobs.map((job) => job.id));
        }
      }),
    );
    assert.deepEqual(taken.flat().toSorted(), ids.toSorted());
  });

  test("a key holds for as long as its job is kept, whatever races for it", async () => {
    const mine = kind();
    const all = await Promise.all(Array.from({ length: 10 }, (_, n) => queue.enqueue(mine, n, { key: "once" })));
    assert.equal(all.filter(({ created }) => created).length, 1);
    assert.equal(new Set(all.map(({ id }) => id)).size, 1);
    await completeJob(store, await claimOne(mine));
    assert.deepEqual(await queue.enqueue(mine, 11, { key: "once" }), { id: all[0]!.id, created: false });
    assert.equal((await queue.enqueue(kind(), 0, { key: "once" })).created, true, "another kind has keys of its own");
  });

  test("a key until its job is done is free again after every end", async () => {
    const mine = kind();
    const enqueue = () => queue.enqueue(mine, 0, { key: "one", keyHolds: "until_done", maxAttempts: 1 });
    const seen = new Set<string>();
    const expectNew = async () => {
      const { id, created } = await enqueue();
      assert.equal(created, true);
      assert.deepEqual(await enqueue(), { id, created: false });
      seen.add(id);
      return id;
    };
    await expectNew();
    await completeJob(store, await claimOne(mine));
    await expectNew();
    await failJob(store, await claimOne(mine), "broken", undefined);
    await queue.cancel(await expectNew());
    const lost = await expectNew();
    await claimOne(mine, 0);
    assert.deepEqual(await claim(mine), []);
    assert.equal((await queue.read(lost))?.status, "failed");
    const released = await expectNew();
    const job = await claimOne(mine);
    await queue.cancel(released);
    await releaseJobs(store, [job]);
    await expectNew();
    assert.equal(seen.size, 6);
  });

  test("a lease that ran out is claimed again, and its old holder has no say any more", async () => {
    const mine = kind();
    const { id } = await queue.enqueue(mine, 0);
    const old = await claimOne(mine, 0);
    const current = await claimOne(mine);
    assert.deepEqual([current.id, current.attempt], [id, 2]);
    assert.deepEqual(await extendLeases(store, [old], lease), []);
    assert.equal(await completeJob(store, old), false);
    assert.equal(await failJob(store, old, "old", 0), undefined);
    await releaseJobs(store, [old]);
    assert.deepEqual(await extendLeases(store, [old, current], lease), [
      { id, lease: current.lease, cancelRequested: false },
    ]);
    assert.equal(await completeJob(store, current), true);
  });

  test("a heartbeat keeps a job from others", async () => {
    const mine = kind();
    await queue.enqueue(mine, 0);
    const job = await claimOne(mine, 0);
    assert.equal((await extendLeases(store, [job], lease)).length, 1);
    assert.deepEqual(await claim(mine), []);
  });

  test("a failed attempt is followed by the next, and the last one ends the job with its error", async () => {
    const mine = kind();
    const { id } = await queue.enqueue(mine, 0, { maxAttempts: 2 });
    assert.equal(await failJob(store, await claimOne(mine), "first", day), "queued");
    assert.deepEqual(await claim(mine), [], "not before the backoff is over");
    const waiting = await queue.read(id);
    assert.ok(waiting!.dueAt > Date.now() + day / 2);
    assert.equal(waiting!.lastError, "first");
    await store.db.updateTable("jobs").set({ due_at: 0 }).where("id", "=", id).execute();
    assert.equal(await failJob(store, await claimOne(mine), "second\0", 0), "failed");
    const failed = await queue.read(id);
    assert.deepEqual([failed?.status, failed?.lastError, failed?.attempt], ["failed", "second", 2]);
    assert.deepEqual(await claim(mine), []);
  });

  test("a job whose workers die of it has failed after its attempts, and is not handed out again", async () => {
    const mine = kind();
    const { id } = await queue.enqueue(mine, 0, { maxAttempts: 2 });
    await claimOne(mine, 0);
    await claimOne(mine, 0);
    const { claimed, buried } = await claimJobs(store, { kinds: [mine.name], limit: 5, leaseMs: lease });
    assert.deepEqual(claimed, []);
    assert.deepEqual(
      buried.map((job) => [job.id, job.status]),
      [[id, "failed"]],
    );
    assert.match((await queue.read(id))!.lastError!, /never answered/);
  });

  test("a released job is due at once, and its attempt does not count", async () => {
    const mine = kind();
    const { id } = await queue.enqueue(mine, 0, { maxAttempts: 1 });
    const first = await claimOne(mine);
    await releaseJobs(store, [first]);
    const second = await claimOne(mine);
    assert.deepEqual([second.id, second.attempt], [id, 1]);
    assert.equal(await completeJob(store, first), false, "the old lease is not the new one");
    assert.equal(await completeJob(store, second), true);
  });

  test("a queued job is cancelled at once, an ended one stays what it is", async () => {
    const mine = kind();
    const { id } = await queue.enqueue(mine, 0);
    assert.equal(await queue.cancel(id), "cancelled");
    assert.equal(await queue.cancel(id), "cancelled");
    assert.deepEqual(await claim(mine), []);
    const { id: other } = await queue.enqueue(mine, 0);
    await completeJob(store, await claimOne(mine));
    assert.equal(await queue.cancel(other), "completed");
    assert.equal((await queue.read(other))?.cancelRequested, false);
  });

  test("a running job is told of its cancellation, and is cancelled where it would be tried again", async () => {
    const mine = kind();
    const cancelRunning = async (leaseMs = lease) => {
      const { id } = await queue.enqueue(mine, 0);
      const job = await claimOne(mine, leaseMs);
      assert.equal(await queue.cancel(id), "running");
      assert.equal((await queue.read(id))?.cancelRequested, true);
      return job;
    };
    const failing = await cancelRunning();
    assert.deepEqual(await extendLeases(store, [failing], lease), [
      { id: failing.id, lease: failing.lease, cancelRequested: true },
    ]);
    assert.equal(await failJob(store, failing, "stopped", 0), "cancelled");
    const released = await cancelRunning();
    await releaseJobs(store, [released]);
    assert.equal((await queue.read(released.id))?.status, "cancelled");
    const completing = await cancelRunning();
    assert.equal(await completeJob(store, completing), true);
    assert.equal((await queue.read(completing.id))?.status, "completed", "what is done is done");
    const dying = await cancelRunning(0);
    assert.deepEqual(await claim(mine), []);
    assert.equal((await queue.read(dying.id))?.status, "cancelled");
  });

  test("a cancel that races a claim and a completion ends in one right state", async () => {
    const mine = kind();
    for (let round = 0; round < 50; round++) {
      const { id } = await queue.enqueue(mine, round);
      const work = claim(mine).then(async ([job]) => job !== undefined && (await completeJob(store, job)));
      const [completed, answer] = await Promise.all([work, queue.cancel(id)]);
      const status = (await queue.read(id))!.status;
      assert.equal(status, completed ? "completed" : "cancelled");
      if (answer === "cancelled") assert.equal(status, "cancelled");
      if (answer === "completed") assert.equal(status, "completed");
    }
  });

  test("old jobs are pruned, failed ones later, and those that have not ended never", async () => {
    const mine = kind();
    const age = async (days: number, end: "complete" | "fail" | "none") => {
      const { id } = await queue.enqueue(mine, 0, { key: `${end}-${days}` });
      const job = await claimOne(mine);
      if (end === "complete") await completeJob(store, job);
      if (end === "fail") await failJob(store, job, "broken", undefined);
      const past = Date.now() - days * day;
      if (end !== "none") await store.db.updateTable("jobs").set({ finished_at: past }).where("id", "=", id).execute();
      else await store.db.updateTable("jobs").set({ due_at: past, started_at: past }).where("id", "=", id).execute();
      return id;
    };
    const gone = [await age(8, "complete"), await age(31, "fail")];
    const kept = [await age(6, "complete"), await age(8, "fail"), await age(100, "none")];
    assert.equal(await queue.prune(), 2);
    assert.equal(await queue.prune(), 0);
    for (const id of gone) assert.equal(await queue.read(id), undefined);
    for (const id of kept) assert.ok(await queue.read(id));
  });

  test("what a process was told is stored is there after it was killed", { timeout: 60_000 }, async () => {
    const own = await driver().fresh();
    const child = start("enqueue", own);
    const told: string[] = [];
    for await (const line of child.lines) {
      told.push(line);
      if (told.length === 50) child.kill("SIGKILL");
    }
    const reopened = await openAt(own);
    const rows = await reopened.db.selectFrom("jobs").select("id").where("kind", "=", childKind.name).execute();
    await reopened.close();
    const stored = new Set(rows.map(({ id }) => id));
    assert.ok(told.length >= 50);
    assert.deepEqual(
      told.filter((id) => !stored.has(id)),
      [],
    );
  });

  test("the job of a process that was killed goes to another", { timeout: 60_000 }, async () => {
    const own = await driver().fresh();
    const first = await openAt(own);
    const { id } = await createJobQueue(first).enqueue(childKind, { n: 1 });
    await first.close();
    const child = start("claim", own);
    for await (const line of child.lines) {
      assert.equal(line, id);
      child.kill("SIGKILL");
    }
    const second = await openAt(own);
    const job = await until(
      async () => (await claimJobs(second, { kinds: [childKind.name], limit: 1, leaseMs: lease })).claimed[0],
    );
    assert.deepEqual([job.id, job.attempt], [id, 2]);
    assert.equal(await completeJob(second, job), true);
    await second.close();
  });
}
