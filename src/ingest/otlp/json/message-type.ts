/** How a JSON value is read and written; `id` is hex text for bytes, everything else is protobuf's own name. */
type FieldKind =
  | "string"
  | "id"
  | "bytes"
  | "bool"
  | "double"
  | "enum"
  | "fixed64"
  | "sfixed64"
  | "int64"
  | "uint64"
  | "uint32"
  | "fixed32"
  | "sint32"
  | "message";

interface FieldRow {
  readonly number: number;
  readonly kind: FieldKind;
  readonly repeated?: true;
  /** Of a message: its name in the tables. */
  readonly message?: string;
  /** Of an enum: its names, in the order of their numbers. */
  readonly names?: readonly string[];
}

/** Message name → lowerCamelCase field name → field. */
export type FieldTables = Readonly<Record<string, Readonly<Record<string, FieldRow>>>>;

export interface Field {
  readonly key: Uint8Array;
  readonly kind: FieldKind;
  /** Field number and wire type as one varint; all of OTLP's numbers fit two bytes. */
  readonly tag: number;
  readonly repeated: boolean;
  /** Of a message field: its type. */
  readonly type: MessageType;
  readonly names: readonly string[];
}

export interface MessageType {
  readonly name: string;
  /** A hash table of every accepted key (lowerCamelCase and snake_case), with linear probing. */
  readonly slots: (Field | undefined)[];
}

const slotCount = 64;

/** Where the search for a key of `length` bytes at `at` starts. Cheap on purpose: a match is compared in full. */
function slotOf(bytes: Uint8Array, at: number, length: number): number {
  return (length * 5 + bytes[at]! * 3 + bytes[at + (length >> 1)]! * 7 + bytes[at + length - 1]!) & (slotCount - 1);
}

/** The field whose key is the `length` bytes at `at`, or undefined. */
export function findField(type: MessageType, bytes: Uint8Array, at: number, length: number): Field | undefined {
  if (length === 0) return undefined;
  const slots = type.slots;
  for (let slot = slotOf(bytes, at, length); ; slot = (slot + 1) & (slotCount - 1)) {
    const field = slots[slot];
    if (field === undefined) return undefined;
    const key = field.key;
    if (key.length !== length) continue;
    let i = 0;
    while (i < length && key[i] === bytes[at + i]) i++;
    if (i === length) return field;
  }
}

const wireTypes: Readonly<Record<FieldKind, number>> = {
  string: 2,
  id: 2,
  bytes: 2,
  message: 2,
  bool: 0,
  enum: 0,
  int64: 0,
  uint64: 0,
  uint32: 0,
  sint32: 0,
  double: 1,
  fixed64: 1,
  sfixed64: 1,
  fixed32: 5,
};

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Links the tables, which name each other, into the type called `name` and all that it can hold. */
export function messageType(name: string, tables: FieldTables, known = new Map<string, MessageType>()): MessageType {
  const found = known.get(name);
  if (found !== undefined) return found;
  const rows = tables[name];
  if (rows === undefined) throw new Error(`no field table for ${name}`);
  const type: MessageType = { name, slots: Array.from({ length: slotCount }, () => undefined) };
  known.set(name, type);
  for (const [camel, row] of Object.entries(rows)) {
    const repeated = row.repeated === true;
    // Repeated scalars are packed; repeated strings and messages come one by one.
    const wireType = repeated ? 2 : wireTypes[row.kind];
    for (const text of new Set([camel, snakeCase(camel)])) {
      const key = Buffer.from(text, "latin1");
      let slot = slotOf(key, 0, key.length);
      while (type.slots[slot] !== undefined) slot = (slot + 1) & (slotCount - 1);
      type.slots[slot] = {
        key,
        kind: row.kind,
        tag: (row.number << 3) | wireType,
        repeated,
        type: row.message === undefined ? type : messageType(row.message, tables, known),
        names: row.names ?? [],
      };
    }
  }
  return type;
}
