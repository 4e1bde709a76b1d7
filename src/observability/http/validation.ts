import type { FastifyRequest } from "fastify";
import type { TProperties, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { Validator } from "typebox/compile";
import { Format } from "typebox/format";
import { Settings } from "typebox/system";
import type { Violation } from "./problem.ts";
import { parseQueryString, readParameters } from "./query-string.ts";
import type { Rule } from "./rules.ts";
import { closed } from "./schemas.ts";
import { assertSupported } from "./supported-schema.ts";
import { parseTimestamp } from "./timestamp.ts";
import { describeErrors } from "./violations.ts";

/** A body of a million wrong items is not answered with a million errors. */
const mostErrors = 100;
Settings.Set({ maxErrors: mostErrors });
// The library's own check takes suffixes of RFC 9557 and times without a zone's sense of leap seconds.
Format.Set("date-time", (text) => parseTimestamp(text) !== undefined);

export interface RequestSchemas {
  readonly params?: TProperties;
  readonly query?: TProperties;
  readonly body?: TSchema;
  readonly rules?: readonly Rule[];
}

export interface Validated {
  /** The parts of the request, defaults filled in, without the fields that are wrong. */
  readonly valid: { readonly params: Fields; readonly query: Fields; readonly body: unknown };
  /** Names of the outermost fields that are wrong, of all parts. */
  readonly invalid: ReadonlySet<string>;
  /** Everything that is wrong; empty where nothing is. */
  readonly violations: readonly Violation[];
}

type Fields = Record<string, unknown>;

/** A function that checks path, query string and body of a request, all of it at once. */
export function compileValidation({
  params = {},
  query = {},
  body,
  rules = [],
}: RequestSchemas): (request: FastifyRequest) => Validated {
  const checkParams = compilePart(closed(params), "params");
  const checkQuery = compilePart(closed(query), "query");
  const checkBody = body && compilePart(body, "body");

  return function validate(request) {
    const violations: Violation[] = [];
    const invalid = new Set<string>();
    const add = (found: readonly Violation[], tops: readonly (string | undefined)[]): void => {
      violations.push(...found);
      for (const top of tops) if (top !== undefined) invalid.add(top);
    };

    const sentParams = new Map(
      Object.entries(request.params as Record<string, string>).map(([name, text]) => [name, [text]]),
    );
    const valid: { params: Fields; query: Fields; body: unknown } = { params: {}, query: {}, body: undefined };
    for (const [part, sent, properties, check] of [
      ["params", sentParams, params, checkParams],
      ["query", parseQueryString(request.raw.url ?? ""), query, checkQuery],
    ] as const) {
      const { values, violations: unread } = readParameters(sent, properties);
      const { value, found } = check(values);
      const unreadNames = new Set(unread.map((violation) => violation.field));
      // A parameter that could not be read is there, if not as it should be.
      const others = found.filter(({ top }) => top === undefined || !unreadNames.has(top));
      add([...unread, ...others.map(({ violation }) => violation)], [...unreadNames, ...others.map(({ top }) => top)]);
      valid[part] = without(value as Fields, invalid);
    }

    if (checkBody) {
      if (request.body === undefined) {
        add([{ field: "body", code: "required", message: "A JSON body is required." }], ["body"]);
      } else {
        const { value, found } = checkBody(request.body);
        add(
          found.map(({ violation }) => violation),
          found.map(({ top }) => top ?? "body"),
        );
        const whole = found.every(({ top }) => top !== undefined);
        if (whole)
          valid.body = found.length > 0 ? without(value as Fields, new Set(found.map(({ top }) => top!))) : value;
      }
    }

    for (const rule of rules) {
      const found = [rule({ ...valid, body: isFields(valid.body) ? valid.body : {} }) ?? []].flat();
      add(
        found,
        found.map(({ field }) => field),
      );
    }
    return { valid, invalid, violations };
  };
}

function compilePart(schema: TSchema, part: "params" | "query" | "body") {
  assertSupported(schema, part);
  const validator: Validator = Compile(schema);
  return (sent: unknown) => {
    const value = validator.Default(sent);
    const found = validator.Check(value) ? [] : describeErrors(validator.Errors(value), schema, value, part);
    return { value, found };
  };
}

function without(fields: Fields, names: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
