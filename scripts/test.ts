// `npm test`: every test of the project, with node's own runner. Arguments narrow it: `npm test -- src/config`.
import { spawnSync } from "node:child_process";
import { globSync, statSync } from "node:fs";

const wanted = process.argv.slice(2);
const roots = wanted.length > 0 ? wanted : ["src", "test", "examples"];
const files = roots.flatMap((root) =>
  statSync(root, { throwIfNoEntry: false })?.isFile() ? [root] : globSync(`${root}/**/*.test.ts`).toSorted(),
);
if (files.length === 0) {
  console.error(`No test files under ${roots.join(", ")}.`);
  process.exit(2);
}
// The engine's processes want a core each; more files at once only make each other slow.
const result = spawnSync(process.execPath, ["--test", "--test-concurrency=2", "--test-timeout=300000", ...files], {
  stdio: "inherit",
});
process.exit(result.status ?? 1);
