// `npm run lock`: run it after a change of dependencies. npm leaves an optional package out of the lock file when the
// registry at hand does not have it (a mirror that keeps one platform, say), and `npm ci` then refuses that lock file
// everywhere. This adds what is missing, by the names that such packages give their platforms: a machine of another
// platform skips the entry, and one of that platform installs it, from a registry that has it.
import { readFileSync, writeFileSync } from "node:fs";

interface Entry {
  version?: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, Entry> };
const systems = ["darwin", "linux", "win32", "android", "freebsd", "openharmony"];
const processors = ["arm64", "x64", "ia32", "arm", "ppc64", "s390x", "riscv64"];

let added = 0;
for (const entry of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key]) continue;
    const words = name.split(/[-/]/);
    const os = systems.find((word) => words.includes(word));
    const cpu = processors.find((word) => words.includes(word));
    if (!os || !cpu) {
      console.error(`${name} is missing from the lock file, and its name does not say which platform it is for.`);
      process.exitCode = 1;
      continue;
    }
    const musl = words.some((word) => word.startsWith("musl"));
    const libc = musl ? ["musl"] : words.some((word) => word.startsWith("gnu")) ? ["glibc"] : undefined;
    lock.packages[key] = { version, cpu: [cpu], ...(libc && { libc }), optional: true, os: [os] };
    added++;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added === 0 ? "The lock file is complete." : `Added ${added} packages of other platforms.`);
