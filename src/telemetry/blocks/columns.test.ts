import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Block } from "./block.ts";
import { LogBlock } from "./log-block.ts";
import { MetricBlock } from "./metric-block.ts";
import { SpanBlock } from "./span-block.ts";

/** Names and types of a table's columns that take values; those that the engine works out itself take none. */
function columnsOf(table: string): string[] {
  const sql = readFileSync(new URL(`../tables/${table}.sql`, import.meta.url), "utf8");
  return [...sql.matchAll(/^ {4}`(\w+)`\s+(.+?),?$/gm)]
    .filter(([, , definition]) => !/ (MATERIALIZED|ALIAS) /.test(definition!))
    .map(([, name, definition]) => `${name} ${definition!.replace(/ CODEC\(.*\)$/, "")}`);
}

const blocks: Readonly<Record<string, () => Block>> = {
  spans: () => new SpanBlock(),
  logs: () => new LogBlock(),
  metric_points: () => new MetricBlock(),
};

for (const [table, make] of Object.entries(blocks)) {
  test(`a block for ${table} has the columns of the table`, () => {
    const expected = columnsOf(table);
    assert.ok(expected.length > 20);
    const columns = make().columns.map(({ name, type }) => `${name} ${type}`);
    assert.deepEqual(columns.toSorted(), expected.toSorted());
  });
}
