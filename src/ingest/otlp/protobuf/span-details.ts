import { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";
import type { LowCardinalityColumn } from "../../../telemetry/blocks/low-cardinality-column.ts";
import type { StringColumn } from "../../../telemetry/blocks/string-column.ts";
import { spanIdBytes, traceIdBytes } from "./ids.ts";
import { JsonAttributes } from "./json-attributes.ts";
import { appendHex, appendJsonString } from "./json-text.ts";
import { appendDigits, appendUint64 } from "./number-text.ts";
import type { Reader } from "./reader.ts";
import { TypeLetters } from "./type-letters.ts";

/**
 * The events or the links of the span that is being read, as the API's JSON array. The letters of their attributes'
 * types are a group for each, with commas between the groups.
 */
export class SpanDetails {
  readonly #json = new GrowingBytes();
  readonly #types = new TypeLetters();
  /** Of the event or link that is being read. */
  readonly #attributes = new JsonAttributes();
  readonly #ownTypes = new TypeLetters();
  #lost = 0;

  /** Those that could not be kept. */
  get lost(): number {
    return this.#lost;
  }

  /** Reads the Event field that the reader has come to. */
  addEvent(r: Reader, messageEnd: number): void {
    const end = r.enter(messageEnd);
    let nameStart = 0;
    let nameEnd = 0;
    let hi = 0;
    let lo = 0;
    let dropped = 0;
    while (r.pos < end) {
      const tag = r.tag(end);
      switch (tag) {
        case 0x09:
          r.fixed64(end);
          ({ hi, lo } = r);
          break;
        case 0x12:
          r.pass(end);
          nameStart = r.from;
          nameEnd = r.to;
          break;
        case 0x1a:
          this.#attributes.add(r, end, this.#ownTypes);
          break;
        case 0x20:
          dropped = r.int32(end) >>> 0;
          break;
        default:
          r.skip(tag, end, 0b11110);
      }
    }
    const json = this.#begin();
    json.appendAscii('{"name":');
    appendJsonString(json, r.view, nameStart, nameEnd);
    json.appendAscii(',"time_unix_nano":');
    appendUint64(json, hi, lo);
    this.#appendAttributes(dropped);
    json.appendByte(0x7d);
  }

  /** Reads the Link field that the reader has come to. One with an id of the wrong length is lost. */
  addLink(r: Reader, messageEnd: number): void {
    const end = r.enter(messageEnd);
    let traceStart = 0;
    let traceEnd = 0;
    let spanStart = 0;
    let spanEnd = 0;
    let stateStart = 0;
    let stateEnd = 0;
    let dropped = 0;
    let flags = 0;
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
          this.#attributes.add(r, end, this.#ownTypes);
          break;
        case 0x28:
          dropped = r.int32(end) >>> 0;
          break;
        case 0x35:
          flags = r.fixed32(end) >>> 0;
          break;
        default:
          r.skip(tag, end, 0b1111110);
      }
    }
    if (traceEnd - traceStart !== traceIdBytes || spanEnd - spanStart !== spanIdBytes) {
      this.#attributes.discard();
      this.#ownTypes.clear();
      this.#lost += 1;
      return;
    }
    const json = this.#begin();
    json.appendAscii('{"trace_id":"');
    appendHex(json, r.view, traceStart, traceEnd);
    json.appendAscii('","span_id":"');
    appendHex(json, r.view, spanStart, spanEnd);
    json.appendAscii('","trace_state":');
    appendJsonString(json, r.view, stateStart, stateEnd);
    this.#appendAttributes(dropped);
    json.appendAscii(',"flags":');
    appendDigits(json, flags);
    json.appendByte(0x7d);
  }

  /** Writes what there is into the columns of `row`. */
  commit(row: number, column: StringColumn, types: LowCardinalityColumn): void {
    const json = this.#json;
    if (json.length === 0) return;
    json.appendByte(0x5d);
    column.set(row, json.view, 0, json.length);
    const index = this.#types.indexIn(types.texts);
    if (index !== 0) types.set(row, index);
  }

  clear(): void {
    this.#json.length = 0;
    this.#types.clear();
    this.#lost = 0;
  }

  #begin(): GrowingBytes {
    const first = this.#json.length === 0;
    this.#json.appendByte(first ? 0x5b : 0x2c);
    this.#types.pushGroup(this.#ownTypes, first);
    this.#ownTypes.clear();
    return this.#json;
  }

  #appendAttributes(dropped: number): void {
    this.#json.appendAscii(',"attributes":');
    this.#attributes.flush(this.#json);
    this.#json.appendAscii(',"dropped_attributes_count":');
    appendDigits(this.#json, dropped);
  }
}
