import { seqStep, type Seq } from "../sequence.ts";
import type { Column } from "./column.ts";
import { FixedColumn } from "./fixed-column.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { Memo } from "./memo.ts";
import { RunColumn } from "./run-column.ts";

/** What all rows of one resource share. The numbers are entries of the columns that have these names. */
export interface ResourceEntry {
  readonly serviceNamespace: number;
  readonly serviceName: number;
  readonly serviceVersion: number;
  readonly serviceInstance: number;
  readonly environment: number;
  readonly resource: number;
  readonly resourceMeta: number;
  /** `session.id` in UTF-8; empty where the resource has none. */
  readonly session: DataView;
}

/** What all rows of one instrumentation scope share. */
export interface ScopeEntry {
  readonly scope: number;
  readonly scopeMeta: number;
}

export interface BlockMark {
  readonly rows: number;
  readonly columns: readonly unknown[];
  readonly resources: number;
  readonly scopes: number;
}

/**
 * Rows on their way into one table, column by column, as the bytes of ClickHouse's Native format: what is appended
 * needs no further step before it is sent. To append rows, set what they carry in the columns, count each with
 * `endRow`, and give what they share to `share`, after they have been counted. A row in which nothing is set holds
 * defaults.
 */
export abstract class Block {
  /** Rows that are complete, and so also the number of the row that is being filled. */
  rows = 0;
  /** The resources and scopes that rows of this block have. */
  readonly resources = new Memo<ResourceEntry>();
  readonly scopes = new Memo<ScopeEntry>();

  readonly #received = new FixedColumn("received", "DateTime('UTC')");
  readonly #seq = new FixedColumn("seq", "UInt64");
  readonly workspace = new RunColumn("workspace");
  readonly project = new RunColumn("project");
  readonly serviceNamespace = new RunColumn("service_namespace");
  readonly serviceName = new RunColumn("service_name");
  readonly serviceVersion = new RunColumn("service_version");
  readonly serviceInstance = new RunColumn("service_instance");
  readonly environment = new RunColumn("environment");
  readonly resource = new RunColumn("resource");
  readonly resourceMeta = new RunColumn("resource_meta");
  readonly scope = new RunColumn("scope");
  readonly scopeMeta = new RunColumn("scope_meta");

  /** Every column that is sent, those of all blocks included. */
  abstract readonly columns: readonly Column[];

  /** The columns that the blocks of all tables have. */
  protected shared(): Column[] {
    return [
      this.workspace,
      this.project,
      this.#received,
      this.#seq,
      this.serviceNamespace,
      this.serviceName,
      this.serviceVersion,
      this.serviceInstance,
      this.environment,
      this.resource,
      this.resourceMeta,
      this.scope,
      this.scopeMeta,
    ];
  }

  /** Counts the row that has been filled. */
  endRow(): void {
    this.rows += 1;
  }

  /** Gives all rows since the last call what they share; `workspace` and `project` are entries of those columns. */
  share(workspace: number, project: number, resource: ResourceEntry, scope: ScopeEntry): void {
    const end = this.rows;
    this.workspace.setUntil(end, workspace);
    this.project.setUntil(end, project);
    this.serviceNamespace.setUntil(end, resource.serviceNamespace);
    this.serviceName.setUntil(end, resource.serviceName);
    this.serviceVersion.setUntil(end, resource.serviceVersion);
    this.serviceInstance.setUntil(end, resource.serviceInstance);
    this.environment.setUntil(end, resource.environment);
    this.resource.setUntil(end, resource.resource);
    this.resourceMeta.setUntil(end, resource.resourceMeta);
    this.scope.setUntil(end, scope.scope);
    this.scopeMeta.setUntil(end, scope.scopeMeta);
  }

  /** Memory that the rows take, in bytes. */
  get byteLength(): number {
    if (this.rows === 0) return 0;
    let bytes = this.resources.byteLength + this.scopes.byteLength;
    for (const column of this.columns) bytes += column.byteLength(this.rows);
    return bytes;
  }

  /** Where the block stands, between two rows. */
  mark(): BlockMark {
    return {
      rows: this.rows,
      columns: this.columns.map((column) => column.mark()),
      resources: this.resources.mark(),
      scopes: this.scopes.mark(),
    };
  }

  /** Takes out all that was appended since `mark`, a row that was begun included. */
  rollback(mark: BlockMark): void {
    // A row that was being filled has left its traces one further.
    const until = this.rows + 1;
    this.rows = mark.rows;
    for (const [i, column] of this.columns.entries()) column.rollback(mark.rows, until, mark.columns[i]);
    this.resources.rollback(mark.resources);
    this.scopes.rollback(mark.scopes);
  }

  /**
   * The block in the Native format, header and all, with the arrival of its rows filled in. The bytes are the block's
   * own memory, valid until `reset`. Nothing may be appended after it.
   *
   * @param arrival.receivedSeconds Unix seconds
   * @param arrival.seq of the first row; each row after it has the next number
   */
  seal(arrival: { readonly receivedSeconds: number; readonly seq: Seq }): Buffer[] {
    const { rows } = this;
    let { hi, lo } = arrival.seq;
    for (let row = 0; row < rows; row++) {
      this.#received.set32(row, arrival.receivedSeconds);
      this.#seq.set64(row, hi, lo);
      lo += seqStep;
      if (lo > 0xffffffff) {
        lo -= 0x100000000;
        hi += 1;
      }
    }
    const size = new GrowingBytes();
    size.appendVarint(this.columns.length);
    size.appendVarint(rows);
    const out = [size.inUse()];
    for (const column of this.columns) {
      out.push(columnHead(column));
      // Of no rows, the format has nothing but the columns' names and types.
      if (rows > 0) column.seal(rows, out);
    }
    return out;
  }

  /** Empties the block and keeps the memory that the next rows will need. */
  reset(): void {
    for (const column of this.columns) column.reset(this.rows);
    this.resources.reset();
    this.scopes.reset();
    this.rows = 0;
  }
}

function columnHead(column: Column): Buffer {
  const head = new GrowingBytes();
  for (const text of [column.name, column.type]) {
    head.appendVarint(text.length);
    head.appendAscii(text);
  }
  return head.inUse();
}
