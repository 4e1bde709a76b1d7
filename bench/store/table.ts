import { createTable } from "../../src/telemetry/ddl.ts";
import type { Signal } from "./dataset.ts";

/** A way to build a table: what it says stands in place of the shipped form's; what it leaves out is the shipped form's. */
export interface Variant {
  readonly name: string;
  readonly signal: Signal;
  readonly orderBy?: string;
  readonly partitionBy?: string;
  /** Every INDEX and PROJECTION; without it the shipped ones. */
  readonly indexes?: readonly string[];
  /** Types and codecs by column; an empty string takes the column out. */
  readonly columns?: Readonly<Record<string, string>>;
  /** How a column is filled from the staging table, where it has another type or name there. */
  readonly fill?: Readonly<Record<string, string>>;
  readonly settings?: readonly string[];
  /** How the questions of queries.ts are put to this form: `attribute`, `word`. */
  readonly conditions?: Readonly<Record<string, string>>;
}

const shippedSql = (signal: Signal) => createTable({ database: "bench" }, signal)[0]!;

/** The columns of the shipped table as `name`, `definition`, without indexes and projections. */
export function shippedColumns(signal: Signal): [name: string, definition: string][] {
  const columns: [string, string][] = [];
  for (const part of parts(signal)) {
    const match = /^`(\w+)`\s+([^]+)$/.exec(part);
    if (match) columns.push([match[1]!, match[2]!]);
  }
  return columns;
}

/** The entries between the brackets of CREATE TABLE. */
function parts(signal: Signal): string[] {
  const sql = shippedSql(signal);
  const body = sql.slice(sql.indexOf("(\n") + 2, sql.indexOf("\n)\nENGINE"));
  const entries: string[] = [];
  let depth = 0;
  let entry = "";
  for (const [token] of body.matchAll(/'[^']*'|[^]/g)) {
    if ("([".includes(token)) depth++;
    if (")]".includes(token)) depth--;
    if (token === "," && depth === 0) {
      entries.push(entry.trim());
      entry = "";
    } else {
      entry += token;
    }
  }
  return [...entries, entry.trim()];
}

/** `CREATE TABLE` of a variant. */
export function createVariant(variant: Variant, table: string): string {
  const { signal } = variant;
  const sql = shippedSql(signal);
  const clause = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(sql)?.[1];
  const columns = shippedColumns(signal)
    .map(([name, definition]) => [name, variant.columns?.[name] ?? definition] as const)
    .filter(([, definition]) => definition !== "");
  const known = new Set(columns.map(([name]) => name));
  for (const [name, definition] of Object.entries(variant.columns ?? {})) {
    if (!known.has(name) && definition !== "") columns.push([name, definition]);
  }
  const indexes = variant.indexes ?? parts(signal).filter((part) => /^(INDEX|PROJECTION) /.test(part));
  const settings = variant.settings ?? (clause("SETTINGS") ? [clause("SETTINGS")!] : []);
  return [
    `CREATE TABLE ${table} (${[...columns.map(([name, definition]) => `\`${name}\` ${definition}`), ...indexes].join(", ")})`,
    "ENGINE = MergeTree",
    `PARTITION BY ${variant.partitionBy ?? clause("PARTITION BY")!}`,
    `ORDER BY ${variant.orderBy ?? clause("ORDER BY")!}`,
    settings.length > 0 ? `SETTINGS ${settings.join(", ")}` : "",
  ].join("\n");
}
