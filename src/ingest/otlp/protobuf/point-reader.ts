import { textView } from "../../../telemetry/blocks/growing-bytes.ts";
import type { FixedColumn } from "../../../telemetry/blocks/fixed-column.ts";
import type { MetricBlock } from "../../../telemetry/blocks/metric-block.ts";
import { Exemplars } from "./exemplars.ts";
import type { Reader } from "./reader.ts";
import { pushBuckets, pushFixed, pushQuantile, zigzag } from "./repeated-values.ts";
import { RowAttributes } from "./row-attributes.ts";
import { latest, type Nanos } from "./timestamps.ts";

/** What the points of one metric have in common. */
export interface PointContext {
  temporality: number;
  isMonotonic: number;
}

/** `present`, in `tables/metric_points.sql` */
const present = { sum: 1, min: 2, max: 4 } as const;

const doubleType = textView("d");
const intType = textView("i");
const noType = textView("n");

/** Appends data points to a block. Every method reads the message that ends at `end`. */
export class PointReader {
  readonly #block: MetricBlock;
  readonly #arrival: Nanos;
  readonly #attributes: RowAttributes;
  readonly #exemplars = new Exemplars();

  constructor(block: MetricBlock, arrival: Nanos) {
    this.#block = block;
    this.#arrival = arrival;
    this.#attributes = new RowAttributes(block.attributes, block.attributeTypes);
  }

  /** NumberDataPoint */
  readNumber(r: Reader, end: number, context: PointContext): void {
    const block = this.#block;
    const row = block.rows;
    let type = noType;
    this.#setTime(block.ts, row, 0, 0);
    while (r.pos < end) {
      const tag = r.tag(end);
      switch (tag) {
        case 0x3a:
          this.#attributes.add(r, end);
          break;
        case 0x11:
          r.fixed64(end);
          setClamped(block.startTs, row, r.hi, r.lo);
          break;
        case 0x19:
          r.fixed64(end);
          this.#setTime(block.ts, row, r.hi, r.lo);
          break;
        case 0x21:
          block.value.setFloat64(row, r.double(end));
          block.valueInt.set64(row, 0, 0);
          type = doubleType;
          break;
        case 0x31:
          r.fixed64(end);
          block.valueInt.set64(row, r.hi, r.lo);
          block.value.setFloat64(row, r.hi * 0x100000000 + (r.lo >>> 0));
          type = intType;
          break;
        case 0x2a:
          this.#exemplars.add(r, end);
          break;
        case 0x40:
          block.flags.set32(row, r.int32(end));
          break;
        default:
          r.skip(tag, end, 0b1_1111_1100);
      }
    }
    block.valueType.set(row, block.valueType.texts.indexOf(type, 0, type.byteLength));
    this.#endRow(row, context);
  }

  /** HistogramDataPoint */
  readHistogram(r: Reader, end: number, context: PointContext): void {
    const block = this.#block;
    const row = block.rows;
    let bits = 0;
    this.#setTime(block.ts, row, 0, 0);
    while (r.pos < end) {
      const tag = r.tag(end);
      switch (tag) {
        case 0x4a:
          this.#attributes.add(r, end);
          break;
        case 0x11:
          r.fixed64(end);
          setClamped(block.startTs, row, r.hi, r.lo);
          break;
        case 0x19:
          r.fixed64(end);
          this.#setTime(block.ts, row, r.hi, r.lo);
          break;
        case 0x21:
          r.fixed64(end);
          block.count.set64(row, r.hi, r.lo);
          break;
        case 0x29:
          block.sum.setFloat64(row, r.double(end));
          bits |= present.sum;
          break;
        case 0x31:
        case 0x32:
          pushFixed(r, tag, end, block.bucketCounts);
          break;
        case 0x39:
        case 0x3a:
          pushFixed(r, tag, end, block.explicitBounds);
          break;
        case 0x42:
          this.#exemplars.add(r, end);
          break;
        case 0x50:
          block.flags.set32(row, r.int32(end));
          break;
        case 0x59:
          block.min.setFloat64(row, r.double(end));
          bits |= present.min;
          break;
        case 0x61:
          block.max.setFloat64(row, r.double(end));
          bits |= present.max;
          break;
        default:
          r.skip(tag, end, 0b1_1111_1111_1100);
      }
    }
    if (bits !== 0) block.present.set8(row, bits);
    block.bucketCounts.commit(row);
    block.explicitBounds.commit(row);
    this.#endRow(row, context);
  }

