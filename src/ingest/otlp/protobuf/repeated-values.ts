import type { ArrayColumn } from "../../../telemetry/blocks/array-column.ts";
import type { FixedColumn } from "../../../telemetry/blocks/fixed-column.ts";
import type { Reader } from "./reader.ts";

/** A sint32, from its varint. */
export function zigzag(value: number): number {
  return (value >>> 1) ^ -(value & 1);
}

/**
 * The field of fixed64s or doubles that the reader has come to: one value, or many packed into one field, which then
 * lie as the column wants them.
 */
export function pushFixed(r: Reader, tag: number, end: number, column: ArrayColumn): void {
  if ((tag & 7) === 1) {
    const start = r.pos;
    r.fixed64(end);
    column.pushAll(r.view, start, r.pos);
    return;
  }
  r.pass(end);
  r.checkPacked(8);
  column.pushAll(r.view, r.from, r.to);
}

/** The Buckets of an exponential histogram that the reader has come to. */
export function pushBuckets(
  r: Reader,
  messageEnd: number,
  row: number,
  offset: FixedColumn,
  counts: ArrayColumn,
): void {
  const end = r.enter(messageEnd);
  while (r.pos < end) {
    const tag = r.tag(end);
    if (tag === 0x08) {
      offset.set32(row, zigzag(r.int32(end)));
    } else if (tag === 0x10) {
      r.varint64(end);
      counts.push64(r.hi, r.lo);
    } else if (tag === 0x12) {
      const packedEnd = r.enter(end);
      while (r.pos < packedEnd) {
        r.varint64(packedEnd);
        counts.push64(r.hi, r.lo);
      }
    } else {
      r.skip(tag, end, 0b110);
    }
  }
}

/** The ValueAtQuantile of a summary that the reader has come to. */
export function pushQuantile(r: Reader, messageEnd: number, quantiles: ArrayColumn, values: ArrayColumn): void {
  const end = r.enter(messageEnd);
  let quantile = 0;
  let value = 0;
  while (r.pos < end) {
    const tag = r.tag(end);
    if (tag === 0x09) quantile = r.double(end);
    else if (tag === 0x11) value = r.double(end);
    else r.skip(tag, end, 0b110);
  }
  quantiles.pushFloat64(quantile);
  values.pushFloat64(value);
}
