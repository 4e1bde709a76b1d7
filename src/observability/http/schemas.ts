import { Type } from "typebox";
import type { TObject, TProperties, TSchema, TUnsafe } from "typebox";

/** An object that refuses fields that it does not know. For bodies of requests. */
export function closed<P extends TProperties>(properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false });
}

/** `schema`, or null. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** Text that may be missing. For answers. */
export function optionalText(description?: string) {
  return Type.Optional(Type.String(description === undefined ? {} : { description }));
}

/** An RFC 3339 date-time; `unixNano` makes nanoseconds of it. */
export function timestamp(description?: string) {
  return Type.String({ format: "date-time", ...(description && { description }) });
}

/** An integer of up to 64 bits, printed with all its digits. For answers. */
export function int64(description?: string): TUnsafe<number | bigint> {
  return Type.Unsafe<number | bigint>({ type: "integer", format: "int64", ...(description && { description }) });
}

/** A trace id: 32 lowercase hexadecimal digits. */
export function traceId() {
  return Type.String({ pattern: "^[a-f0-9]{32}$", description: "32 lowercase hexadecimal digits" });
}

/** The parameters of a list: `limit` from 1 to `maximum`, and `cursor`. */
export function pageParameters(maximum: number, byDefault: number) {
  return {
    limit: Type.Integer({ minimum: 1, maximum, default: byDefault, description: "The most items that a page holds" }),
    cursor: Type.Optional(
      Type.String({ description: "`next_cursor` or `prev_cursor` of a page with the same filters and order" }),
    ),
  };
}

/** The answer of a list. */
export function pageOf<T extends TSchema>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    has_more: Type.Boolean({ description: "True exactly when there is a next_cursor" }),
    next_cursor: nullable(Type.String()),
    prev_cursor: nullable(Type.String()),
  });
}

/** An attribute: OpenTelemetry's values as text, as JSON prints them. */
export const KeyValue = Type.Object({ key: Type.String(), value: Type.String() }, { $id: "KeyValue" });
