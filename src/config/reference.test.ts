import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { optionTable } from "./reference.ts";

test("docs/reference/options.md holds the table of all options as they are", () => {
  const page = readFileSync(new URL("../../docs/reference/options.md", import.meta.url), "utf8");
  assert.ok(page.includes(optionTable()), "print it with: npm run vigil -- config options");
});
