// Every curl line of the README and the guides, run against Vigil with the example shop's telemetry in it. Each must
// be answered with success, and where an answer is shown, the real one must have every member that is shown.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { readCurl } from "./curl.ts";
import { fillFromShop } from "./shop-data.ts";
import type { ShopData } from "./shop-data.ts";
import { startVigil } from "./start-vigil.ts";
import type { RunningVigil } from "./start-vigil.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["README.md", ...globSync("docs/guide/*.md", { cwd: root })];

let vigil: RunningVigil;
/** Ids that are really there, to stand in for those of the page. */
let real: ShopData;

before(async () => {
  vigil = await startVigil();
  real = await fillFromShop(vigil.url);
});
after(() => vigil.stop());

interface Example {
  readonly line: string;
  /** The answer as the page shows it, if it does. */
  readonly shown?: string;
}

/** The curl lines of a page's shell blocks; an answer belongs to the last line of the block right before it. */
function examplesOf(page: string): Example[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/```sh\n([^]*?)```(?:\s*```json\n([^]*?)```)?/g)].flatMap(([, block, shown]) => {
    const lines = block!
      .replaceAll(/\\\n\s*/g, " ")
      .split("\n")
      .filter((line) => line.startsWith("curl "));
    return lines.map((line, i) => ({ line, ...(shown && i === lines.length - 1 && { shown }) }));
  });
}

/** The members that an answer shown on a page has and the real one lacks, of an array by its first element. */
function missing(shown: unknown, answer: unknown, path = ""): string[] {
  if (Array.isArray(shown)) return shown.length > 0 ? missing(shown[0], (answer as unknown[])?.[0], `${path}[0]`) : [];
  if (typeof shown !== "object" || shown === null) return [];
  return Object.entries(shown).flatMap(([key, value]) => {
    const has = typeof answer === "object" && answer !== null && key in answer;
    return has ? missing(value, (answer as Record<string, unknown>)[key], `${path}.${key}`) : [`${path}.${key}`];
  });
}

for (const page of pages) {
  const examples = examplesOf(page);
  describe(page, () => {
    for (const { line, shown } of examples) {
      test(line, async () => {
        const here = line
          .replace("http://127.0.0.1:4318", vigil.url)
          .replaceAll(/(?<=[/=])[0-9a-f]{32}\b/g, real.traceId)
          .replaceAll(/session-\d+-\d+/g, real.sessionId);
        const { url, init } = readCurl(here);
        const answer = await fetch(url, init);
        const text = await answer.text();
        assert.equal(answer.status, 200, text);
        if (shown !== undefined) assert.deepEqual(missing(JSON.parse(shown), JSON.parse(text)), []);
      });
    }
  });
}
