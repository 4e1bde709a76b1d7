import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable } from "../core/errors.ts";
import { GiveUpJob, JobStopped, RetryJobLater } from "../core/job.ts";
import type { Job, JobKind } from "../core/job.ts";
import type { Log } from "../core/log.ts";
import { backoffMs } from "./job-backoff.ts";
import { claimJobs, completeJob, extendLeases, failJob, releaseJobs } from "./job-leases.ts";
import type { ClaimedJob } from "./job-leases.ts";
import { declareSchedules, tickSchedules } from "./job-schedules.ts";
import type { Schedule } from "./job-schedules.ts";
import type { JobQueue } from "./jobs.ts";

/** What does the jobs of one kind. */
export interface JobHandler {
  readonly kind: string;
  readonly run: (job: Job<unknown>) => Promise<void>;
}

/**
 * Ties a function to the kind of job that it does. The job is completed when it resolves. When it throws, the job is
 * tried again later: after a backoff, or when a RetryJobLater says; never after a GiveUpJob.
 */
export function jobHandler<P>(kind: JobKind<P>, run: (job: Job<P>) => Promise<void>): JobHandler {
  return { kind: kind.name, run: (job) => run(job as Job<P>) };
}

export interface WorkerOptions {
  readonly queue: JobQueue;
  readonly handlers: readonly JobHandler[];
  readonly schedules?: readonly Schedule[];
  /** Jobs at a time; default 4. */
  readonly concurrency?: number;
  /** How long a job stays with a worker of which nothing is heard; default 30,000. Heartbeats come three times in it. */
  readonly leaseMs?: number;
  /** Longest pause between two looks at an empty queue; default 1000. Jobs of this process are seen at once. */
  readonly pollMs?: number;
  readonly log: Log;
}

export interface Worker {
  /**
   * Takes no more jobs, waits for those that run, and after `deadlineMs` (default 10,000) tells them to stop and gives
   * them back to the queue without counting the attempt.
   */
  stop(deadlineMs?: number): Promise<void>;
}

interface Running {
  readonly job: ClaimedJob;
  readonly stopper: AbortController;
  /** performance.now() until which the lease certainly stands. */
  heldUntil: number;
  ended?: Promise<void>;
}

/** Pause after the first empty look; it doubles from there, since more often comes soon after a change or not at all. */
const shortestPollMs = 10;
const tickEveryMs = 1000;
const pruneEveryMs = 3_600_000;

