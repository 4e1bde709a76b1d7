import type { TProperties, TSchema } from "typebox";
import type { Violation } from "./problem.ts";
import { rejectedValue } from "./rejected-value.ts";

/** Names and values in the order in which they were sent; a value is undefined where its encoding is broken. */
export function parseQueryString(url: string): Map<string, (string | undefined)[]> {
  const found = new Map<string, (string | undefined)[]>();
  const start = url.indexOf("?");
  if (start < 0) return found;
  for (const pair of url.slice(start + 1).split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const name = decode(rawName) ?? rawName;
    const values = found.get(name) ?? [];
    values.push(decode(equals < 0 ? "" : pair.slice(equals + 1)));
    found.set(name, values);
  }
  return found;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/**
 * The values of parameters, turned from text into what `properties` declares. Numbers are decimal digits and nothing
 * else (no spaces, exponents, hexadecimal or leading zeros), booleans are true and false. A parameter that cannot be
 * read is left out and named in `violations`; what a value may be is for the schema's validation to say.
 */
export function readParameters(sent: ReadonlyMap<string, readonly (string | undefined)[]>, properties: TProperties) {
  const values: Record<string, unknown> = Object.create(null);
  const violations: Violation[] = [];
  for (const [name, texts] of sent) {
    const schema = Object.hasOwn(properties, name) ? schemaShape(properties[name]!) : {};
    const isList = schema.type === "array";
    const read = texts.map((text) => readText(text, isList ? (schema.items ?? {}) : schema));
    const wrong = read.findIndex((one) => "code" in one);
    if (wrong >= 0) {
      const { code, message } = read[wrong] as Unread;
      violations.push({ field: name, code, message, ...rejectedValue(name, texts[wrong]) });
    } else if (isList) {
      values[name] = read.map((one) => (one as Read).value);
    } else if (texts.length > 1) {
      violations.push({ field: name, code: "type", message: `Takes one value; it was given ${texts.length} times.` });
    } else {
      values[name] = (read[0] as Read).value;
    }
  }
  return { values, violations };
}

interface Shape {
  readonly type?: string;
  readonly items?: Shape;
  readonly minimum?: number;
  readonly maximum?: number;
}
interface Read {
  readonly value: string | number | boolean;
}
interface Unread {
  readonly code: "type" | "format" | "minimum" | "maximum";
  readonly message: string;
}

function schemaShape(schema: TSchema): Shape {
  return schema as Shape;
}

function readText(text: string | undefined, { type, minimum, maximum }: Shape): Read | Unread {
  if (text === undefined) return { code: "format", message: "Is not valid percent-encoded UTF-8." };
  if (type === "integer") {
    if (!/^-?(?:0|[1-9]\d*)$/.test(text)) return { code: "type", message: "Must be an integer." };
    const value = Number(text);
    // Past these a double would stand for another integer than the one sent.
    if (value > Number.MAX_SAFE_INTEGER)
      return { code: "maximum", message: `Must be at most ${maximum ?? Number.MAX_SAFE_INTEGER}.` };
    if (value < Number.MIN_SAFE_INTEGER)
      return { code: "minimum", message: `Must be at least ${minimum ?? Number.MIN_SAFE_INTEGER}.` };
    return { value: value === 0 ? 0 : value };
  }
  if (type === "number") {
    const value = Number(text);
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) || !Number.isFinite(value))
      return { code: "type", message: "Must be a number." };
    return { value };
  }
  if (type === "boolean") {
    return text === "true" || text === "false"
      ? { value: text === "true" }
      : { code: "type", message: "Must be true or false." };
  }
  return { value: text };
}
