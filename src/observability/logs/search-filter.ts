import { Type } from "typebox";
import type { Static, TObject } from "typebox";
import { timeRange } from "../http/rules.ts";
import type { Rule } from "../http/rules.ts";
import { timestamp, traceId } from "../http/schemas.ts";
import { unixNano } from "../http/timestamp.ts";
import { AttributeFilters, readAttributeFilters } from "./attribute-filter.ts";
import type { LogFilter } from "./filter.ts";
import { maxQueryLength, parseQuery } from "./query-language.ts";

/** The fields of a body that select records. */
export const searchFields = {
  query: Type.Optional(Type.String({ maxLength: maxQueryLength, description: "Text, as the `query` of GET /logs" })),
  severity_min: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 24,
      description: "From 1 on, records without a severity (0) are left out",
    }),
  ),
  service_name: Type.Optional(Type.String({ maxLength: 1_000 })),
  trace_id: Type.Optional(traceId()),
  span_id: Type.Optional(Type.String({ pattern: "^[a-f0-9]{16}$", description: "16 lowercase hexadecimal digits" })),
  time_start: Type.Optional(timestamp("Inclusive")),
  time_end: Type.Optional(timestamp("Exclusive")),
  attribute_filters: Type.Optional(AttributeFilters),
};
export type SearchFields = Static<TObject<typeof searchFields>>;

/** What a schema cannot say of `searchFields`. */
export const searchRules: readonly Rule[] = [
  timeRange("time_start", "time_end", "body"),
  validQuery("body"),
  ({ body: { attribute_filters: items } }) =>
    Array.isArray(items) ? readAttributeFilters(items).violations : undefined,
];

/** The text `query` of `part` must be in the query language. */
export function validQuery(part: "query" | "body"): Rule {
  return ({ [part]: { query } }) => {
    if (typeof query !== "string") return undefined;
    const parsed = parseQuery(query);
    return parsed.ok
      ? undefined
      : { field: "query", code: "query.invalid", message: parsed.message, rejected_value: query };
  };
}

/** What valid fields select in a workspace. */
export function searchFilter(workspace: string, fields: SearchFields): LogFilter {
  const parsed = parseQuery(fields.query ?? "");
  return {
    workspace,
    serviceName: fields.service_name,
    severityMin: fields.severity_min,
    traceId: fields.trace_id,
    spanId: fields.span_id,
    start: fields.time_start === undefined ? undefined : unixNano(fields.time_start),
    end: fields.time_end === undefined ? undefined : unixNano(fields.time_end),
    query: parsed.ok ? parsed.terms : [],
    attributes: readAttributeFilters(fields.attribute_filters ?? []).filters,
  };
}