/** Starts doing jobs of the handlers' kinds, and sees to the schedules. It goes on through a database that goes away. */
export function startWorker(options: WorkerOptions): Worker {
  const { queue, handlers, schedules = [], concurrency = 4, leaseMs = 30_000, pollMs = 1000, log } = options;
  const { store } = queue;
  const byKind = new Map(handlers.map((handler) => [handler.kind, handler]));
  const running = new Set<Running>();
  const stopping = new AbortController();
  const alarm = createAlarm();
  const unsubscribe = queue.subscribe((change) => {
    if (change === "enqueued") alarm.ring();
    else void beat();
  });
  let away = false;
  /** Nothing is reported any more: what still runs has been given back. */
  let over = false;
  let declared = schedules.length === 0;
  let tickAt = 0;
  let pruneAt = 0;

  /** Runs one round trip to the database; a failure is logged once until the next success. */
  async function attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      if (away) log.info("Jobs go on.");
      away = false;
      return true;
    } catch (error) {
      if (!away) log.warn({ err: error }, "The job queue cannot be used at the moment.");
      away = true;
      return false;
    }
  }

  async function look(): Promise<number> {
    const now = performance.now();
    if (schedules.length > 0 && now >= tickAt) {
      if (!declared) await declareSchedules(store, schedules);
      declared = true;
      await tickSchedules(store, schedules);
      tickAt = performance.now() + tickEveryMs;
    }
    if (now >= pruneAt) {
      await queue.prune();
      pruneAt = performance.now() + pruneEveryMs;
    }
    const limit = concurrency - running.size;
    if (limit <= 0 || byKind.size === 0) return 0;
    const heldUntil = performance.now() + leaseMs;
    const { claimed, buried } = await claimJobs(store, { kinds: [...byKind.keys()], limit, leaseMs });
    for (const { id, kind, status } of buried) log.error({ job: id, kind, status }, "A job ended without an answer.");
    if (stopping.signal.aborted) await releaseJobs(store, claimed);
    else for (const job of claimed) begin(job, heldUntil);
    return claimed.length + buried.length;
  }

  function begin(job: ClaimedJob, heldUntil: number): void {
    const entry: Running = { job, stopper: new AbortController(), heldUntil };
    running.add(entry);
    entry.ended = run(entry)
      .catch((error: unknown) => log.error({ err: error, job: job.id }, "A job's outcome could not be stored."))
      .finally(() => {
        running.delete(entry);
        alarm.ring();
      });
  }

  async function run(entry: Running): Promise<void> {
    const { id, kind, payload, attempt: number, maxAttempts, createdAt } = entry.job;
    const { signal } = entry.stopper;
    let failure: { error: unknown } | undefined;
    try {
      await byKind.get(kind)!.run({ id, payload, attempt: number, maxAttempts, createdAt, signal });
    } catch (error) {
      failure = { error };
    }
    // A job that was handed back, or lost, is somebody else's, whatever came of it here.
    if (isGone(signal)) return;
    await untilHeard(signal, async () => {
      if (failure === undefined) {
        if (!(await completeJob(store, entry.job)))
          log.warn({ job: id, kind }, "A job was done after its lease was lost.");
        return;
      }
      const { error } = failure;
      const status = await failJob(store, entry.job, describe(error), retryIn(error, number));
      const level = status === "queued" ? "warn" : status === "cancelled" ? "info" : "error";
      log[level]({ err: error, job: id, kind, attempt: number, status: status ?? "lost" }, "A job's attempt failed.");
    });
  }

  /** Repeats a report to the queue through a database that is away, for as long as the job is still ours. */
  async function untilHeard(signal: AbortSignal, report: () => Promise<void>): Promise<void> {
    for (let wait = 50; ; wait = Math.min(wait * 2, 1000)) {
      try {
        return await report();
      } catch (error) {
        if (over || isGone(signal) || !(error instanceof StoreUnavailable)) throw error;
        await sleep(wait);
      }
    }
  }

  /** Extends the leases of what runs, and stops what was cancelled or lost. */
  async function beat(): Promise<void> {
    const entries = [...running];
    if (entries.length === 0) return;
    const heldUntil = performance.now() + leaseMs;
    await attempt(async () => {
      const held = await extendLeases(
        store,
        entries.map(({ job }) => job),
        leaseMs,
      );
      const answers = new Map(held.map((answer) => [answer.id, answer]));
      for (const entry of entries) {
        // What ended while the question was under way has no lease to lose.
        if (!running.has(entry)) continue;
        const answer = answers.get(entry.job.id);
        if (answer === undefined || answer.lease !== entry.job.lease) entry.stopper.abort(new JobStopped("lease_lost"));
        else if (answer.cancelRequested) entry.stopper.abort(new JobStopped("cancelled"));
        if (answer !== undefined) entry.heldUntil = heldUntil;
      }
    });
  }

  /** Stops what no heartbeat has kept: by now another worker may do it. */
  function dropLost(): void {
    for (const entry of running) {
      if (performance.now() >= entry.heldUntil) entry.stopper.abort(new JobStopped("lease_lost"));
    }
  }

  async function lookOn(): Promise<void> {
    for (let pause = shortestPollMs; !stopping.signal.aborted;) {
      let found = 0;
      const heard = await attempt(async () => {
        found = await look();
      });
      if (found > 0) pause = shortestPollMs;
      const full = running.size >= concurrency;
      if (found > 0 && !full) continue;
      if (await alarm.wait(heard ? pause : Math.max(pause, 500))) pause = shortestPollMs;
      else pause = Math.min(pause * 2, pollMs);
    }
  }

  const looking = lookOn();
  const timers = [setInterval(() => void beat(), leaseMs / 3), setInterval(dropLost, leaseMs / 20)];

  return {
    async stop(deadlineMs = 10_000) {
      stopping.abort();
      unsubscribe();
      alarm.ring();
      const all = looking.then(() => Promise.all([...running].map((entry) => entry.ended)));
      const deadline = new AbortController();
      await Promise.race([all, sleep(deadlineMs, undefined, { signal: deadline.signal }).catch(() => {})]);
      deadline.abort();
      for (const timer of timers) clearInterval(timer);
      over = true;
      const left = [...running];
      for (const { stopper } of left) stopper.abort(new JobStopped("worker_stops"));
      if (left.length === 0) return;
      log.warn({ jobs: left.map(({ job }) => job.id) }, "Jobs that did not end in time go back to the queue.");
      await attempt(() =>
        releaseJobs(
          store,
          left.map(({ job }) => job),
        ),
      );
    },
  };
}

/** Whether a job is no longer its worker's. A cancelled one is: its end is still to be reported. */
function isGone({ aborted, reason }: AbortSignal): boolean {
  return aborted && (reason as JobStopped).reason !== "cancelled";
}

function retryIn(error: unknown, attempt: number): number | undefined {
  if (error instanceof GiveUpJob) return undefined;
  const asked = error instanceof RetryJobLater ? error.seconds * 1000 : Number.NaN;
  // What asks for no sensible time gets what others get.
  return asked >= 0 && Number.isFinite(asked) ? asked : backoffMs(attempt);
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** A wait that a ring ends early, also a ring that came before it. */
function createAlarm() {
  let rung = false;
  let wake = () => {};
  return {
    ring() {
      rung = true;
      wake();
    },
    /** Resolves to whether it was rung. */
    async wait(ms: number): Promise<boolean> {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, ms);
        await promise;
        clearTimeout(timer);
      }
      const was = rung;
      rung = false;
      return was;
    },
  };
}
