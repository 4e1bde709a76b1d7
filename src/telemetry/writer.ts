import { StoreOverloaded, StoreUnavailable } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Appended } from "./contract.ts";
import type { Seq, Sequence } from "./sequence.ts";

/** What the writer needs of a block; those in `blocks/` have more. */
export interface WritableBlock {
  readonly rows: number;
  /** Memory that the rows take. */
  readonly byteLength: number;
  mark(): unknown;
  /** Takes out what was appended since `mark`. */
  rollback(mark: unknown): void;
  /** The whole block in ClickHouse's Native format. The bytes may be the block's own memory, valid until `reset`. */
  seal(arrival: { readonly receivedSeconds: number; readonly seq: Seq }): Buffer[];
  /** Empties the block and keeps the memory that the next rows will need. */
  reset(): void;
}

/** Table names and their blocks; an interface that lists them will do. */
type BlocksByTable<Blocks> = { readonly [T in keyof Blocks]: WritableBlock };

export interface WriterLimits {
  /** How long a block waits for company after its first row. Short, since a lone sender waits all of it. */
  readonly lingerMs: number;
  /** At least so much lies between the starts of two inserts into a table: each makes a part that has to be merged. */
  readonly minIntervalMs: number;
  /** A block is full, and neither waits nor grows, from so many rows on … */
  readonly maxRows: number;
  /** … or so many bytes. */
  readonly maxBytes: number;
  /** Rows may take so many bytes until they are stored, all tables together; past it appends are refused. */
  readonly maxWaitingBytes: number;
}

const defaultWriterLimits: WriterLimits = {
  lingerMs: 20,
  minIntervalMs: 100,
  maxRows: 100_000,
  maxBytes: 32 * 2 ** 20,
  maxWaitingBytes: 128 * 2 ** 20,
};

export interface WriterOptions<Blocks extends BlocksByTable<Blocks>> {
  /** Makes an empty block, for each table. */
  readonly blocks: { readonly [T in keyof Blocks]: () => Blocks[T] };
  /** Resolves when the rows are stored. Called for one block of a table at a time. */
  readonly insert: (table: keyof Blocks & string, body: Buffer[], block: Blocks[keyof Blocks]) => Promise<void>;
  /** Throws StoreUnavailable while rows cannot be stored. */
  readonly admit: () => void;
  readonly sequence: Sequence;
  readonly log: Log;
  readonly limits?: Partial<WriterLimits>;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export interface GroupCommitWriter<Blocks extends BlocksByTable<Blocks>> {
  append<T extends keyof Blocks & string, R>(table: T, fill: (block: Blocks[T]) => R): Appended<R>;
  /** Runs `fn` when no insert is under way, and starts none until it has settled; appends wait in memory. */
  hold<T>(fn: () => Promise<T>): Promise<T>;
  /** Inserts what waits, at once, and resolves when all is stored or has failed. Appends are refused from now on. */
  close(): Promise<void>;
}

/**
 * Group commit: rows of many requests go into one open block a table, and the block is inserted as a whole. Of a table
 * one insert is under way at a time, and what arrives meanwhile makes the next, so that inserts grow with the load
 * instead of their number. A failed insert is not repeated: whoever waits is told, and sends again.
 */
export function createWriter<Blocks extends BlocksByTable<Blocks>>(
  options: WriterOptions<Blocks>,
): GroupCommitWriter<Blocks> {
  const { admit, log, sequence, insert, now = Date.now } = options;
  const limits = { ...defaultWriterLimits, ...options.limits };
  const budget: Budget = { waiting: 0, holds: 0 };
  const tables = new Map<string, TableWriter>();
  for (const name of Object.keys(options.blocks) as (keyof Blocks & string)[]) {
    tables.set(
      name,
      new TableWriter({
        makeBlock: options.blocks[name],
        // Async, so that a failing seal is a failed insert like any other.
        store: async (block) => {
          const seq = sequence.take(block.rows);
          await insert(
            name,
            block.seal({ receivedSeconds: Math.floor(now() / 1000), seq }),
            block as Blocks[keyof Blocks],
          );
        },
        failed: (error, rows) => log.error({ err: error, table: name, rows }, "telemetry rows could not be stored"),
        limits,
        budget,
      }),
    );
  }
  let closed = false;

  return {
    append<T extends keyof Blocks & string, R>(table: T, fill: (block: Blocks[T]) => R) {
      if (closed) throw new StoreUnavailable("Vigil is shutting down.");
      admit();
      if (budget.waiting >= limits.maxWaitingBytes) {
        throw new StoreOverloaded("More telemetry waits to be stored than memory allows.");
      }
      // The table's blocks were made by options.blocks[table], so that this is what `fill` takes.
      return tables.get(table)!.append(fill as (block: WritableBlock) => R);
    },
    async hold(fn) {
      budget.holds += 1;
      try {
        await Promise.all([...tables.values()].map((table) => table.idle()));
        return await fn();
      } finally {
        budget.holds -= 1;
        for (const table of tables.values()) table.pump();
      }
    },
    async close() {
      closed = true;
      await Promise.all([...tables.values()].map((table) => table.drain()));
    },
  };
}

/** What the tables of a writer share. */
interface Budget {
  /** Bytes of all rows that are not stored yet. */
  waiting: number;
  /** While over 0, no insert starts. */
  holds: number;
}

interface Batch {
  readonly block: WritableBlock;
  readonly stored: PromiseWithResolvers<void>;
  bytes: number;
}

class TableWriter {
  readonly #makeBlock: () => WritableBlock;
  readonly #store: (block: WritableBlock) => Promise<void>;
  readonly #failed: (error: unknown, rows: number) => void;
  readonly #limits: WriterLimits;
  readonly #budget: Budget;
  /** Full blocks, oldest first: they wait for the insert before them alone. */
  readonly #full: Batch[] = [];
  #open: Batch | undefined;
  #inFlight: Promise<void> | undefined;
  /** Kept for the next rows, so that a steady load allocates nothing. */
  #spare: WritableBlock | undefined;
  #linger: NodeJS.Timeout | undefined;
  #pause: NodeJS.Timeout | undefined;
  #draining = false;

