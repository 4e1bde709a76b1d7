import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Rows of the import table in ARCHITECTURE.md: a folder (or file of src), and what it may import. */
function readTable(): Map<string, string[]> {
  const section = readFileSync(join(root, "ARCHITECTURE.md"), "utf8").split("## Who may import whom")[1] ?? "";
  const rows = [...section.matchAll(/^\| `([^`]+)` \| ([^|]+) \|$/gm)];
  return new Map(
    rows.map((row) => [row[1]!, row[2]!.trim() === "–" ? [] : row[2]!.split(",").map((name) => name.trim())]),
  );
}

const table = readTable();
const starRows = [...table.keys()].filter((name) => name.endsWith("/*"));

/** The table's row that a file of src belongs to: the longest folder that is listed, or a `folder/*` row. */
function rowOf(file: string): string | undefined {
  if (table.has(file)) return file;
  const exact = [...table.keys()]
    .filter((name) => file.startsWith(`${name}/`))
    .toSorted((a, b) => b.length - a.length)[0];
  return exact ?? starRows.find((row) => file.startsWith(row.slice(0, -1)));
}

function mayImport(from: string, to: string): boolean {
  const fromRow = rowOf(from);
  const toRow = rowOf(to);
  if (fromRow === undefined || toRow === undefined) return false;
  if (toRow === "core") return true;
  const allowed = table.get(fromRow)!;
  if (fromRow !== toRow) return allowed.includes(toRow);
  // Within a `folder/*` row each folder is on its own.
  const depth = fromRow.endsWith("/*") ? fromRow.split("/").length : 0;
  return from.split("/").slice(0, depth).join("/") === to.split("/").slice(0, depth).join("/");
}

test("every import inside src is allowed by the table in ARCHITECTURE.md", () => {
  assert.ok(table.size > 5, "the table was found");
  const wrong: string[] = [];
  for (const file of globSync("src/**/*.ts", { cwd: root })) {
    if (file.endsWith(".test.ts")) continue;
    const source = readFileSync(join(root, file), "utf8");
    for (const [, specifier] of source.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      const target = relative("src", join(dirname(file), specifier!));
      const from = relative("src", file);
      if (target.startsWith("..")) continue;
      if (!mayImport(from, target)) wrong.push(`${from} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("every folder of src stands in the table", () => {
  const lost = globSync("src/**/*.ts", { cwd: root })
    .map((file) => relative("src", file))
    .filter((file) => rowOf(file) === undefined);
  assert.deepEqual(lost, []);
});
