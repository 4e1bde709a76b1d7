/**
 * A column of a block, in ClickHouse's Native format. Every row holds the type's default (0, empty) until something
 * is set for it, so that a row costs what it carries and not what the table is wide. Rows are set in rising order.
 */
export interface Column {
  readonly name: string;
  /** The type as the table's definition writes it. */
  readonly type: string;
  /** Memory that `rows` rows take. */
  byteLength(rows: number): number;
  /** What `rollback` needs beside the number of rows. */
  mark(): unknown;
  /** Back to how it was at `mark`, when the block had `rows` rows; `until` is the number of rows that it has now. */
  rollback(rows: number, until: number, mark: unknown): void;
  /** Adds the data of `rows` rows to `out`. The bytes may be the column's own memory, valid until `reset`. */
  seal(rows: number, out: Buffer[]): void;
  /** Empties the column, which held `rows` rows. */
  reset(rows: number): void;
}
