// `npm run check`: types, lint, format, unused code, imports. `--fix` formats and mends what can be mended.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const fix = process.argv.includes("--fix");

/** Runs the JavaScript behind a package's command with this same Node. */
function runTool(name: string, args: readonly string[], bin = name): boolean {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin: bins } = require(manifest) as { bin: string | Record<string, string> };
  const script = join(dirname(manifest), typeof bins === "string" ? bins : bins[bin]!);
  return spawnSync(process.execPath, [script, ...args], { stdio: "inherit" }).status === 0;
}

const steps: readonly (readonly [string, () => boolean])[] = [
  ["format", () => runTool("oxfmt", fix ? ["."] : ["--check", "."])],
  ["lint", () => runTool("oxlint", fix ? ["--fix", "--deny-warnings"] : ["--deny-warnings"])],
  ["types", () => runTool("typescript", ["--noEmit", "-p", "."], "tsc")],
  ["unused code", () => runTool("knip", [])],
  [
    "imports",
    () => spawnSync(process.execPath, ["--test", "test/architecture.test.ts"], { stdio: "inherit" }).status === 0,
  ],
];

const failed = steps.filter(([name, step]) => {
  console.log(`\n— ${name}`);
  return !step();
});
console.log(failed.length === 0 ? "\nAll checks passed." : `\nFailed: ${failed.map(([name]) => name).join(", ")}.`);
process.exit(failed.length === 0 ? 0 : 1);
