/** A moment in nanoseconds since 1970, in signed 32-bit halves of a signed 64-bit number. */
export interface Nanos {
  readonly hi: number;
  readonly lo: number;
}

export function nanosOfMs(ms: number): Nanos {
  const nanos = BigInt(Math.floor(ms)) * 1_000_000n;
  return { hi: Number(BigInt.asIntN(32, nanos >> 32n)), lo: Number(BigInt.asIntN(32, nanos)) };
}

/** The greatest moment that the store has a number for, in the year 2262. Later ones count as it. */
export const latest: Nanos = { hi: 0x7fffffff, lo: -1 };
