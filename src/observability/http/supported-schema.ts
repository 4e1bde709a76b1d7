import type { TSchema } from "typebox";

/** What the validation turns into a code of its own; a keyword outside would be checked without one. */
const supported = new Set([
  "type",
  "enum",
  "const",
  "anyOf",
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "items",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "pattern",
  "format",
  "minItems",
  "maxItems",
  "minProperties",
  "$id",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "writeOnly",
]);

/**
 * Throws a TypeError where the schema of a request uses a keyword that the validation has no code for, or has an object
 * that would take unknown fields silently. `at` names the schema in the message.
 */
export function assertSupported(schema: TSchema, at: string): void {
  for (const keyword of Object.keys(schema)) {
    if (!supported.has(keyword))
      throw new TypeError(`${at} uses the schema keyword ${keyword}, which has no error code.`);
  }
  const { type, properties, patternProperties, additionalProperties, items, anyOf } = schema as Parts;
  if (type === "object" && additionalProperties === undefined && patternProperties === undefined) {
    throw new TypeError(`${at} is an open object; close it, so that unknown fields are refused.`);
  }
  for (const [name, part] of Object.entries({ ...properties, ...patternProperties }))
    assertSupported(part, `${at}.${name}`);
  if (typeof additionalProperties === "object") assertSupported(additionalProperties, `${at}.*`);
  if (items) assertSupported(items, `${at}[]`);
  for (const part of anyOf ?? []) assertSupported(part, at);
}

interface Parts {
  readonly type?: string;
  readonly properties?: Record<string, TSchema>;
  readonly patternProperties?: Record<string, TSchema>;
  readonly additionalProperties?: boolean | TSchema;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
}
