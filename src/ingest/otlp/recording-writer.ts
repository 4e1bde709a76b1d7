import { LogBlock } from "../../telemetry/blocks/log-block.ts";
import { MetricBlock } from "../../telemetry/blocks/metric-block.ts";
import { SpanBlock } from "../../telemetry/blocks/span-block.ts";
import type { Appended, TelemetryBlocks, TelemetryTable, TelemetryWriter } from "../../telemetry/contract.ts";

/** One successful append, as it would be sent to the store. */
export interface Recorded {
  readonly table: TelemetryTable;
  readonly rows: number;
  /** The rows in ClickHouse's Native format, as if they had arrived at second 0 with the sequence numbers from 0. */
  readonly native: Buffer;
}

const makeBlock: { readonly [T in TelemetryTable]: () => TelemetryBlocks[T] } = {
  spans: () => new SpanBlock(),
  logs: () => new LogBlock(),
  metric_points: () => new MetricBlock(),
};

export interface RecordingWriter extends TelemetryWriter {
  readonly recorded: Recorded[];
  /** Called for each append; may throw, as a writer does whose store is away, and may reject. Resolves by default. */
  store: () => Promise<void>;
}

/** A writer for tests: it keeps what is appended, and counts it as stored when its `store` says so. */
export function createRecordingWriter(): RecordingWriter {
  const recorded: Recorded[] = [];
  const writer = {
    recorded,
    store: () => Promise.resolve(),
    append<T extends TelemetryTable, R>(table: T, fill: (block: TelemetryBlocks[T]) => R): Appended<R> {
      const stored = writer.store();
      const block = makeBlock[table]();
      const result = fill(block);
      const native = Buffer.concat(block.seal({ receivedSeconds: 0, seq: { hi: 0, lo: 0 } }));
      recorded.push({ table, rows: block.rows, native });
      return { result, stored };
    },
  };
  return writer;
}
