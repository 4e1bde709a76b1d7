import { attributeValue, resourceValue } from "./attribute-filter-sql.ts";
import type { ValueSql } from "./attribute-filter-sql.ts";
import type { Bind } from "./binder.ts";

const text = (column: string): ValueSql => ({ exists: `${column} != ''`, text: column });
const id = (column: string, bytes: number): ValueSql => ({
  exists: `${column} != toFixedString('', ${bytes})`,
  text: `lower(hex(${column}))`,
});

/** What a record has beside attributes, under the names that the API and the tables give it. */
const fields: ReadonlyMap<string, ValueSql> = new Map([
  ["service_name", text("service_name")],
  ["service_namespace", text("service_namespace")],
  ["service_version", text("service_version")],
  ["environment", text("environment")],
  ["event_name", text("event_name")],
  ["severity_text", text("severity_text")],
  ["severity_number", { exists: "1", text: "toString(severity_number)" }],
  ["trace_id", id("trace_id", 16)],
  ["span_id", id("span_id", 8)],
  ["session_id", text("session_id")],
  ["body", { exists: "body_type != 'n'", text: "body" }],
]);
export const recordFields: readonly string[] = [...fields.keys()];

/**
 * The one value that a record has under a name: of `recordFields`, else its attribute, else its resource's. The text is
 * null where there is none.
 */
export function recordValue(name: string, bind: Bind): string {
  const field = fields.get(name);
  if (field) return `if(${field.exists}, ${field.text}, NULL)`;
  const own = attributeValue(name, bind);
  const resource = resourceValue(name, bind);
  return `multiIf(${own.exists}, toString(${own.text}), ${resource.exists}, toString(${resource.text}), NULL)`;
}
