/**
 * Work that outlives a process: what those who ask for it and those who do it agree on. The queue runs a job at least
 * once, so an effect outside the database needs a key of its own that makes a repetition harmless.
 */

/** A kind of work: its name in the queue, and the shape of what goes with it (anything that JSON can hold). */
export interface JobKind<Payload> {
  readonly name: string;
  /** Never set: it carries the payload's type. */
  readonly payload?: Payload;
}

/** `failed` is the end of a job that ran out of attempts or was given up: it stays to be read, with its error. */
export type JobStatus = "queued" | "running" | "completed" | "failed" | "cancelled";

/** A job as the one who does it sees it. */
export interface Job<Payload> {
  readonly id: string;
  readonly payload: Payload;
  /** 1 at the first attempt. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Aborted with a JobStopped when going on is of no use; whoever sees it should throw. */
  readonly signal: AbortSignal;
}

/** What a schedule's job carries. */
export interface ScheduleTick {
  readonly schedule: string;
  /** The newest due time of the schedule when it was found due, in milliseconds since 1970. */
  readonly at: number;
  /** How many due times before `at` passed unseen, which this one job makes up for. */
  readonly missed: number;
}

/** Why a running job should stop: someone cancelled it, another worker may have it by now, or this worker ends. */
export class JobStopped extends Error {
  override readonly name = "JobStopped";
  readonly reason: "cancelled" | "lease_lost" | "worker_stops";
  constructor(reason: JobStopped["reason"]) {
    super(`The job was stopped (${reason}).`);
    this.reason = reason;
  }
}

/** Thrown by who does a job: try again, but not before `seconds` have passed, whatever the queue's own backoff says. */
export class RetryJobLater extends Error {
  override readonly name = "RetryJobLater";
  readonly seconds: number;
  constructor(message: string, seconds: number, options?: ErrorOptions) {
    super(message, options);
    this.seconds = seconds;
  }
}

/** Thrown by who does a job: no further attempt can succeed. */
export class GiveUpJob extends Error {
  override readonly name = "GiveUpJob";
}
