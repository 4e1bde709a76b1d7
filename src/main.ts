// The command line. Each command is one line in the table below.
import { readFileSync } from "node:fs";
import { readArguments } from "./config/arguments.ts";
import type { Arguments } from "./config/arguments.ts";
import { loadConfig } from "./config/load.ts";
import { helpText, optionTable } from "./config/reference.ts";
import { closest } from "./core/closest.ts";
import { OperatorError } from "./core/errors.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

interface Command {
  readonly summary: string;
  /** Resolves to the exit code, or to undefined where the process goes on by itself. */
  run(args: Arguments): Promise<number | undefined>;
}

// Engines and servers load when a command needs them, so that --help and config check answer at once.
const commands: Readonly<Record<string, Command>> = {
  serve: { summary: "run Vigil (what `npm start` does)", run: serve },
  "config check": { summary: "say what is wrong with the configuration, if anything", run: configCheck },
  "config options": { summary: "print the table of all options", run: async () => say(optionTable()) },
  "rollups rebuild": { summary: "build statistics again from the telemetry (Vigil stopped)", run: rollupsRebuild },
  doctor: { summary: "check this machine, the data directory and the stores", run: doctor },
};

async function serve({ flags }: Arguments): Promise<undefined> {
  const config = loadConfig(flags);
  const { runServer } = await import("./run-server.ts");
  await runServer(config, version);
}

async function configCheck({ flags }: Arguments): Promise<number> {
  const { configFile } = loadConfig(flags);
  return say(
    `The configuration is right. ${configFile ? `Read from ${configFile}.` : "There is no file; the defaults hold."}\n`,
  );
}

async function rollupsRebuild({ flags }: Arguments): Promise<number> {
  const { rebuildRollups } = await import("./rebuild-rollups.ts");
  return say(await rebuildRollups(loadConfig(flags)));
}

async function doctor({ flags }: Arguments): Promise<number> {
  const { examine } = await import("./doctor.ts");
  return examine(loadConfig(flags));
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

async function main(argv: readonly string[]): Promise<number | undefined> {
  const args = readArguments(argv);
  if (args.version) return say(`${version}\n`);
  const name = args.words.join(" ");
  if (args.help || name === "help")
    return say(helpText(Object.entries(commands).map(([usage, c]) => [usage, c.summary])));
  if (name === "") throw new OperatorError("Which command? vigil serve runs it; vigil --help lists them all.");
  if (!Object.hasOwn(commands, name)) {
    const near = closest(name, Object.keys(commands));
    throw new OperatorError(
      `There is no command ${name}${near ? `; did you mean vigil ${near}?` : "; vigil --help lists them all."}`,
    );
  }
  return commands[name]!.run(args);
}

try {
  const code = await main(process.argv.slice(2));
  if (code !== undefined) process.exitCode = code;
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  process.stderr.write(`${error.message.replace(/^/gm, "vigil: ")}\n`);
  process.exitCode = 2;
}
