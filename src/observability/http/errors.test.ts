import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { errorCodes, violationCodes } from "./errors.ts";

const document = readFileSync(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");

/** Rows of the table below the heading `heading`, as code → sentence. */
function table(heading: string): Record<string, string> {
  const section = document.split(/^## /m).find((part) => part.startsWith(heading));
  assert.ok(section, `a section ${heading}`);
  return Object.fromEntries(
    [...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map((match) => [match[1]!, match[2]!]),
  );
}

test("docs/reference/errors.md lists exactly the codes of the catalogue, with their sentences", () => {
  assert.deepEqual(table("`errors[].code`"), { ...violationCodes });
  assert.deepEqual(table("`error_code`"), { ...errorCodes });
});
