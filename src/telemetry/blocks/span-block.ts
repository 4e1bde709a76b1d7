import { Block } from "./block.ts";
import { FixedColumn } from "./fixed-column.ts";
import { LowCardinalityColumn } from "./low-cardinality-column.ts";
import { MapColumn } from "./map-column.ts";
import { StringColumn } from "./string-column.ts";

/** Rows for `tables/spans.sql`, where each column is described. */
export class SpanBlock extends Block {
  readonly ts = new FixedColumn("ts", "DateTime64(9, 'UTC')");
  readonly durationNs = new FixedColumn("duration_ns", "Int64");
  readonly traceId = new FixedColumn("trace_id", "FixedString(16)");
  readonly spanId = new FixedColumn("span_id", "FixedString(8)");
  readonly parentSpanId = new FixedColumn("parent_span_id", "FixedString(8)");
  readonly traceState = new StringColumn("trace_state");
  readonly flags = new FixedColumn("flags", "UInt32");
  readonly spanName = new LowCardinalityColumn("name");
  readonly kind = new FixedColumn("kind", "UInt8");
  readonly statusCode = new FixedColumn("status_code", "UInt8");
  readonly statusMessage = new StringColumn("status_message");
  readonly sessionId = new StringColumn("session_id");
  readonly attributes = new MapColumn("attributes");
  readonly attributeTypes = new LowCardinalityColumn("attribute_types");
  readonly droppedAttributes = new FixedColumn("dropped_attributes", "UInt32");
  readonly events = new StringColumn("events");
  readonly eventTypes = new LowCardinalityColumn("event_types");
  readonly droppedEvents = new FixedColumn("dropped_events", "UInt32");
  readonly links = new StringColumn("links");
  readonly linkTypes = new LowCardinalityColumn("link_types");
  readonly droppedLinks = new FixedColumn("dropped_links", "UInt32");

  readonly columns = [
    ...this.shared(),
    this.ts,
    this.durationNs,
    this.traceId,
    this.spanId,
    this.parentSpanId,
    this.traceState,
    this.flags,
    this.spanName,
    this.kind,
    this.statusCode,
    this.statusMessage,
    this.sessionId,
    this.attributes,
    this.attributeTypes,
    this.droppedAttributes,
    this.events,
    this.eventTypes,
    this.droppedEvents,
    this.links,
    this.linkTypes,
    this.droppedLinks,
  ];
}
