/** Mutual exclusion by name within this process: those who wait run in the order in which they came. */
export function namedLocks(): <T>(name: string, fn: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (name, fn) => {
    const before = last.get(name);
    const mine = before === undefined ? fn() : before.then(fn, fn);
    last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (last.get(name) === mine) last.delete(name);
    }
  };
}
