import { unixNano } from "../http/timestamp.ts";

/** Unix nanoseconds: `start` inclusive, `end` exclusive. */
export interface Window {
  readonly start: bigint;
  readonly end: bigint;
}

const day = 24n * 3_600_000_000_000n;

/** The window that the parameters ask for: up to `now` (Unix milliseconds) and from 24 hours before its end, by default. */
export function windowOf(
  { startTime, endTime }: { readonly startTime?: string; readonly endTime?: string },
  now: number,
): Window {
  const end = endTime === undefined ? BigInt(now) * 1_000_000n : unixNano(endTime);
  const start = startTime === undefined ? lift(end - day) : unixNano(startTime);
  // A start in the future, without an end: an empty window.
  return { start, end: end < start ? start : end };
}

/** The store has no time before this. */
function lift(time: bigint): bigint {
  return BigInt.asIntN(64, time) === time ? time : -(2n ** 63n);
}
