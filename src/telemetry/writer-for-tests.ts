import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { StoreUnavailable } from "../core/errors.ts";
import { createLog } from "../core/log.ts";
import { createSequence } from "./sequence.ts";
import type { Seq } from "./sequence.ts";
import { createWriter } from "./writer.ts";
import type { GroupCommitWriter, WritableBlock, WriterLimits } from "./writer.ts";

/** A block of words; sealed, it is JSON. */
class WordBlock implements WritableBlock {
  words: string[] = [];
  resets = 0;
  failSeal = false;
  get rows() {
    return this.words.length;
  }
  get byteLength() {
    return this.words.reduce((sum, word) => sum + word.length, 0);
  }
  mark() {
    return this.words.length;
  }
  rollback(mark: number) {
    this.words.length = mark;
  }
  seal(arrival: { receivedSeconds: number; seq: Seq }): Buffer[] {
    if (this.failSeal) throw new TypeError("a seal that fails");
    return [Buffer.from(JSON.stringify({ ...arrival, words: this.words }))];
  }
  reset() {
    this.words = [];
    this.resets += 1;
  }
}

export interface Insert {
  readonly table: string;
  readonly words: string[];
  readonly received: number;
  readonly seq: bigint;
  resolve(): void;
  reject(error: Error): void;
}

export interface Bench {
  readonly writer: GroupCommitWriter<{ spans: WordBlock; logs: WordBlock }>;
  /** Inserts that have started, oldest first; each waits until the test settles it. */
  readonly inserts: Insert[];
  readonly made: WordBlock[];
  away: boolean;
  add(table: "spans" | "logs", ...words: string[]): Promise<void>;
  /** Lets mocked time pass, and what became due happen. */
  pass(ms: number): Promise<void>;
}

/** A writer of two tables, whose inserts and time are the test's. */
export function bench(t: TestContext, limits: Partial<WriterLimits> = {}): Bench {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const inserts: Insert[] = [];
  const made: WordBlock[] = [];
  const makeBlock = () => made[made.push(new WordBlock()) - 1]!;
  const writer = createWriter<{ spans: WordBlock; logs: WordBlock }>({
    blocks: { spans: makeBlock, logs: makeBlock },
    insert: (table, body, block) => {
      const sent = JSON.parse(Buffer.concat(body).toString()) as { receivedSeconds: number; seq: Seq; words: string[] };
      assert.equal(sent.words.length, block.rows);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const seq = (BigInt(sent.seq.hi) << 32n) | BigInt(sent.seq.lo);
      inserts.push({ table, words: sent.words, received: sent.receivedSeconds, seq, resolve, reject });
      return promise;
    },
    admit: () => {
      if (self.away) throw new StoreUnavailable("The store is away.");
    },
    sequence: createSequence(() => 1_000, 0),
    log: createLog("silent"),
    now: () => 1_700_000_000_999,
    limits,
  });
  const self: Bench = {
    writer,
    inserts,
    made,
    away: false,
    add: (table, ...words) => writer.append(table, (block) => block.words.push(...words)).stored,
    async pass(ms) {
      t.mock.timers.tick(ms);
      await turn();
    },
  };
  return self;
}

/** How a promise has settled by now, or "waits". */
export function outcome(promise: Promise<unknown>): Promise<string> {
  return Promise.race([
    promise.then(
      () => "stored",
      (error: Error) => error.name,
    ),
    turn("waits"),
  ]);
}
