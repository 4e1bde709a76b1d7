/**
 * What the rest of Vigil sees of the telemetry store.
 *
 * - A write counts as durable when `stored` has resolved; until then nothing may be acknowledged.
 * - Rows are appended synchronously into a shared open block per table and inserted together
 *   (group commit); whoever appends must not keep the block past its callback.
 * - Reads are ClickHouse SQL with bound parameters (`{name:Type}`); no text of a client is ever part of the SQL.
 */
import type { LogBlock } from "./blocks/log-block.ts";
import type { MetricBlock } from "./blocks/metric-block.ts";
import type { SpanBlock } from "./blocks/span-block.ts";

export interface TelemetryBlocks {
  readonly spans: SpanBlock;
  readonly logs: LogBlock;
  readonly metric_points: MetricBlock;
}
export type TelemetryTable = keyof TelemetryBlocks;

export interface Appended<R> {
  /** What the callback returned. */
  readonly result: R;
  /** Resolves when every row that the callback appended is stored; rejects with StoreUnavailable. */
  readonly stored: Promise<void>;
}

export interface TelemetryWriter {
  /**
   * Calls `fill` with the open block of `table`, at once and synchronously. A throw in `fill` takes
   * its rows out again and passes on. Throws StoreUnavailable (store is away) or StoreOverloaded
   * (too many bytes wait) before `fill` is called.
   */
  append<T extends TelemetryTable, R>(table: T, fill: (block: TelemetryBlocks[T]) => R): Appended<R>;
}

export type ParamValue = string | number | bigint | boolean | null | readonly ParamValue[];

export interface Query {
  readonly sql: string;
  readonly params?: Readonly<Record<string, ParamValue>>;
  /** Whole seconds the engine may spend; default 30. Past it the query is stopped and QueryTimeout thrown. */
  readonly maxSeconds?: number;
  readonly signal?: AbortSignal;
}

export interface TelemetryReader {
  /** Parsed rows. 64-bit integers come as numbers where they are safe, so select them as text where they may not be. */
  rows<T>(query: Query): Promise<T[]>;
  /** The answer's bytes as the engine printed them; the SQL names its FORMAT. */
  bytes(query: Query): Promise<Buffer>;
}

export interface StoreState {
  readonly status: "ready" | "starting" | "away";
  /** A sentence for people when it is not ready. */
  readonly detail?: string;
}

export interface TelemetryStore extends TelemetryReader {
  readonly writer: TelemetryWriter;
  state(): StoreState;
  /** Inserts what waits, then closes. */
  close(): Promise<void>;
}
