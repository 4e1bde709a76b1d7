import { GrowingBytes, textView } from "../../../telemetry/blocks/growing-bytes.ts";
import type { MetricBlock } from "../../../telemetry/blocks/metric-block.ts";
import { appendPairs } from "./any-value.ts";
import { checkRows, type DecodeContext, type Decoded, readPayload } from "./payload.ts";
import { type PointContext, PointReader } from "./point-reader.ts";
import type { Reader } from "./reader.ts";
import { nanosOfMs } from "./timestamps.ts";

/** The fields of Metric that hold its points, by tag, and the text of the column `type`. */
const metricTypes: ReadonlyMap<number, DataView> = new Map(
  (
    [
      [0x2a, "gauge"],
      [0x3a, "sum"],
      [0x4a, "histogram"],
      [0x52, "exponential_histogram"],
      [0x5a, "summary"],
    ] as const
  ).map(([tag, text]) => [tag, textView(text)]),
);

/** All fields of Metric, as in `Reader.skip`. */
const metricFields = 0b1_1110_1010_1110;
const metadataTag = 0x62;

/**
 * Appends the points of an ExportMetricsServiceRequest (or MetricsData, which has the same bytes) to `block`. Throws
 * MalformedPayload, and then some of them may have been appended: the caller rolls the block back.
 */
export function decodeMetrics(bytes: Uint8Array, block: MetricBlock, context: DecodeContext): Decoded {
  const metrics = new MetricReader(block, context.nowMs ?? Date.now());
  const before = block.rows;
  readPayload(bytes, block, context, (r, end) => metrics.read(r, end));
  return { accepted: block.rows - before, rejected: 0 };
}

class MetricReader {
  readonly #block: MetricBlock;
  readonly #points: PointReader;
  readonly #metadata = new GrowingBytes();

  constructor(block: MetricBlock, nowMs: number) {
    this.#block = block;
    this.#points = new PointReader(block, nanosOfMs(nowMs));
  }

  /** Appends the points of the Metric that ends at `end`. */
  read(r: Reader, end: number): void {
    const block = this.#block;
    const start = r.pos;
    const rowsBefore = block.rows;
    let nameStart = 0;
    let nameEnd = 0;
    let descriptionStart = 0;
    let descriptionEnd = 0;
    let unitStart = 0;
    let unitEnd = 0;
    let dataTag = 0;
    let dataStart = 0;
    let dataEnd = 0;
    let hasMetadata = false;
    while (r.pos < end) {
      const tag = r.tag(end);
      switch (tag) {
        case 0x0a:
          r.pass(end);
          nameStart = r.from;
          nameEnd = r.to;
          break;
        case 0x12:
          r.pass(end);
          descriptionStart = r.from;
          descriptionEnd = r.to;
          break;
        case 0x1a:
          r.pass(end);
          unitStart = r.from;
          unitEnd = r.to;
          break;
        case metadataTag:
          r.pass(end);
          hasMetadata = true;
          break;
        default:
          if (metricTypes.has(tag)) {
            r.pass(end);
            dataTag = tag;
            dataStart = r.from;
            dataEnd = r.to;
          } else {
            r.skip(tag, end, metricFields);
          }
      }
    }
    const type = metricTypes.get(dataTag);
    if (type === undefined) return;
    r.pos = dataStart;
    this.#readData(r, dataEnd, dataTag);
    if (block.rows === rowsBefore) return;

    const { view } = r;
    let metadata = 0;
    if (hasMetadata) {
      const text = this.#metadata;
      text.length = 0;
      r.pos = start;
      appendOnlyMetadata(r, end, text);
      metadata = block.metadata.texts.indexOf(text.view, 0, text.length);
    }
    block.shareMetric(
      block.metricName.texts.indexOf(view, nameStart, nameEnd),
      block.description.texts.indexOf(view, descriptionStart, descriptionEnd),
      block.unit.texts.indexOf(view, unitStart, unitEnd),
      block.metricType.texts.indexOf(type, 0, type.byteLength),
      metadata,
    );
  }

  /** Appends the points of a Gauge, Sum, Histogram, ExponentialHistogram or Summary, which have the same fields. */
  #readData(r: Reader, end: number, dataTag: number): void {
    const start = r.pos;
    const context: PointContext = { temporality: 0, isMonotonic: 0 };
    const hasTemporality = dataTag !== 0x2a && dataTag !== 0x5a;
    const isSum = dataTag === 0x3a;
    const known = isSum ? 0b1110 : hasTemporality ? 0b110 : 0b10;
    // These may come after the points.
    while (r.pos < end) {
      const tag = r.tag(end);
      if (tag === 0x0a) r.pass(end);
      else if (tag === 0x10 && hasTemporality) context.temporality = Math.min(Math.max(r.int32(end), 0), 0xff);
      else if (tag === 0x18 && isSum) context.isMonotonic = readBool(r, end);
      else r.skip(tag, end, known);
    }
    r.pos = start;
    const points = this.#points;
    const block = this.#block;
    const rowsBefore = block.rows;
    while (r.pos < end) {
      const tag = r.tag(end);
      if (tag !== 0x0a) {
        r.skip(tag, end, 0);
        continue;
      }
      const after = r.enter(end);
      if (dataTag === 0x4a) points.readHistogram(r, after, context);
      else if (dataTag === 0x52) points.readExponentialHistogram(r, after, context);
      else if (dataTag === 0x5a) points.readSummary(r, after, context);
      else points.readNumber(r, after, context);
      checkRows(block.rows - rowsBefore);
    }
  }
}

function readBool(r: Reader, end: number): number {
  r.varint64(end);
  return (r.hi | r.lo) === 0 ? 0 : 1;
}

function appendOnlyMetadata(r: Reader, end: number, out: GrowingBytes): void {
  appendPairs(r, end, metadataTag, 0, out, 0);
}
