import type { AttributeFilter } from "./attribute-filter.ts";
import { createBinder } from "./binder.ts";
import type { Bind, Condition } from "./binder.ts";
import { attributeCondition } from "./query-sql.ts";
import { processId, resourceValuePattern } from "./resource-json.ts";

/**
 * The SQL condition of filters, all of which must hold; none: `1`. A record has an attribute's value twice where both
 * it and its resource have that key: then one of them has to match. `neq`, `not_in` and `not_exists` match exactly what
 * `eq`, `in` and `exists` do not, records without the attribute among them.
 */
export function attributeFilterCondition(filters: readonly AttributeFilter[]): Condition {
  const { bind, params } = createBinder("filter");
  return { sql: filters.map((filter) => `(${filterCondition(filter, bind)})`).join(" AND ") || "1", params };
}

function filterCondition(filter: AttributeFilter, bind: Bind): string {
  const { key } = filter;
  switch (filter.operator) {
    case "eq":
      return attributeCondition({ key, pieces: [String(filter.value)] }, bind);
    case "neq":
      return `NOT (${attributeCondition({ key, pieces: [String(filter.value)] }, bind)})`;
    case "contains":
      return attributeCondition({ key, pieces: ["", filter.value, ""] }, bind);
    case "starts_with":
      return attributeCondition({ key, pieces: [filter.value, ""] }, bind);
    case "ends_with":
      return attributeCondition({ key, pieces: ["", filter.value] }, bind);
    case "exists":
      return attributeCondition({ key, pieces: ["", ""] }, bind);
    case "not_exists":
      return `NOT (${attributeCondition({ key, pieces: ["", ""] }, bind)})`;
    case "regex":
      return valueCondition(key, bind, (value) => `match(${value}, ${bind(filter.value)})`);
    case "in":
      return listCondition(key, filter.value, bind);
    case "not_in":
      return `NOT (${listCondition(key, filter.value, bind)})`;
    default: {
      const sign = { gt: ">", gte: ">=", lt: "<", lte: "<=" }[filter.operator];
      const bound = bind(filter.value, "Float64");
      return valueCondition(key, bind, (value) => `ifNull(${asNumber(value)} ${sign} ${bound}, 0)`);
    }
  }
}

function listCondition(key: string, values: readonly (string | number | boolean)[], bind: Bind): string {
  const list = bind(values.map(String), "Array(String)");
  return valueCondition(key, bind, (value) => `has(${list}, ${value})`);
}

/** True where what `test` makes of the record's value, or of its resource's, is true. */
function valueCondition(key: string, bind: Bind, test: (value: string) => string): string {
  const own = attributeValue(key, bind);
  const resource = resourceValue(key, bind);
  return `(${own.exists} AND ${test(own.text)}) OR (${resource.exists} AND ${test(resource.text)})`;
}

/** SQL of whether there is a value, and of its text; that is empty, or means nothing, where there is none. */
export interface ValueSql {
  readonly exists: string;
  readonly text: string;
}

/** An attribute of the record itself. */
export function attributeValue(key: string, bind: Bind): ValueSql {
  const name = bind(key);
  return { exists: `mapContains(attributes, ${name})`, text: `attributes[${name}]` };
}

/** An attribute of its resource. */
export function resourceValue(key: string, bind: Bind): ValueSql {
  const json = `extract(resource, ${bind(resourceValuePattern(key))})`;
  const text = `JSONExtractString(${json})`;
  return { exists: `${json} != ''`, text: key === processId ? `if(startsWith(${json}, '"'), ${text}, ${json})` : text };
}

/** The number that a text reads as, null where it reads as none or as none that is finite. */
export function asNumber(text: string): string {
  const number = `toFloat64OrNull(toString(${text}))`;
  return `if(isFinite(${number}), ${number}, NULL)`;
}