  /** ExponentialHistogramDataPoint */
  readExponentialHistogram(r: Reader, end: number, context: PointContext): void {
    const block = this.#block;
    const row = block.rows;
    let bits = 0;
    this.#setTime(block.ts, row, 0, 0);
    while (r.pos < end) {
      const tag = r.tag(end);
      switch (tag) {
        case 0x0a:
          this.#attributes.add(r, end);
          break;
        case 0x11:
          r.fixed64(end);
          setClamped(block.startTs, row, r.hi, r.lo);
          break;
        case 0x19:
          r.fixed64(end);
          this.#setTime(block.ts, row, r.hi, r.lo);
          break;
        case 0x21:
          r.fixed64(end);
          block.count.set64(row, r.hi, r.lo);
          break;
        case 0x29:
          block.sum.setFloat64(row, r.double(end));
          bits |= present.sum;
          break;
        case 0x30:
          block.scale.set32(row, zigzag(r.int32(end)));
          break;
        case 0x39:
          r.fixed64(end);
          block.zeroCount.set64(row, r.hi, r.lo);
          break;
        case 0x42:
          pushBuckets(r, end, row, block.positiveOffset, block.positiveCounts);
          break;
        case 0x4a:
          pushBuckets(r, end, row, block.negativeOffset, block.negativeCounts);
          break;
        case 0x50:
          block.flags.set32(row, r.int32(end));
          break;
        case 0x5a:
          this.#exemplars.add(r, end);
          break;
        case 0x61:
          block.min.setFloat64(row, r.double(end));
          bits |= present.min;
          break;
        case 0x69:
          block.max.setFloat64(row, r.double(end));
          bits |= present.max;
          break;
        case 0x71:
          block.zeroThreshold.setFloat64(row, r.double(end));
          break;
        default:
          r.skip(tag, end, 0b111_1111_1111_1110);
      }
    }
    if (bits !== 0) block.present.set8(row, bits);
    block.positiveCounts.commit(row);
    block.negativeCounts.commit(row);
    this.#endRow(row, context);
  }

  /** SummaryDataPoint */
  readSummary(r: Reader, end: number, context: PointContext): void {
    const block = this.#block;
    const row = block.rows;
    this.#setTime(block.ts, row, 0, 0);
    while (r.pos < end) {
      const tag = r.tag(end);
      switch (tag) {
        case 0x3a:
          this.#attributes.add(r, end);
          break;
        case 0x11:
          r.fixed64(end);
          setClamped(block.startTs, row, r.hi, r.lo);
          break;
        case 0x19:
          r.fixed64(end);
          this.#setTime(block.ts, row, r.hi, r.lo);
          break;
        case 0x21:
          r.fixed64(end);
          block.count.set64(row, r.hi, r.lo);
          break;
        case 0x29:
          block.sum.setFloat64(row, r.double(end));
          break;
        case 0x32:
          pushQuantile(r, end, block.quantiles, block.quantileValues);
          break;
        case 0x40:
          block.flags.set32(row, r.int32(end));
          break;
        default:
          r.skip(tag, end, 0b1_1111_1100);
      }
    }
    // A summary's sum is not optional: 0 is not sent, and means 0.
    block.present.set8(row, present.sum);
    block.quantiles.commit(row);
    block.quantileValues.commit(row);
    this.#endRow(row, context);
  }

  #endRow(row: number, context: PointContext): void {
    const block = this.#block;
    if (context.temporality !== 0) block.temporality.set8(row, context.temporality);
    if (context.isMonotonic !== 0) block.isMonotonic.set8(row, context.isMonotonic);
    this.#attributes.commit(row);
    this.#exemplars.commit(row, block.exemplars);
    block.endRow();
  }

  /** A point without a time has that of its arrival. */
  #setTime(column: FixedColumn, row: number, hi: number, lo: number): void {
    if ((hi | lo) === 0) column.set64(row, this.#arrival.hi, this.#arrival.lo);
    else setClamped(column, row, hi, lo);
  }
}

function setClamped(column: FixedColumn, row: number, hi: number, lo: number): void {
  if (hi < 0) column.set64(row, latest.hi, latest.lo);
  else column.set64(row, hi, lo);
}
