import type { Block, ResourceEntry } from "../../../telemetry/blocks/block.ts";
import { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";
import type { Memo } from "../../../telemetry/blocks/memo.ts";
import { MalformedPayload } from "./malformed-payload.ts";
import { Reader } from "./reader.ts";
import { readResource, readScope } from "./resource.ts";

/** Whose rows they are, and when they came. */
export interface DecodeContext {
  readonly workspace: string;
  readonly project: string;
  /** Unix milliseconds of arrival; defaults to now. */
  readonly nowMs?: number;
}

export interface Decoded {
  /** Rows that were appended. */
  readonly accepted: number;
  /** Spans, records or points that were not, since they cannot be stored. */
  readonly rejected: number;
  /** Why, in a sentence for the sender; there where something was rejected. */
  readonly message?: string;
}

/** The tag of a resource's scopes, and of a scope's items. */
const itemsTag = 0x12;

/**
 * Rows that one payload may have. A row costs far more memory than the two bytes that an empty record takes in a
 * payload, so that the payload's size alone would not bound it. Exporters send some hundreds, collectors thousands.
 */
const maxRows = 1_000_000;

/** Throws where a payload has made more than its share of rows. */
export function checkRows(rows: number): void {
  if (rows > maxRows) throw new MalformedPayload(`The payload holds more than ${maxRows} records.`);
}

/**
 * Reads an export request of any signal: in all of them resources hold scopes and scopes hold items, under the same
 * field numbers. `readItem` appends the rows of the item that ends at `end`; what these share is given to them here.
 */
export function readPayload(
  bytes: Uint8Array,
  block: Block,
  context: DecodeContext,
  readItem: (r: Reader, end: number, resource: ResourceEntry) => void,
): void {
  const r = new Reader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const end = bytes.byteLength;
  const firstRow = block.rows;
  const workspace = block.workspace.texts.indexOfText(context.workspace);
  const project = block.project.texts.indexOfText(context.project);
  const resourceHead = new Head();
  const scopeHead = new Head();

  const readScopeItems = (scopeEnd: number, resource: ResourceEntry): void => {
    const rowsBefore = block.rows;
    scopeHead.clear();
    while (r.pos < scopeEnd) {
      const tag = r.tag(scopeEnd);
      if (tag !== itemsTag) {
        scopeHead.read(r, tag, scopeEnd);
        continue;
      }
      const after = r.enter(scopeEnd);
      readItem(r, after, resource);
      checkRows(block.rows - firstRow);
      r.pos = after;
    }
    const scope = scopeHead.lookUp(r.view, block.scopes, (message, schemaUrl) => readScope(message, schemaUrl, block));
    if (block.rows > rowsBefore) block.share(workspace, project, resource, scope);
  };

  while (r.pos < end) {
    const tag = r.tag(end);
    if (tag !== 0x0a) {
      r.skip(tag, end, 0b10);
      continue;
    }
    const resourceEnd = r.enter(end);
    const start = r.pos;
    resourceHead.clear();
    // The scopes' rows need the resource, which a sender may write behind them.
    while (r.pos < resourceEnd) {
      const inner = r.tag(resourceEnd);
      if (inner === itemsTag) r.pass(resourceEnd);
      else resourceHead.read(r, inner, resourceEnd);
    }
    const resource = resourceHead.lookUp(r.view, block.resources, (message, url) => readResource(message, url, block));
    r.pos = start;
    while (r.pos < resourceEnd) {
      const inner = r.tag(resourceEnd);
      if (inner === itemsTag) readScopeItems(r.enter(resourceEnd), resource);
      else r.skip(inner, resourceEnd, 0);
    }
  }
}

/** What a resource or a scope says of itself, as it was sent. */
class Head {
  /**
   * The message, then its schema's URL, then the message's length: what tells it from all others. Of a message that
   * comes in several parts protobuf wants them merged, which is what reading them as one does.
   */
  readonly #key = new GrowingBytes();
  #urlStart = 0;
  #urlEnd = 0;

  clear(): void {
    this.#key.length = 0;
    this.#urlStart = 0;
    this.#urlEnd = 0;
  }

  /** Reads a field of ResourceSpans, ScopeSpans or their like that is none of the items. */
  read(r: Reader, tag: number, end: number): void {
    if (tag === 0x0a) {
      r.pass(end);
      this.#key.appendBytes(r.view, r.from, r.to);
    } else if (tag === 0x1a) {
      r.pass(end);
      this.#urlStart = r.from;
      this.#urlEnd = r.to;
    } else {
      r.skip(tag, end, 0b1110);
    }
  }

  /** What `make` worked out from the same bytes before, or works out now. `view` is what was read from. */
  lookUp<T>(view: DataView, memo: Memo<T>, make: (message: DataView, schemaUrl: DataView) => T): T {
    const key = this.#key;
    const size = key.length;
    key.appendBytes(view, this.#urlStart, this.#urlEnd);
    const urlSize = key.length - size;
    key.append64(0, size);
    return memo.get(key.view, 0, key.length, () => {
      const { buffer } = key.bytes;
      return make(new DataView(buffer, 0, size), new DataView(buffer, size, urlSize));
    });
  }
}
