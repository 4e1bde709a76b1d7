const firstMs = 1000;
const longestMs = 15 * 60_000;

/**
 * Milliseconds to wait after attempt number `attempt` (from 1) has failed: doubling from one second to a quarter of an
 * hour, the second half of it by chance, so that jobs that failed together do not come back together.
 */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const whole = Math.min(longestMs, firstMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(whole / 2 + (whole / 2) * random());
}
