import { GrowingBytes } from "../../../telemetry/blocks/growing-bytes.ts";
import type { LowCardinalityColumn } from "../../../telemetry/blocks/low-cardinality-column.ts";
import type { MapColumn } from "../../../telemetry/blocks/map-column.ts";
import type { StringColumn } from "../../../telemetry/blocks/string-column.ts";
import { appendValueText, readPair, readValue, typeLetter, valueKind } from "./any-value.ts";
import type { Reader } from "./reader.ts";
import { TypeLetters } from "./type-letters.ts";

const sessionKey = "session.id";

/**
 * Writes the attributes of the row that is being read into a block's columns, KeyValue by KeyValue. Where a row has
 * been read, `commit` or `abandon` must follow.
 */
export class RowAttributes {
  readonly #map: MapColumn;
  readonly #typesColumn: LowCardinalityColumn;
  readonly #types = new TypeLetters();
  readonly #text = new GrowingBytes();
  /** The range of the attribute `session.id` in the map's values. */
  #sessionStart = 0;
  #sessionEnd = 0;

  constructor(map: MapColumn, types: LowCardinalityColumn) {
    this.#map = map;
    this.#typesColumn = types;
  }

  /** Reads the KeyValue field that the reader has come to. */
  add(r: Reader, messageEnd: number): void {
    const end = r.enter(messageEnd);
    const { view, pos } = r;
    // As good as every sender writes a key, then a value, and the lengths of both in one byte.
    let keyStart = pos + 2;
    let keyEnd = end - pos >= 4 && view.getUint8(pos) === 0x0a ? keyStart + view.getUint8(pos + 1) : end;
    let valueStart = keyEnd + 2;
    let valueEnd = end;
    if (
      keyEnd - keyStart >= 0x80 ||
      valueStart > end ||
      end - valueStart >= 0x80 ||
      view.getUint8(keyEnd) !== 0x12 ||
      view.getUint8(keyEnd + 1) !== end - valueStart
    ) {
      ({ keyStart, keyEnd, valueStart, valueEnd } = readPair(r, end));
    }
    const { values } = this.#map;
    this.#map.key(view, keyStart, keyEnd);
    const at = values.length;
    r.pos = valueStart;
    this.#types.push(this.#appendValue(r, valueEnd));
    r.pos = end;
    if (keyEnd - keyStart === sessionKey.length && isSessionKey(view, keyStart)) {
      this.#sessionStart = contentStart(values, at);
      this.#sessionEnd = values.length;
    }
  }

  /** Adds a string attribute that the sender did not send as one. */
  addText(key: DataView, from: DataView, start: number, end: number): void {
    this.#map.key(key, 0, key.byteLength);
    this.#map.values.appendString(from, start, end);
    this.#types.push(typeLetter.string);
  }

  /** Sets `column` to the row's `session.id`, or where it has none, to its resource's. */
  commitSession(row: number, column: StringColumn, ofResource: DataView): void {
    if (this.#sessionEnd > this.#sessionStart) {
      column.set(row, this.#map.values.view, this.#sessionStart, this.#sessionEnd);
    } else if (ofResource.byteLength > 0) {
      column.set(row, ofResource, 0, ofResource.byteLength);
    }
  }

  /** Makes what was added the attributes of `row`. */
  commit(row: number): void {
    this.#map.commit(row);
    const types = this.#types.indexIn(this.#typesColumn.texts);
    if (types !== 0) this.#typesColumn.set(row, types);
    this.#clear();
  }

  /** Forgets what was added. */
  abandon(): void {
    this.#map.abandon();
    this.#clear();
  }

  #clear(): void {
    this.#types.clear();
    this.#sessionStart = 0;
    this.#sessionEnd = 0;
  }

  /** Appends the value that ends at `end` to the map's values, and returns its letter. */
  #appendValue(r: Reader, end: number): number {
    const { values } = this.#map;
    const { view, pos } = r;
    const size = end - pos - 2;
    // A string whose length takes one byte, and nothing else.
    if (size >= 0 && size < 0x80 && view.getUint8(pos) === 0x0a && view.getUint8(pos + 1) === size) {
      values.appendString(view, pos + 2, end);
      return typeLetter.string;
    }
    const kind = readValue(r, end);
    switch (kind) {
      case valueKind.string:
        values.appendString(r.view, r.from, r.to);
        return typeLetter.string;
      case valueKind.array:
      case valueKind.map:
      case valueKind.bytes: {
        const text = this.#text;
        text.length = 0;
        const letter = appendValueText(r, kind, text);
        values.appendString(text.view, 0, text.length);
        return letter;
      }
      default: {
        // No number's text is longer than 127 bytes, so its length takes a single one, which is known afterwards.
        const at = values.length;
        values.appendByte(0);
        const letter = appendValueText(r, kind, values);
        values.view.setUint8(at, values.length - at - 1);
        return letter;
      }
    }
  }
}

function isSessionKey(view: DataView, start: number): boolean {
  for (let i = 0; i < sessionKey.length; i++) {
    if (view.getUint8(start + i) !== sessionKey.charCodeAt(i)) return false;
  }
  return true;
}

/** Where the text of the String at `at` starts, behind its length. */
function contentStart(values: GrowingBytes, at: number): number {
  let start = at;
  while (values.view.getUint8(start) >= 0x80) start++;
  return start + 1;
}
