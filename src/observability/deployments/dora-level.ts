export const levels = ["elite", "high", "medium", "low"] as const;
export type PerformanceLevel = (typeof levels)[number];

/** What the levels are read from; null where there was nothing to measure. */
export interface DoraFigures {
  /** Successful deployments a day. */
  readonly deployment_frequency: number;
  readonly lead_time_hours: number | null;
  /** 0 to 1. */
  readonly change_failure_rate: number | null;
  readonly mttr_hours: number | null;
}

const day = 24;
const week = 7 * day;
const month = 30 * day;

/**
 * The level of each figure by the clusters of software delivery performance in DORA's Accelerate State of DevOps Report
 * 2023 (dora.dev/research/2023/dora-report): deployments on demand, i.e. several a day / up to one a day / a week / less
 * than one a month; lead time under a day / a week / a month; 5 / 10 / 15 % of changes fail; recovery in under an hour /
 * a day / a week. The whole is as good as its weakest figure.
 */
export function performanceLevel(figures: DoraFigures): PerformanceLevel {
  const { deployment_frequency: perDay, lead_time_hours: lead, change_failure_rate: rate, mttr_hours: mttr } = figures;
  const ranks = [
    perDay > 1 ? 0 : perDay >= 1 / 7 ? 1 : perDay >= 1 / 30 ? 2 : 3,
    rank(lead, (hours) => (hours < day ? 0 : hours < week ? 1 : hours < month ? 2 : 3)),
    rank(rate, (share) => (share <= 0.05 ? 0 : share <= 0.1 ? 1 : share <= 0.15 ? 2 : 3)),
    rank(mttr, (hours) => (hours < 1 ? 0 : hours < day ? 1 : hours < week ? 2 : 3)),
  ];
  return levels[Math.max(...ranks)]!;
}

/** A figure that could not be measured holds nobody back. */
function rank(figure: number | null, of: (figure: number) => number): number {
  return figure === null ? 0 : of(figure);
}
