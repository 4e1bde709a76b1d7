import type { ResourceEntry } from "../../../telemetry/blocks/block.ts";
import { GrowingBytes, textView } from "../../../telemetry/blocks/growing-bytes.ts";
import type { LogBlock } from "../../../telemetry/blocks/log-block.ts";
import { appendValueText, readValue, valueKind } from "./any-value.ts";
import { spanIdBytes, traceIdBytes } from "./ids.ts";
import { type DecodeContext, type Decoded, readPayload } from "./payload.ts";
import type { Reader } from "./reader.ts";
import { RowAttributes } from "./row-attributes.ts";
import { isWord, severityWord } from "./severity.ts";
import { latest, type Nanos, nanosOfMs } from "./timestamps.ts";

/** Keeps a record's own severity text where it is not the API's word. */
const severityTextKey = textView("vigil.severity_text");

const mostSevere = 24;

/** `body_type`, by the kind of value that the body is. */
const bodyTypes: readonly DataView[] = ["n", "s", "b", "i", "d", "a", "m", "y"].map(textView);

/**
 * Appends the records of an ExportLogsServiceRequest (or LogsData, which has the same bytes) to `block`. Throws
 * MalformedPayload, and then some of them may have been appended: the caller rolls the block back.
 */
export function decodeLogs(bytes: Uint8Array, block: LogBlock, context: DecodeContext): Decoded {
  const records = new LogReader(block, nanosOfMs(context.nowMs ?? Date.now()));
  const before = block.rows;
  readPayload(bytes, block, context, (r, end, resource) => records.read(r, end, resource));
  const { rejected } = records;
  return {
    accepted: block.rows - before,
    rejected,
    ...(rejected > 0 && {
      message:
        `${rejected} of the log records were not stored: ` +
        "a trace id must have 16 bytes or none, and a span id 8 bytes or none.",
    }),
  };
}

class LogReader {
  rejected = 0;
  readonly #block: LogBlock;
  readonly #attributes: RowAttributes;
  readonly #arrival: Nanos;
  readonly #text = new GrowingBytes();

  constructor(block: LogBlock, arrival: Nanos) {
    this.#block = block;
    this.#attributes = new RowAttributes(block.attributes, block.attributeTypes);
    this.#arrival = arrival;
  }

  /** Appends the LogRecord that ends at `end`, unless its ids are wrong. */
  read(r: Reader, end: number, resource: ResourceEntry): void {
    const attributes = this.#attributes;
    // What a field holds is noted first, and written once it is known that the record can be stored.
    let timeHi = 0;
    let timeLo = 0;
    let observedHi = 0;
    let observedLo = 0;
    let severity = 0;
    let severityStart = 0;
    let severityEnd = 0;
    let bodyStart = 0;
    let bodyEnd = 0;
    let traceStart = 0;
    let traceEnd = 0;
    let spanStart = 0;
    let spanEnd = 0;
    let eventStart = 0;
    let eventEnd = 0;
    let flags = 0;
    let dropped = 0;
    while (r.pos < end) {
      const tag = r.tag(end);
      switch (tag) {
        case 0x09:
          r.fixed64(end);
          timeHi = r.hi;
          timeLo = r.lo;
          break;
        case 0x10:
          severity = r.int32(end);
          break;
        case 0x1a:
          r.pass(end);
          severityStart = r.from;
          severityEnd = r.to;
          break;
        case 0x2a:
          r.pass(end);
          bodyStart = r.from;
          bodyEnd = r.to;
          break;
        case 0x32:
          attributes.add(r, end);
          break;
        case 0x38:
          dropped = r.int32(end);
          break;
        case 0x45:
          flags = r.fixed32(end);
          break;
        case 0x4a:
          r.pass(end);
          traceStart = r.from;
          traceEnd = r.to;
          break;
        case 0x52:
          r.pass(end);
          spanStart = r.from;
          spanEnd = r.to;
          break;
        case 0x59:
          r.fixed64(end);
          observedHi = r.hi;
          observedLo = r.lo;
          break;
        case 0x62:
          r.pass(end);
          eventStart = r.from;
          eventEnd = r.to;
          break;
        default:
          r.skip(tag, end, 0b1_1111_1110_1110);
      }
    }

    const { view } = r;
    const traceBytes = traceEnd - traceStart;
    const spanBytes = spanEnd - spanStart;
    if ((traceBytes !== 0 && traceBytes !== traceIdBytes) || (spanBytes !== 0 && spanBytes !== spanIdBytes)) {
      attributes.abandon();
      this.rejected += 1;
      return;
    }

    const block = this.#block;
    const row = block.rows;
    if ((observedHi | observedLo) === 0) ({ hi: observedHi, lo: observedLo } = this.#arrival);
    else if (observedHi < 0) ({ hi: observedHi, lo: observedLo } = latest);
    if ((timeHi | timeLo) === 0) {
      timeHi = observedHi;
      timeLo = observedLo;
    } else if (timeHi < 0) {
      ({ hi: timeHi, lo: timeLo } = latest);
    }
    block.ts.set64(row, timeHi, timeLo);
    block.observedTs.set64(row, observedHi, observedLo);
    const number = Math.min(Math.max(severity, 0), mostSevere);
    if (number !== 0) block.severityNumber.set8(row, number);
    const word = severityWord(number, view, severityStart, severityEnd);
    block.severityText.set(row, block.severityText.texts.indexOf(word, 0, word.byteLength));
    if (severityEnd > severityStart && !isWord(word, view, severityStart, severityEnd)) {
      attributes.addText(severityTextKey, view, severityStart, severityEnd);
    }
    this.#writeBody(r, row, bodyStart, bodyEnd);
    if (eventEnd > eventStart) block.eventName.set(row, block.eventName.texts.indexOf(view, eventStart, eventEnd));
    if (traceBytes !== 0) block.traceId.setBytes(row, view, traceStart);
    if (spanBytes !== 0) block.spanId.setBytes(row, view, spanStart);
    if (flags !== 0) block.flags.set32(row, flags);
    attributes.commitSession(row, block.sessionId, resource.session);
    attributes.commit(row);
    if (dropped !== 0) block.droppedAttributes.set32(row, dropped);
    block.endRow();
  }

  #writeBody(r: Reader, row: number, start: number, end: number): void {
    const { body, bodyType } = this.#block;
    r.pos = start;
    const kind = readValue(r, end);
    const letter = bodyTypes[kind]!;
    bodyType.set(row, bodyType.texts.indexOf(letter, 0, letter.byteLength));
    if (kind === valueKind.string) {
      body.set(row, r.view, r.from, r.to);
    } else if (kind !== valueKind.none) {
      const text = this.#text;
      text.length = 0;
      appendValueText(r, kind, text);
      body.set(row, text.view, 0, text.length);
    }
  }
}
