// `npm run bench` lists the benchmarks; `npm run bench -- NAME [ARGS…]` runs one, alone on the machine.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const files = new Map(globSync("*/run.ts", { cwd: here }).map((file) => [basename(dirname(file)), `${here}${file}`]));
const [name, ...args] = process.argv.slice(2);

if (name === undefined) {
  for (const [known, file] of files) {
    // A benchmark's first comment line says what it measures.
    console.log(
      `${known.padEnd(14)}${readFileSync(file, "utf8")
        .split("\n", 1)[0]!
        .replace(/^\/\/ ?/, "")}`,
    );
  }
} else if (files.has(name)) {
  const { status } = spawnSync(process.execPath, ["--expose-gc", files.get(name)!, ...args], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} else {
  console.error(`There is no benchmark ${name}; there are ${[...files.keys()].join(", ")}.`);
  process.exitCode = 2;
}
