import { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";
import { appendValueText, readPair, readValue, typeLetter, valueKind } from "./any-value.ts";
import { appendJsonString } from "./json-text.ts";
import type { Reader } from "./reader.ts";
import type { TypeLetters } from "./type-letters.ts";

/**
 * Writes attributes as the API shows them inside events, links and exemplars: `[{"key":…,"value":…}]`, where every
 * value is a string.
 */
export class JsonAttributes {
  /** The members of the array, without its brackets. */
  readonly #members = new GrowingBytes();
  readonly #text = new GrowingBytes();

  /** Reads the KeyValue field that the reader has come to, and pushes its type. */
  add(r: Reader, messageEnd: number, types: TypeLetters): void {
    const end = r.enter(messageEnd);
    const out = this.#members;
    const pair = readPair(r, end);
    out.appendAscii(out.length === 0 ? '{"key":' : ',{"key":');
    appendJsonString(out, r.view, pair.keyStart, pair.keyEnd);
    out.appendAscii(',"value":');
    r.pos = pair.valueStart;
    const kind = readValue(r, pair.valueEnd);
    const text = this.#text;
    text.length = 0;
    if (kind === valueKind.string) {
      appendJsonString(out, r.view, r.from, r.to);
      types.push(typeLetter.string);
    } else {
      types.push(appendValueText(r, kind, text));
      appendJsonString(out, text.view, 0, text.length);
    }
    out.appendByte(0x7d);
    r.pos = end;
  }

  /** Appends the array to `out`, and starts anew. */
  flush(out: GrowingBytes): void {
    out.appendByte(0x5b);
    out.appendBytes(this.#members.view, 0, this.#members.length);
    out.appendByte(0x5d);
    this.#members.length = 0;
  }

  discard(): void {
    this.#members.length = 0;
  }
}
