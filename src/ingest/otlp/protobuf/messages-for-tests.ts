/** A protobuf field, ready to lie in a message. A message is its fields in a row. */
export type Field = Buffer;

function varint(value: bigint | number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const tagged = (number: number, wireType: number, content: Buffer) =>
  Buffer.concat([varint(number * 8 + wireType), content]);

export const field = {
  varint: (number: number, value: bigint | number): Field => tagged(number, 0, varint(value)),
  fixed64: (number: number, value: bigint): Field => {
    const content = Buffer.alloc(8);
    content.writeBigUInt64LE(BigInt.asUintN(64, value));
    return tagged(number, 1, content);
  },
  double: (number: number, value: number): Field => {
    const content = Buffer.alloc(8);
    content.writeDoubleLE(value);
    return tagged(number, 1, content);
  },
  fixed32: (number: number, value: number): Field => {
    const content = Buffer.alloc(4);
    content.writeUInt32LE(value);
    return tagged(number, 5, content);
  },
  bytes: (number: number, value: Uint8Array | string): Field => {
    const content = Buffer.from(value as string);
    return tagged(number, 2, Buffer.concat([varint(content.length), content]));
  },
  message: (number: number, ...fields: readonly Field[]): Field => field.bytes(number, Buffer.concat(fields)),
};

/** An attribute's value: a string, boolean, integer (bigint), double (number), array, map, bytes, or none (null). */
export type Value = string | boolean | bigint | number | readonly Value[] | Pairs | Uint8Array | null;

/** Pairs in order, which may have one key twice. */
export class Pairs {
  readonly pairs: readonly (readonly [string, Value])[];
  constructor(...pairs: readonly (readonly [string, Value])[]) {
    this.pairs = pairs;
  }
}

/** The fields of an AnyValue. */
export function anyValue(value: Value): Field[] {
  if (value === null) return [];
  if (typeof value === "string") return [field.bytes(1, value)];
  if (typeof value === "boolean") return [field.varint(2, value ? 1 : 0)];
  if (typeof value === "bigint") return [field.varint(3, value)];
  if (typeof value === "number") return [field.double(4, value)];
  if (value instanceof Uint8Array) return [field.bytes(7, value)];
  if (value instanceof Pairs) return [field.message(6, ...attributes(1, value.pairs))];
  return [field.message(5, ...value.map((element) => field.message(1, ...anyValue(element))))];
}

export type Attributes = readonly (readonly [string | Uint8Array, Value])[];

/** KeyValues as the fields `number` of the message around them. */
export function attributes(number: number, pairs: Attributes): Field[] {
  return pairs.map(([key, value]) => field.message(number, field.bytes(1, key), field.message(2, ...anyValue(value))));
}

export interface Group {
  readonly resource?: readonly Field[];
  readonly resourceSchemaUrl?: string;
  readonly scope?: readonly Field[];
  readonly scopeSchemaUrl?: string;
  /** Spans, log records or metrics. */
  readonly items: readonly (readonly Field[])[];
}

/** An export request of any signal, with one resource and one scope for each group. */
export function request(...groups: readonly Group[]): Buffer {
  return Buffer.concat(
    groups.map(({ resource, resourceSchemaUrl, scope, scopeSchemaUrl, items }) =>
      field.message(
        1,
        ...(resource ? [field.message(1, ...resource)] : []),
        field.message(
          2,
          ...(scope ? [field.message(1, ...scope)] : []),
          ...items.map((item) => field.message(2, ...item)),
          ...(scopeSchemaUrl === undefined ? [] : [field.bytes(3, scopeSchemaUrl)]),
        ),
        ...(resourceSchemaUrl === undefined ? [] : [field.bytes(3, resourceSchemaUrl)]),
      ),
    ),
  );
}

export const hex = (text: string): Buffer => Buffer.from(text, "hex");
export const traceId = hex("0af7651916cd43dd8448eb211c80319c");
export const spanId = hex("b7ad6b7169203331");

/** The fields without which a span is refused. */
export const spanIds: readonly Field[] = [field.bytes(1, traceId), field.bytes(2, spanId)];
