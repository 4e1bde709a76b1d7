import { RE2JS } from "re2js";
import { Type } from "typebox";
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { Validator } from "typebox/compile";
import type { Violation } from "../http/problem.ts";
import { closed } from "../http/schemas.ts";
import { describeErrors } from "../http/violations.ts";

/** Most filters of one search: each is a pass over the rows that the others left. */
const maxAttributeFilters = 20;
const maxPatternLength = 1_000;
/** Of all filters together, as JSON: their texts are sent to the store several times over, in statements of bounded size. */
const maxTotalLength = 10_000;

const key = Type.String({ minLength: 1, maxLength: 1_000 });
const text = Type.String();
const scalar = Type.Union([text, Type.Number(), Type.Boolean()]);

function filterOf<O extends string, V extends TSchema>(operator: O, value: V) {
  return closed({ key, operator: Type.Literal(operator), value });
}
const list = Type.Array(scalar, { minItems: 1, maxItems: 100 });

/** What a filter of each operator looks like. */
const schemas = {
  eq: filterOf("eq", scalar),
  neq: filterOf("neq", scalar),
  contains: filterOf("contains", text),
  starts_with: filterOf("starts_with", text),
  ends_with: filterOf("ends_with", text),
  regex: filterOf("regex", Type.String({ maxLength: maxPatternLength })),
  gt: filterOf("gt", Type.Number()),
  gte: filterOf("gte", Type.Number()),
  lt: filterOf("lt", Type.Number()),
  lte: filterOf("lte", Type.Number()),
  in: filterOf("in", list),
  not_in: filterOf("not_in", list),
  exists: closed({ key, operator: Type.Literal("exists") }),
  not_exists: closed({ key, operator: Type.Literal("not_exists") }),
};

export type FilterOperator = keyof typeof schemas;
export const filterOperators = Object.keys(schemas) as readonly FilterOperator[];

/** A condition on an attribute of the record or of its resource. */
export type AttributeFilter = Static<(typeof schemas)[FilterOperator]>;

/** Says what is wrong with a filter whose operator is none. */
const anyFilter = closed({ key, operator: Type.Enum([...filterOperators]), value: Type.Optional(Type.Unknown()) });

/**
 * `attribute_filters` of a body. The items' own schemas are left to `readAttributeFilters`: the value depends on the
 * operator, and one wrong filter must not keep the others from being looked at.
 */
export const AttributeFilters = Type.Array(
  Type.Unsafe<unknown>({
    description:
      "`{key, operator, value}`. `eq`, `neq` take a string, number or boolean; `in`, `not_in` 1 to 100 of them; " +
      "`contains`, `starts_with`, `ends_with` a string; `regex` an RE2 pattern; `gt`, `gte`, `lt`, `lte` a number; " +
      "`exists`, `not_exists` no value.",
    properties: {
      key: { description: "The name of an attribute of the record or of its resource" },
      operator: { description: `One of ${filterOperators.join(", ")}` },
      value: { description: "As the operator wants it" },
    },
    examples: [{ key: "http.response.status_code", operator: "gte", value: 500 }],
  }),
  { maxItems: maxAttributeFilters, description: "A record matches when all of them do" },
);

/** The filters among `items` that are valid, and everything that is wrong with the others. */
export function readAttributeFilters(items: readonly unknown[]): {
  filters: AttributeFilter[];
  violations: Violation[];
} {
  const filters: AttributeFilter[] = [];
  const violations: Violation[] = [];
  for (const [i, item] of items.entries()) {
    const { filter, found } = readFilter(item);
    if (filter) filters.push(filter);
    for (const violation of found)
      violations.push({ ...violation, field: `attribute_filters[${i}]${violation.field}` });
  }
  const length = JSON.stringify(items).length;
  if (length > maxTotalLength) {
    const message = `Must have at most ${maxTotalLength} characters in all as JSON, and has ${length}.`;
    violations.push({ field: "attribute_filters", code: "max_length", message });
  }
  return { filters, violations };
}

/** The fields of the violations are relative to the filter: `.value`, or empty for the filter itself. */
function readFilter(item: unknown): { filter?: AttributeFilter; found: Violation[] } {
  const operator = typeof item === "object" && item !== null && "operator" in item ? item.operator : undefined;
  const schema = isOperator(operator) ? schemas[operator] : anyFilter;
  const validator: Validator = (validators[isOperator(operator) ? operator : "any"] ??= Compile(schema));
  if (!validator.Check(item)) {
    const found = describeErrors(validator.Errors(item), schema, item, "body");
    return { found: found.map(({ top, violation }) => ({ ...violation, field: top ? `.${violation.field}` : "" })) };
  }
  const filter = item as AttributeFilter;
  const found = misreadNumbers(filter);
  const problem = filter.operator === "regex" ? patternProblem(filter.value) : undefined;
  if (problem !== undefined) found.push({ field: ".value", code: "format", message: problem });
  return found.length > 0 ? { found } : { filter, found };
}

const validators: Partial<Record<FilterOperator | "any", Validator>> = {};

function isOperator(operator: unknown): operator is FilterOperator {
  return typeof operator === "string" && Object.hasOwn(schemas, operator);
}

/** A JSON number this large may not be the one that was written, where all digits have to be the same. */
function misreadNumbers(filter: AttributeFilter): Violation[] {
  if (!("value" in filter) || /^[gl]te?$/.test(filter.operator)) return [];
  const values = Array.isArray(filter.value) ? filter.value : [filter.value];
  return values.flatMap((value, i) => {
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return [];
    const field = Array.isArray(filter.value) ? `.value[${i}]` : ".value";
    return {
      field,
      code: "format" as const,
      message: "An integer beyond 2^53 loses digits in JSON: write it as a string.",
    };
  });
}

/** Why RE2, which the store searches with, would not take a pattern. */
function patternProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern, RE2JS.DOTALL);
    return undefined;
  } catch (error) {
    const reason = (error as Error).message.replace(/^error parsing regexp: /, "");
    return `Is not a regular expression as RE2 takes them: ${reason}.`;
  }
}