  constructor(options: {
    makeBlock: () => WritableBlock;
    store: (block: WritableBlock) => Promise<void>;
    failed: (error: unknown, rows: number) => void;
    limits: WriterLimits;
    budget: Budget;
  }) {
    this.#makeBlock = options.makeBlock;
    this.#store = options.store;
    this.#failed = options.failed;
    this.#limits = options.limits;
    this.#budget = options.budget;
  }

  append<R>(fill: (block: WritableBlock) => R): Appended<R> {
    const batch = (this.#open ??= this.#newBatch());
    const { block } = batch;
    const rowsBefore = block.rows;
    const mark = block.mark();
    let result: R;
    try {
      result = fill(block);
    } catch (error) {
      block.rollback(mark);
      throw error;
    }
    if (block.rows === rowsBefore) return { result, stored: Promise.resolve() };

    const bytes = block.byteLength;
    this.#budget.waiting += bytes - batch.bytes;
    batch.bytes = bytes;
    if (block.rows >= this.#limits.maxRows || bytes >= this.#limits.maxBytes) {
      this.#full.push(batch);
      this.#open = undefined;
      this.#stopLinger();
      this.pump();
    } else if (rowsBefore === 0) {
      this.#linger = setTimeout(() => {
        this.#linger = undefined;
        this.pump();
      }, this.#limits.lingerMs);
    }
    return { result, stored: batch.stored.promise };
  }

  /** Starts the next insert, if one may start. */
  pump(): void {
    if (this.#inFlight || (this.#budget.holds > 0 && !this.#draining)) return;
    let batch = this.#full.shift();
    if (!batch && this.#open && this.#open.block.rows > 0) {
      const due = this.#draining || (this.#linger === undefined && this.#pause === undefined);
      if (!due) return;
      this.#stopLinger();
      batch = this.#open;
      this.#open = undefined;
    }
    if (batch) this.#inFlight = this.#commit(batch);
  }

  /** Resolves when no insert of this table is under way. */
  async idle(): Promise<void> {
    while (this.#inFlight) await this.#inFlight;
  }

  /** Inserts all that waits, without delay. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.pump();
    await this.idle();
    clearTimeout(this.#pause);
  }

  async #commit(batch: Batch): Promise<void> {
    this.#startPause();
    const { block, stored } = batch;
    try {
      await this.#store(block);
      stored.resolve();
    } catch (error) {
      this.#failed(error, block.rows);
      stored.reject(error instanceof StoreUnavailable ? error : new StoreUnavailable("Telemetry could not be stored."));
    }
    this.#budget.waiting -= batch.bytes;
    block.reset();
    this.#spare = block;
    this.#inFlight = undefined;
    this.pump();
  }

  #newBatch(): Batch {
    const block = this.#spare ?? this.#makeBlock();
    this.#spare = undefined;
    const stored = Promise.withResolvers<void>();
    // Whoever appended may have gone (a client that hung up), and then nobody looks at a failure.
    stored.promise.catch(() => {});
    return { block, stored, bytes: 0 };
  }

  #startPause(): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.pump();
    }, this.#limits.minIntervalMs);
  }

  #stopLinger(): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
  }
}
