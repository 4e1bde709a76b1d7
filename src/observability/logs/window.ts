import { unixNano } from "../http/timestamp.ts";

/** Unix nanoseconds, inclusive and exclusive. */
export interface Window {
  readonly start: bigint;
  readonly end: bigint;
}

const day = 86_400_000_000_000n;

/**
 * The window of two date-times that validation has let through: up to `now` (Unix milliseconds) and from 24 hours before
 * its end, unless they say otherwise. Empty where it would begin after now.
 */
export function windowOf(startTime: string | undefined, endTime: string | undefined, now: number): Window {
  const latest = endTime === undefined ? BigInt(now) * 1_000_000n : unixNano(endTime);
  const start = startTime === undefined ? later(latest - day, unixNano("0001-01-01T00:00:00Z")) : unixNano(startTime);
  return { start, end: later(start, latest) };
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
