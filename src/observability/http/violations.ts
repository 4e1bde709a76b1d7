import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { closest } from "../../core/closest.ts";
import type { ViolationCode } from "./errors.ts";
import type { Violation } from "./problem.ts";
import { rejectedValue } from "./rejected-value.ts";

export interface LocatedViolation {
  /** The property of the outermost object in which it lies; undefined for that object itself. */
  readonly top: string | undefined;
  readonly violation: Violation;
}

/**
 * The schema validator's errors about `value` in our own words and codes, one for each thing that is wrong.
 * `part` says what is being validated: the fields of a body are nested and unknown ones are `unknown_field`.
 */
export function describeErrors(
  errors: readonly TLocalizedValidationError[],
  schema: TSchema,
  value: unknown,
  part: "params" | "query" | "body",
): LocatedViolation[] {
  return withoutAlternatives(errors).flatMap((error) => {
    const path = pointerParts(error.instancePath);
    const located = (code: ViolationCode, message: string, keys = path): LocatedViolation => {
      // What is missing has no value, and what is unknown may be a secret under a misspelt name.
      const isMute = code === "required" || code.startsWith("unknown");
      const shown = isMute ? {} : rejectedValue(keys.join("."), valueAt(value, keys));
      return { top: keys[0], violation: { field: fieldName(keys, value), message, code, ...shown } };
    };
    switch (error.keyword) {
      case "required":
        return error.params.requiredProperties.map((name) => located("required", "Is required.", [...path, name]));
      case "additionalProperties": {
        const known = Object.keys(propertiesAt(schema, error.schemaPath));
        const [code, kind] =
          part === "query" ? (["unknown_parameter", "parameter"] as const) : (["unknown_field", "field"] as const);
        return error.params.additionalProperties.map((name) => {
          const near = closest(name, known);
          return located(code, `There is no such ${kind}${near ? `; did you mean \`${near}\`?` : "."}`, [
            ...path,
            name,
          ]);
        });
      }
      case "boolean":
        // The validator's second word on a field that additionalProperties has refused.
        return [];
      case "type":
        return located("type", `Must be ${typeNames([error.params.type].flat())}.`);
      case "anyOf":
        return located("type", `Must be ${alternatives(nodeAt(schema, error.schemaPath))}.`);
      case "enum":
        return located("enum", oneOf(error.params.allowedValues, valueAt(value, path)));
      case "const":
        return located("enum", oneOf([error.params.allowedValue], valueAt(value, path)));
      case "minimum":
      case "exclusiveMinimum":
        return located(
          "minimum",
          `Must be ${error.keyword === "minimum" ? "at least" : "above"} ${error.params.limit}.`,
        );
      case "maximum":
      case "exclusiveMaximum":
        return located(
          "maximum",
          `Must be ${error.keyword === "maximum" ? "at most" : "below"} ${error.params.limit}.`,
        );
      case "minLength":
        return located("min_length", `Must have at least ${characters(error.params.limit)}.`);
      case "maxLength":
        return located("max_length", `Must have at most ${characters(error.params.limit)}.`);
      case "pattern":
        return located("pattern", patternMessage(nodeAt(schema, error.schemaPath), String(error.params.pattern)));
      case "format":
        return located("format", formatMessage(error.params.format, valueAt(value, path)));
      case "minItems":
        return located("min_items", `Must have at least ${error.params.limit} item(s).`);
      case "maxItems":
        return located("max_items", `Must have at most ${error.params.limit} item(s).`);
      case "minProperties":
        return located("min_properties", `Must have at least ${error.params.limit} field(s).`);
      default:
        throw new TypeError(`The schema keyword ${error.keyword} has no error code.`);
    }
  });
}

/**
 * Of a value that matches none of several alternatives, the validator reports the errors of all. Kept are those of the
 * alternative that was meant (the value has its type, and misses it by the fewest errors); where none was, the `anyOf`
 * error itself.
 */
function withoutAlternatives(errors: readonly TLocalizedValidationError[]): TLocalizedValidationError[] {
  let kept = [...errors];
  // Inner ones first: they are reported before those that hold them.
  for (const union of errors.filter((error) => error.keyword === "anyOf")) {
    if (!kept.includes(union)) continue;
    const prefix = `${union.schemaPath}/anyOf/`;
    const isInside = (error: TLocalizedValidationError) =>
      error.schemaPath.startsWith(prefix) && error.instancePath.startsWith(union.instancePath);
    const branches = Map.groupBy(
      kept.filter(isInside),
      (error) => error.schemaPath.slice(prefix.length).split("/", 1)[0],
    );
    const meant = [...branches.values()]
      .filter(
        (branch) => !branch.some((error) => error.keyword === "type" && error.instancePath === union.instancePath),
      )
      .toSorted((a, b) => misfit(a) - misfit(b))[0];
    kept = kept.filter((error) => (isInside(error) ? meant?.includes(error) : error !== union || !meant));
  }
  return kept;
}

/** A wrong tag (`kind: "a"`) says more than any number of wrong fields. */
function misfit(errors: readonly TLocalizedValidationError[]): number {
  return errors.reduce((sum, error) => sum + (error.keyword === "const" ? 1000 : 1), 0);
}

function oneOf(allowed: readonly unknown[], value: unknown): string {
  const near = typeof value === "string" ? closest(value, allowed.map(String)) : undefined;
  return `Must be ${allowed.length > 1 ? "one of " : ""}${allowed.join(", ")}${near ? `; did you mean ${near}?` : "."}`;
}

function formatMessage(format: string, value: unknown): string {
  if (format !== "date-time") return `Must be a valid ${format}.`;
  // In a query string a bare "+" is a space.
  const plus = typeof value === "string" && / \d\d:\d\d$/.test(value) ? " In a URL, write + as %2B." : "";
  return `Must be an RFC 3339 date-time such as 2026-01-26T09:30:00Z.${plus}`;
}

function patternMessage(schema: TSchema, pattern: string): string {
  const { description } = schema as { description?: string };
  return description ? `Must match ${pattern} (${description}).` : `Must match ${pattern}.`;
}

function characters(count: number | bigint): string {
  return `${count} ${count === 1 ? "character" : "characters"}`;
}

const articles: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
};

function typeNames(types: readonly string[]): string {
  return types.map((type) => articles[type] ?? type).join(" or ");
}

function alternatives(schema: TSchema): string {
  const { anyOf = [] } = schema as { anyOf?: readonly { type?: string; const?: unknown }[] };
  return anyOf
    .map(({ type, const: only }) => (only === undefined ? typeNames([type ?? "another value"]) : JSON.stringify(only)))
    .join(" or ");
}

function pointerParts(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  );
}

function nodeAt(schema: TSchema, schemaPath: string): TSchema {
  return (valueAt(schema, pointerParts(schemaPath)) ?? {}) as TSchema;
}

function propertiesAt(schema: TSchema, schemaPath: string): Record<string, TSchema> {
  return (nodeAt(schema, schemaPath) as { properties?: Record<string, TSchema> }).properties ?? {};
}

/** `a.b[0].c`, or `body` where the path is empty. */
function fieldName(path: readonly string[], value: unknown): string {
  if (path.length === 0) return "body";
  return path
    .map((key, i) => (Array.isArray(valueAt(value, path.slice(0, i))) ? `[${key}]` : i === 0 ? key : `.${key}`))
    .join("");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
