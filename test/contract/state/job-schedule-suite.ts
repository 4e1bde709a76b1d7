import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ScheduleTick } from "../../../src/core/job.ts";
import { claimJobs, completeJob } from "../../../src/state/job-leases.ts";
import { declareSchedules, tickSchedules } from "../../../src/state/job-schedules.ts";
import type { Schedule } from "../../../src/state/job-schedules.ts";
import { jobHandler, startWorker } from "../../../src/state/job-worker.ts";
import { createJobQueue } from "../../../src/state/jobs.ts";
import type { StateStore } from "../../../src/state/store.ts";
import { openAt, silent, until } from "./drivers.ts";
import type { TestDriver } from "./drivers.ts";

const hour = 3_600_000;

/** What schedules must hold in every home of the state store. */
export function jobScheduleSuite(driver: () => TestDriver): void {
  let store: StateStore;
  before(async () => {
    store = await openAt(await driver().fresh());
  });
  after(() => store.close());

  let count = 0;
  async function declare(everyMs = hour): Promise<Schedule> {
    const schedule: Schedule = { name: `schedule-${++count}`, kind: { name: `tick-${count}` }, everyMs };
    await Promise.all(Array.from({ length: 3 }, () => declareSchedules(store, [schedule])));
    return schedule;
  }
  /** Ticks as ten nodes at once would; resolves to the payloads of the jobs that came of it, and ends those jobs. */
  async function tick(schedule: Schedule): Promise<ScheduleTick[]> {
    const made = await Promise.all(Array.from({ length: 10 }, () => tickSchedules(store, [schedule])));
    const { claimed } = await claimJobs(store, { kinds: [schedule.kind.name], limit: 100, leaseMs: hour });
    assert.equal(
      claimed.length,
      made.reduce((sum, one) => sum + one, 0),
    );
    for (const job of claimed) await completeJob(store, job);
    return claimed.map((job) => job.payload as ScheduleTick);
  }
  const nextAt = async ({ name }: Schedule) =>
    (await store.db.selectFrom("schedules").select("next_at").where("name", "=", name).executeTakeFirstOrThrow())
      .next_at;
  const setNextAt = ({ name }: Schedule, next_at: number) =>
    store.db.updateTable("schedules").set({ next_at }).where("name", "=", name).execute();

  test("a new schedule is due at once, and then once an interval, however many nodes ask", async () => {
    const schedule = await declare();
    const first = await nextAt(schedule);
    assert.deepEqual(await tick(schedule), [{ schedule: schedule.name, at: first, missed: 0 }]);
    assert.deepEqual(await tick(schedule), []);
    assert.equal(await nextAt(schedule), first + hour);
  });

  test("ticks that passed unseen are made up for once, and the rhythm stays", async () => {
    const schedule = await declare();
    const start = Date.now() - 5.5 * hour;
    await setNextAt(schedule, start);
    assert.deepEqual(await tick(schedule), [{ schedule: schedule.name, at: start + 5 * hour, missed: 5 }]);
    assert.deepEqual(await tick(schedule), []);
    assert.equal(await nextAt(schedule), start + 6 * hour);
  });

  test("while the last job has not ended there is no second one; it comes after", async () => {
    const schedule = await declare();
    await tickSchedules(store, [schedule]);
    const { claimed } = await claimJobs(store, { kinds: [schedule.kind.name], limit: 1, leaseMs: hour });
    const due = Date.now() - 1.5 * hour;
    await setNextAt(schedule, due);
    assert.deepEqual(await tick(schedule), []);
    await completeJob(store, claimed[0]!);
    assert.deepEqual(await tick(schedule), [{ schedule: schedule.name, at: due + hour, missed: 1 }]);
  });

  test("nodes that find a tick due together make one job of it, also where that job ends meanwhile", async () => {
    const schedule = await declare();
    const kinds = [schedule.kind.name];
    for (let round = 0; round < 30; round++) {
      await setNextAt(schedule, Date.now());
      let ticking = true;
      const ending = (async () => {
        let ended = 0;
        for (let last = false; !last;) {
          last = !ticking;
          const { claimed } = await claimJobs(store, { kinds, limit: 10, leaseMs: hour });
          for (const job of claimed) ended += Number(await completeJob(store, job));
        }
        return ended;
      })();
      const made = await Promise.all(Array.from({ length: 8 }, () => tickSchedules(store, [schedule])));
      ticking = false;
      assert.deepEqual([made.reduce((sum, one) => sum + one, 0), await ending], [1, 1]);
    }
  });

  test("a shorter interval holds at once, a repeated declaration changes nothing", async () => {
    const schedule = await declare(24 * hour);
    await tick(schedule);
    const earlier = await nextAt(schedule);
    await declareSchedules(store, [schedule]);
    assert.equal(await nextAt(schedule), earlier);
    await declareSchedules(store, [{ ...schedule, everyMs: hour }]);
    assert.ok((await nextAt(schedule)) <= Date.now() + hour);
  });

  test("workers see to their schedules", async () => {
    const schedule = { name: "by-workers", kind: { name: "by-workers" }, everyMs: hour };
    const queue = createJobQueue(store);
    const ticks: ScheduleTick[] = [];
    const handlers = [jobHandler(schedule.kind, async (job) => void ticks.push(job.payload as ScheduleTick))];
    const workers = Array.from({ length: 3 }, () =>
      startWorker({ queue, handlers, schedules: [schedule], log: silent, pollMs: 20 }),
    );
    await until(async () => ticks.length === 1);
    await setNextAt(schedule, Date.now() - 2.5 * hour);
    await until(async () => ticks.length === 2);
    await Promise.all(workers.map((worker) => worker.stop()));
    assert.deepEqual(
      ticks.map(({ missed }) => missed),
      [0, 2],
    );
  });
}
