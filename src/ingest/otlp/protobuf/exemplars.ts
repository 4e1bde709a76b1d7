import { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";
import type { StringColumn } from "../../../telemetry/blocks/string-column.ts";
import { JsonAttributes } from "./json-attributes.ts";
import { appendHex } from "./json-text.ts";
import { appendDouble, appendInt64, appendUint64 } from "./number-text.ts";
import type { Reader } from "./reader.ts";
import { TypeLetters } from "./type-letters.ts";

/** The exemplars of the data point that is being read, as the JSON array that `tables/metric_points.sql` describes. */
export class Exemplars {
  readonly #json = new GrowingBytes();
  readonly #attributes = new JsonAttributes();
  readonly #types = new TypeLetters();

  /** Reads the Exemplar field that the reader has come to. */
  add(r: Reader, messageEnd: number): void {
    const end = r.enter(messageEnd);
    let timeHi = 0;
    let timeLo = 0;
    let valueType = "n";
    let double = 0;
    let intHi = 0;
    let intLo = 0;
    let spanStart = 0;
    let spanEnd = 0;
    let traceStart = 0;
    let traceEnd = 0;
    this.#types.clear();
    while (r.pos < end) {
      const tag = r.tag(end);
      switch (tag) {
        case 0x11:
          r.fixed64(end);
          timeHi = r.hi;
          timeLo = r.lo;
          break;
        case 0x19:
          double = r.double(end);
          valueType = "d";
          break;
        case 0x22:
          r.pass(end);
          spanStart = r.from;
          spanEnd = r.to;
          break;
        case 0x2a:
          r.pass(end);
          traceStart = r.from;
          traceEnd = r.to;
          break;
        case 0x31:
          r.fixed64(end);
          intHi = r.hi;
          intLo = r.lo;
          valueType = "i";
          break;
        case 0x3a:
          this.#attributes.add(r, end, this.#types);
          break;
        default:
          r.skip(tag, end, 0b11111100);
      }
    }
    const json = this.#json;
    json.appendAscii(json.length === 0 ? '[{"time_unix_nano":' : ',{"time_unix_nano":');
    appendUint64(json, timeHi, timeLo);
    json.appendAscii(',"value":');
    if (valueType === "i") appendInt64(json, intHi, intLo);
    else if (valueType === "n") json.appendAscii("null");
    // JSON has no number for NaN and the infinities.
    else if (Number.isFinite(double)) appendDouble(json, double);
    else json.appendAscii(`"${double}"`);
    json.appendAscii(`,"value_type":"${valueType}","trace_id":"`);
    appendHex(json, r.view, traceStart, traceEnd);
    json.appendAscii('","span_id":"');
    appendHex(json, r.view, spanStart, spanEnd);
    json.appendAscii('","attributes":');
    this.#attributes.flush(json);
    json.appendAscii(`,"types":"${this.#types.toString()}"}`);
  }

  /** Writes them, if there are any, into a column's row, and starts anew. */
  commit(row: number, column: StringColumn): void {
    const json = this.#json;
    if (json.length === 0) return;
    json.appendByte(0x5d);
    column.set(row, json.view, 0, json.length);
    json.length = 0;
  }
}
