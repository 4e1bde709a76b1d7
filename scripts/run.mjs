#!/usr/bin/env node
// Runs a TypeScript file of this project: `node scripts/run.mjs FILE [ARGS…]`, or node itself with
// the flags given: `node scripts/run.mjs --test …`. Installs what is missing first, and uses the Node 24
// that came with the packages where the machine's own is older. Plain JavaScript that Node 18 can read,
// since it is the one thing that runs before anything is installed.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const wantedMajor = 24;

/** `npm ci`, only when the lock file is not the one that was installed last. */
function install() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules", ".vigil-installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  const why = existsSync(stamp) ? "package-lock.json has changed" : "first run";
  console.error(
    `vigil: ${why}: installing packages with npm ci (about 900 MB on disk, the ClickHouse engine above all) …`,
  );
  const started = Date.now();
  const npm = process.env.npm_execpath;
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const result = npm?.endsWith(".js")
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ["ignore", 2, 2] })
    : spawnSync("npm", args, { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  if (result.status !== 0) {
    console.error(
      "vigil: npm ci did not succeed; its message is above. Run it again once the registry can be reached.",
    );
    process.exit(1);
  }
  writeFileSync(stamp, lock);
  console.error(`vigil: packages installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

/** The path of a Node that is new enough. */
function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= wantedMajor) return process.execPath;
  const platform = `${process.platform}-${process.arch}`;
  const candidates = [`node-${platform}`, `node-bin-${platform}`].map((name) =>
    join(root, "node_modules", name, "bin", "node"),
  );
  const found = candidates.find((path) => existsSync(path));
  if (found) return found;
  console.error(
    `vigil: needs Node ${wantedMajor}; this is ${process.version}, and no Node package for ${platform} is installed. ` +
      `Install Node ${wantedMajor} and start again.`,
  );
  process.exit(1);
}

export function run([target, ...args]) {
  install();
  const node = findNode();
  // What Node made of the TypeScript is kept: the next start takes half the time and 30 MB less.
  const cache = process.env.NODE_COMPILE_CACHE ?? join(root, "node_modules", ".cache", "vigil");
  if (node === process.execPath && !target.startsWith("-")) {
    nodeModule.enableCompileCache?.(cache);
    process.argv.splice(1, process.argv.length, join(root, target), ...args);
    return import(pathToFileURL(join(root, target)).href);
  }
  const child = spawn(node, [target.startsWith("-") ? target : join(root, target), ...args], {
    stdio: "inherit",
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(process.argv.slice(2));
