export interface DedupOptions {
  /** How long after it succeeded a result is remembered. */
  readonly windowMs?: number;
  /** Results remembered at the most; past it the oldest are forgotten early. */
  readonly maxEntries?: number;
  /** Milliseconds of a clock that never steps back. */
  readonly now?: () => number;
}

export interface Dedup<R> {
  /**
   * Runs `run`, unless it is running or has succeeded under the same key within the window: then its result is this
   * one's too. What failed is forgotten. `run` is called synchronously, or not at all.
   */
  once(key: string, run: () => Promise<R>): Promise<R>;
}

const fiveMinutes = 5 * 60 * 1000;
/** About 40 MB when full; reached only by more than 800 payloads a second. */
const manyEntries = 250_000;

/** Remembers what was done lately, so that the same is not done again. */
export function createDedup<R>(options: DedupOptions = {}): Dedup<R> {
  const { windowMs = fiveMinutes, maxEntries = manyEntries, now = () => performance.now() } = options;
  const running = new Map<string, Promise<R>>();
  /** In the order of their ends, so that the ones to be forgotten are at the front. */
  const done = new Map<string, { readonly until: number; readonly result: R }>();

  function forget(time: number): void {
    for (const [key, { until }] of done) {
      if (until > time && done.size <= maxEntries) return;
      done.delete(key);
    }
  }

  return {
    once(key, run) {
      const time = now();
      forget(time);
      const earlier = done.get(key);
      if (earlier !== undefined) return Promise.resolve(earlier.result);
      const current = running.get(key);
      if (current !== undefined) return current;
      const started = run().then(
        (result) => {
          running.delete(key);
          done.set(key, { until: now() + windowMs, result });
          return result;
        },
        (error: unknown) => {
          running.delete(key);
          throw error;
        },
      );
      running.set(key, started);
      return started;
    },
  };
}
