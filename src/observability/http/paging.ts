import { createHash } from "node:crypto";

/**
 * Keyset paging. A cursor holds the sort keys of the row at a page's edge, and a digest of what it belongs to.
 *
 * A route that pages reads `limit + 1` rows past `keys` in `direction`: for "next" in the list's order, for "prev"
 * in the reverse order; without `keys`, from that end of the list. `makePage` turns these rows into the answer.
 */
export type Direction = "next" | "prev";

export interface Cursor {
  readonly direction: Direction;
  /** Sort keys of the row next to which to start, that row left out; empty for an end of the list. */
  readonly keys: readonly string[];
}

/** What a handler of a list gets: where to start, how far to read. */
export interface PageRequest {
  readonly limit: number;
  readonly direction: Direction;
  /** As in Cursor, but undefined (not empty) where there is nothing to compare with. */
  readonly keys: readonly string[] | undefined;
  /** False where the page starts at the list's beginning: it has no page before it. */
  readonly continued: boolean;
  readonly binding: string;
}

export interface Page<T> {
  items: T[];
  has_more: boolean;
  next_cursor: string | null;
  prev_cursor: string | null;
}

/** Says whether a sort key read from a cursor is one that the store can compare with. */
export type CursorKey = (text: string) => boolean;

/** A text key: anything. */
export const textKey: CursorKey = () => true;
/** A whole number that fits in 64 bits, signed. */
export const int64Key: CursorKey = (text) =>
  /^(?:0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
/** A whole number that fits in 64 bits, unsigned. */
export const uint64Key: CursorKey = (text) =>
  /^(?:0|[1-9]\d{0,19})$/.test(text) && BigInt.asUintN(64, BigInt(text)) === BigInt(text);
/** Lowercase hexadecimal digits, `digits` of them. */
export function hexKey(digits: number): CursorKey {
  const pattern = new RegExp(`^[0-9a-f]{${digits}}$`);
  return (text) => pattern.test(text);
}

/** What a cursor belongs to, as one text: the route, and the filters and the order with which it was called. */
export function cursorBinding(route: string, filters: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(filters).filter(([, value]) => value !== undefined);
  return JSON.stringify([route, entries.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

/** The opaque text of a cursor. */
export function makeCursor(binding: string, direction: Direction, keys: readonly string[]): string {
  return Buffer.from(JSON.stringify([digest(binding, direction, keys), direction, ...keys])).toString("base64url");
}

/**
 * The cursor that `text` is; undefined where there is no text, null where the text is no cursor, or one of another
 * binding. Without a binding (it is not known while a filter is wrong) only its form is looked at.
 */
export function readCursor(
  text: string | undefined,
  binding: string | undefined,
  keyChecks: readonly CursorKey[],
): Cursor | undefined | null {
  if (text === undefined) return undefined;
  const parts = decode(text);
  if (!parts) return null;
  const [sum, direction, ...keys] = parts;
  if (direction !== "next" && direction !== "prev") return null;
  if (keys.length !== 0 && keys.length !== keyChecks.length) return null;
  if (binding !== undefined && sum !== digest(binding, direction, keys)) return null;
  if (!keys.every((key, i) => keyChecks[i]!(key))) return null;
  return { direction, keys };
}

/** The page that `cursor` (undefined: the first) and `limit` ask for. */
export function pageRequest(cursor: Cursor | undefined, limit: number, binding: string): PageRequest {
  const direction = cursor?.direction ?? "next";
  const keys = cursor && cursor.keys.length > 0 ? cursor.keys : undefined;
  return { limit, direction, keys, continued: keys !== undefined || direction === "prev", binding };
}

/**
 * The page made of `rows`: up to `limit + 1` of them, in the order in which `request` has them read. `keysOf` gives
 * a row's sort keys, the last of them unique.
 */
export function makePage<T>(request: PageRequest, rows: readonly T[], keysOf: (row: T) => readonly string[]): Page<T> {
  const items = rows.slice(0, request.limit);
  if (request.direction === "prev") items.reverse();
  return { items, ...edges(request, rows.length > request.limit, items, keysOf) };
}

/** A row that the store has already printed: its sort keys, and the bytes of its JSON. */
export interface JsonRow {
  readonly keys: readonly string[];
  readonly json: Uint8Array;
}

/**
 * Reads what the engine prints for `SELECT key, …, json FORMAT TSVRaw`: lines of tab-separated keys and, last, a JSON
 * object, in which the engine escapes tabs and line ends.
 */
export function printedRows(bytes: Buffer): JsonRow[] {
  const rows: JsonRow[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    const json = bytes.indexOf(0x7b, start);
    rows.push({ keys: bytes.toString("latin1", start, json - 1).split("\t"), json: bytes.subarray(json, end) });
    start = end + 1;
  }
  return rows;
}

const opening = Buffer.from('{"items":[');
const comma = Buffer.from(",");

/** Like `makePage`, for rows that stay bytes: answers the JSON of the page. */
export function makeJsonPage(request: PageRequest, rows: readonly JsonRow[]): Buffer {
  const { items, ...rest } = makePage(request, rows, (row) => row.keys);
  const parts: Uint8Array[] = [opening];
  for (const [i, item] of items.entries()) {
    if (i > 0) parts.push(comma);
    parts.push(item.json);
  }
  parts.push(Buffer.from(`],${JSON.stringify(rest).slice(1)}`));
  return Buffer.concat(parts);
}

function edges<T>(request: PageRequest, cut: boolean, items: readonly T[], keysOf: (row: T) => readonly string[]) {
  const forward = request.direction === "next";
  // Where we came from there is the row whose keys the cursor held; a page without a cursor is the first one.
  const hasNext = forward ? cut : request.keys !== undefined;
  const hasPrev = forward ? request.continued : cut;
  const [first, last] = [items[0], items.at(-1)];
  // An empty page on the way (its rows are gone) continues at that end of the list, not at a row.
  const next = hasNext ? makeCursor(request.binding, "next", last === undefined ? [] : keysOf(last)) : null;
  const prev = hasPrev ? makeCursor(request.binding, "prev", first === undefined ? [] : keysOf(first)) : null;
  return { has_more: next !== null, next_cursor: next, prev_cursor: prev };
}

function digest(binding: string, direction: Direction, keys: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([binding, direction, keys]))
    .digest("base64url")
    .slice(0, 12);
}

function decode(text: string): string[] | undefined {
  const bytes = Buffer.from(text, "base64url");
  // The decoder skips what is not base64url; only text that it would print itself is a cursor of ours.
  if (text === "" || bytes.toString("base64url") !== text) return undefined;
  try {
    const parts: unknown = JSON.parse(bytes.toString("utf8"));
    return Array.isArray(parts) && parts.every((part) => typeof part === "string") ? parts : undefined;
  } catch {
    return undefined;
  }
}
