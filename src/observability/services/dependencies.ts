import type { Calls } from "./calls.ts";
import type { ServiceKey } from "./find.ts";

/** Calls of one service to another; one of the two is the service that was asked about. */
export interface Dependency {
  readonly source_service: string;
  readonly target_service: string;
  readonly request_count: number;
  /** 0–1 */
  readonly error_rate: number;
  readonly avg_latency_ms: number;
}

/** Who calls the service and whom it calls, of all `calls`; by source, then by target. */
export function dependenciesOf({ namespace, name }: ServiceKey, calls: readonly Calls[]): Dependency[] {
  const sums = new Map<
    string,
    { source: string; target: string; requests: number; errors: number; duration: number }
  >();
  for (const { source, sourceNamespace, target, targetNamespace, requests, errors, duration } of calls) {
    const isCaller = source === name && sourceNamespace === namespace;
    const isCalled = target === name && targetNamespace === namespace;
    if (!isCaller && !isCalled) continue;
    const key = JSON.stringify([source, target]);
    const sum = sums.get(key) ?? { source, target, requests: 0, errors: 0, duration: 0 };
    sum.requests += requests;
    sum.errors += errors;
    sum.duration += duration;
    sums.set(key, sum);
  }
  return [...sums.values()]
    .toSorted((a, b) => compare(a.source, b.source) || compare(a.target, b.target))
    .map(({ source, target, requests, errors, duration }) => ({
      source_service: source,
      target_service: target,
      request_count: requests,
      error_rate: errors / requests,
      avg_latency_ms: duration / requests / 1e6,
    }));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
