import { hashMask } from "../masks/mask-hash.ts";
import type { MaskHash } from "../masks/mask-hash.ts";
import { Block } from "./block.ts";
import { FixedColumn } from "./fixed-column.ts";
import { LowCardinalityColumn } from "./low-cardinality-column.ts";
import { MapColumn } from "./map-column.ts";
import { StringColumn } from "./string-column.ts";

/** Rows for `tables/logs.sql`, where each column is described. */
export class LogBlock extends Block {
  readonly ts = new FixedColumn("ts", "DateTime64(9, 'UTC')");
  readonly observedTs = new FixedColumn("observed_ts", "DateTime64(9, 'UTC')");
  readonly severityNumber = new FixedColumn("severity_number", "UInt8");
  readonly severityText = new LowCardinalityColumn("severity_text");
  readonly eventName = new LowCardinalityColumn("event_name");
  readonly body = new StringColumn("body");
  readonly bodyType = new LowCardinalityColumn("body_type");
  readonly traceId = new FixedColumn("trace_id", "FixedString(16)");
  readonly spanId = new FixedColumn("span_id", "FixedString(8)");
  readonly flags = new FixedColumn("flags", "UInt32");
  readonly sessionId = new StringColumn("session_id");
  readonly attributes = new MapColumn("attributes");
  readonly attributeTypes = new LowCardinalityColumn("attribute_types");
  readonly droppedAttributes = new FixedColumn("dropped_attributes", "UInt32");
  readonly #bodyMask = new FixedColumn("body_mask", "UInt64");
  readonly #hash: MaskHash = { hi: 0, lo: 0 };

  readonly columns = [
    ...this.shared(),
    this.ts,
    this.observedTs,
    this.severityNumber,
    this.severityText,
    this.eventName,
    this.body,
    this.#bodyMask,
    this.bodyType,
    this.traceId,
    this.spanId,
    this.flags,
    this.sessionId,
    this.attributes,
    this.attributeTypes,
    this.droppedAttributes,
  ];

  /** Counts the row that has been filled, and masks its body as it will be stored. */
  override endRow(): void {
    const row = this.rows;
    const { body } = this;
    const start = body.lastStart(row);
    if (start >= 0) {
      hashMask(body.bytes, start, body.lastEnd, this.#hash);
      this.#bodyMask.set64(row, this.#hash.hi, this.#hash.lo);
    }
    super.endRow();
  }
}
