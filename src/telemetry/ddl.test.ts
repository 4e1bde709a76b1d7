import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  createDatabase,
  createMigrationTable,
  createTable,
  quoteName,
  quoteText,
  tableNames,
  withoutComments,
} from "./ddl.ts";
import type { Layout } from "./ddl.ts";
import { telemetryMigrations } from "./migrations.ts";

const single: Layout = { database: "vigil" };
const cluster: Layout = { database: "vigil", cluster: "main" };

function schema(layout: Layout): string[] {
  return [
    createDatabase(layout),
    createMigrationTable(layout),
    ...telemetryMigrations.flatMap((m) => m.statements(layout)),
  ];
}

test("what a cluster is told", (t) => {
  const file = fileURLToPath(new URL("./snapshots/cluster.sql", import.meta.url));
  t.assert.fileSnapshot(
    schema(cluster)
      .map((statement) => `${statement};\n`)
      .join("\n"),
    file,
    { serializers: [String] },
  );
});

for (const [name, layout] of Object.entries({ "one engine": single, "a cluster": cluster })) {
  test(`every statement for ${name} may be run again, is one statement, and has nothing left to fill in`, () => {
    for (const statement of schema(layout)) {
      assert.match(statement, /^CREATE (DATABASE|TABLE|MATERIALIZED VIEW) IF NOT EXISTS /);
      assert.doesNotMatch(statement.replace(/'[^']*'/g, "''"), /[;{}]/);
    }
  });
}

test("in a cluster every table is replicated, and runs on every server", () => {
  for (const statement of schema(cluster)) {
    assert.ok(statement.includes(" ON CLUSTER `main`"), statement);
    if (statement.startsWith("CREATE TABLE"))
      assert.match(statement, /ENGINE = (Replicated(Aggregating)?MergeTree\('|Distributed\()/);
  }
});

test("a column set differs in nothing but the engine between one engine and a cluster", () => {
  for (const table of tableNames) {
    const columns = (layout: Layout) => /\([^]*\)\s*ENGINE/.exec(createTable(layout, table)[0]!)?.[0];
    assert.equal(columns(cluster), columns(single));
  }
});

test("every .sql file is one statement and is used", () => {
  const folder = new URL("./tables/", import.meta.url);
  const all = schema(single).join("\n");
  for (const file of readdirSync(folder)) {
    const sql = withoutComments(readFileSync(new URL(file, folder), "utf8"));
    assert.doesNotMatch(sql.replace(/'[^']*'/g, "''"), /;/, file);
    assert.ok(all.includes(sql.slice(sql.lastIndexOf("\n"))), `${file} is part of no step`);
  }
});

test("comments go, quoted text stays as it is", () => {
  assert.equal(
    withoutComments("-- head\nSELECT  'a -- b', /* c\n;*/ `d  -- e`, \"--f\" -- g\n  , 'it''s', 'x\\'--y'\n"),
    "SELECT 'a -- b', `d  -- e`, \"--f\"\n  , 'it''s', 'x\\'--y'",
  );
});

test("names and texts are quoted", () => {
  assert.equal(quoteName("a`b\\c"), "`a\\`b\\\\c`");
  assert.equal(quoteText("it's \\ here"), "'it\\'s \\\\ here'");
});
