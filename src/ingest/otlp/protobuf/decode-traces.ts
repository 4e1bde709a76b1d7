import type { ResourceEntry } from "../../../telemetry/blocks/block.ts";
import type { SpanBlock } from "../../../telemetry/blocks/span-block.ts";
import { isZero, spanIdBytes, traceIdBytes } from "./ids.ts";
import { type DecodeContext, type Decoded, readPayload } from "./payload.ts";
import type { Reader } from "./reader.ts";
import { RowAttributes } from "./row-attributes.ts";
import { SpanDetails } from "./span-details.ts";

/**
 * Appends the spans of an ExportTraceServiceRequest (or TracesData, which has the same bytes) to `block`. Throws
 * MalformedPayload, and then some of them may have been appended: the caller rolls the block back.
 */
export function decodeTraces(bytes: Uint8Array, block: SpanBlock, context: DecodeContext): Decoded {
  const spans = new SpanReader(block);
  const before = block.rows;
  readPayload(bytes, block, context, (r, end, resource) => spans.read(r, end, resource));
  const { rejected } = spans;
  return {
    accepted: block.rows - before,
    rejected,
    ...(rejected > 0 && {
      message:
        `${rejected} of the spans were not stored: a trace id must have 16 bytes and a span id 8, ` +
        "and neither may be all zero; a parent span id must have 8 bytes or none.",
    }),
  };
}

class SpanReader {
  rejected = 0;
  readonly #block: SpanBlock;
  readonly #attributes: RowAttributes;
  readonly #events = new SpanDetails();
  readonly #links = new SpanDetails();

  constructor(block: SpanBlock) {
    this.#block = block;
    this.#attributes = new RowAttributes(block.attributes, block.attributeTypes);
  }

  /** Appends the Span that ends at `end`, unless its ids are wrong. */
  read(r: Reader, end: number, resource: ResourceEntry): void {
    const attributes = this.#attributes;
    const events = this.#events;
    const links = this.#links;
    events.clear();
    links.clear();
    // What a field holds is noted first, and written once it is known that the span can be stored.
    let traceStart = 0;
    let traceEnd = 0;
    let spanStart = 0;
    let spanEnd = 0;
    let parentStart = 0;
    let parentEnd = 0;
    let stateStart = 0;
    let stateEnd = 0;
    let nameStart = 0;
    let nameEnd = 0;
    let messageStart = 0;
    let messageEnd = 0;
    let startHi = 0;
    let startLo = 0;
    let endHi = 0;
    let endLo = 0;
    let kind = 0;
    let status = 0;
    let flags = 0;
    let droppedAttributes = 0;
    let droppedEvents = 0;
    let droppedLinks = 0;
    while (r.pos < end) {
      const tag = r.tag(end);
      switch (tag) {
        case 0x0a:
          r.pass(end);
          traceStart = r.from;
          traceEnd = r.to;
          break;
        case 0x12:
          r.pass(end);
          spanStart = r.from;
          spanEnd = r.to;
          break;
        case 0x1a:
          r.pass(end);
          stateStart = r.from;
          stateEnd = r.to;
          break;
        case 0x22:
          r.pass(end);
          parentStart = r.from;
          parentEnd = r.to;
          break;
        case 0x2a:
          r.pass(end);
          nameStart = r.from;
          nameEnd = r.to;
          break;
        case 0x30:
          kind = r.int32(end);
          break;
        case 0x39:
          r.fixed64(end);
          startHi = r.hi;
          startLo = r.lo;
          break;
        case 0x41:
          r.fixed64(end);
          endHi = r.hi;
          endLo = r.lo;
          break;
        case 0x4a:
          attributes.add(r, end);
          break;
        case 0x50:
          droppedAttributes = r.int32(end);
          break;
        case 0x5a:
          events.addEvent(r, end);
          break;
        case 0x60:
          droppedEvents = r.int32(end);
          break;
        case 0x6a:
          links.addLink(r, end);
          break;
        case 0x70:
          droppedLinks = r.int32(end);
          break;
        case 0x7a: {
          const statusEnd = r.enter(end);
          while (r.pos < statusEnd) {
            const inner = r.tag(statusEnd);
            if (inner === 0x12) {
              r.pass(statusEnd);
              messageStart = r.from;
              messageEnd = r.to;
            } else if (inner === 0x18) {
              status = r.int32(statusEnd);
            } else {
              r.skip(inner, statusEnd, 0b1100);
            }
          }
          break;
        }
        case 0x85:
          flags = r.fixed32(end);
          break;
        default:
          r.skip(tag, end, 0x1fffe);
      }
    }

    const { view } = r;
    const parentBytes = parentEnd - parentStart;
    if (
      traceEnd - traceStart !== traceIdBytes ||
      spanEnd - spanStart !== spanIdBytes ||
      (parentBytes !== 0 && parentBytes !== spanIdBytes) ||
      isZero(view, traceStart, traceEnd) ||
      isZero(view, spanStart, spanEnd)
    ) {
      attributes.abandon();
      this.rejected += 1;
      return;
    }

    const block = this.#block;
    const row = block.rows;
    // Times that are too late for the store count as the latest that it knows.
    if (startHi < 0) {
      startHi = 0x7fffffff;
      startLo = -1;
    }
    if (endHi < 0) {
      endHi = 0x7fffffff;
      endLo = -1;
    }
    block.ts.set64(row, startHi, startLo);
    const borrow = endLo >>> 0 < startLo >>> 0 ? 1 : 0;
    block.durationNs.set64(row, endHi - startHi - borrow, endLo - startLo);
    block.traceId.setBytes(row, view, traceStart);
    block.spanId.setBytes(row, view, spanStart);
    if (parentBytes !== 0) block.parentSpanId.setBytes(row, view, parentStart);
    if (stateEnd > stateStart) block.traceState.set(row, view, stateStart, stateEnd);
    if (flags !== 0) block.flags.set32(row, flags);
    block.spanName.set(row, block.spanName.texts.indexOf(view, nameStart, nameEnd));
    if (kind !== 0) block.kind.set8(row, toByte(kind));
    if (status !== 0) block.statusCode.set8(row, toByte(status));
    if (messageEnd > messageStart) block.statusMessage.set(row, view, messageStart, messageEnd);
    attributes.commitSession(row, block.sessionId, resource.session);
    attributes.commit(row);
    if (droppedAttributes !== 0) block.droppedAttributes.set32(row, droppedAttributes);
    events.commit(row, block.events, block.eventTypes);
    if (droppedEvents !== 0) block.droppedEvents.set32(row, droppedEvents);
    links.commit(row, block.links, block.linkTypes);
    if (droppedLinks + links.lost !== 0) block.droppedLinks.set32(row, droppedLinks + links.lost);
    block.endRow();
  }
}

/** An enumeration's number as a UInt8, which has room for every one that OTLP defines. */
function toByte(value: number): number {
  return Math.min(Math.max(value, 0), 0xff);
}
