import { randomInt } from "node:crypto";

/** An unsigned 64-bit number in two halves, since it is more than a double holds exactly. */
export interface Seq {
  readonly hi: number;
  readonly lo: number;
}

/**
 * Between the numbers of two rows that follow each other. The low eight bits are the node's, so that counting on
 * from row to row (and into the next millisecond, when a block is large) never runs into another node's numbers.
 */
export const seqStep = 256;

/** Steps in a millisecond: 14 bits of counter above the eight of the node. */
const stepsPerMs = 2 ** 14;

export interface Sequence {
  /** The first of `count` numbers, each `seqStep` above the one before it. They are this caller's alone. */
  take(count: number): Seq;
}

/**
 * Numbers that rise strictly within a process, also while its clock steps back, and between processes as exactly as
 * their clocks agree: Unix milliseconds (42 bits), a counter (14 bits), the node (8 bits, random at each start, which
 * tells the rows of several nodes apart). More than 16,384 in a millisecond are borrowed from those to come.
 *
 * @param now Unix milliseconds
 * @param node 0 to 255
 */
export function createSequence(now: () => number = Date.now, node: number = randomInt(256)): Sequence {
  let ms = 0;
  let counter = 0;
  return {
    take(count) {
      const clock = Math.floor(now());
      if (clock > ms) {
        ms = clock;
        counter = 0;
      }
      const first = { hi: Math.floor(ms / 2 ** 10), lo: (ms % 2 ** 10) * 2 ** 22 + counter * seqStep + node };
      counter += count;
      ms += Math.floor(counter / stepsPerMs);
      counter %= stepsPerMs;
      return first;
    },
  };
}
