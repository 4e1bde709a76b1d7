export const trends = ["increasing", "decreasing", "stable", "new", "spike"] as const;
export type Trend = (typeof trends)[number];

/** Equal parts of the window in which a pattern's records are counted. */
export const trendBuckets = 24;
/** How much more or less of a pattern the second half of the window must have than the first. */
const leastChange = 1.5;
/** How far a spike must stick out: over the mean of the other buckets, and in their standard deviations. */
const spikeFactor = 3;
const spikeSigmas = 3;

export interface Occurrences {
  /** Counts in the `trendBuckets` parts of the window, oldest first. */
  readonly buckets: readonly number[];
  /** First seen in the window's last quarter, and never before the window. */
  readonly isNew: boolean;
}

export function trendOf({ buckets, isNew }: Occurrences): Trend {
  if (isNew) return "new";
  if (isSpike(buckets)) return "spike";
  const half = trendBuckets / 2;
  const before = sum(buckets.slice(0, half));
  const after = sum(buckets.slice(half));
  if (after >= before * leastChange) return "increasing";
  if (after * leastChange <= before) return "decreasing";
  return "stable";
}

function isSpike(buckets: readonly number[]): boolean {
  const last = buckets.at(-1) ?? 0;
  const others = buckets.slice(0, -1);
  const mean = sum(others) / others.length;
  const sigma = Math.sqrt(sum(others.map((count) => (count - mean) ** 2)) / others.length);
  return last > mean + spikeSigmas * sigma && last >= spikeFactor * mean;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
