// `npm run check`: types, lint, format, unused code, imports. `--fix` formats and mends what can be mended.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const fix = process.argv.includes("--fix");

/** Runs the JavaScript behind a package's command with this same Node. */
function runTool(name: string, args: readonly string[], bin = name): boolean {
  const folder = fileURLToPath(new URL(`../node_modules/${name}/`, import.meta.url));
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    bin: string | Record<string, string>;
  };
  const script = join(folder, typeof manifest.bin === "string" ? manifest.bin : manifest.bin[bin]!);
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
