#!/usr/bin/env node
// The `vigil` command.
import { run } from "./run.mjs";

await run(["src/main.ts", ...process.argv.slice(2)]);
