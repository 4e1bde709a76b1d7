import { parseArgs } from "node:util";
import { closest } from "../core/closest.ts";
import { OperatorError } from "../core/errors.ts";
import { options } from "./options.ts";

/** Flags that take a value: those of the options, and the configuration file's own. */
export const valueFlags: Readonly<Record<string, { readonly value: string; readonly help: string }>> = {
  config: { value: "FILE", help: "configuration file, JSON5 (default: DATA/vigil.json5 if it is there)" },
  ...Object.fromEntries(
    Object.values(options).flatMap((o) =>
      "flag" in o
        ? [
            [
              o.flag,
              {
                value: o.flag === "data" ? "DIR" : o.flag === "log-level" ? "LEVEL" : "HOST:PORT",
                help: `${o.help} (default: ${o.default})`,
              },
            ],
          ]
        : [],
    ),
  ),
};

export interface Arguments {
  /** The words before and between the flags: a command. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly help: boolean;
  readonly version: boolean;
}

/**
 * Reads a command line. `--flag value` and `--flag=value` both work; the last of several wins.
 *
 * @throws OperatorError that names an unknown flag, or one without its value
 */
export function readArguments(argv: readonly string[]): Arguments {
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    options: {
      ...Object.fromEntries(Object.keys(valueFlags).map((name) => [name, { type: "string" as const }])),
      help: { type: "boolean", short: "h" },
      version: { type: "boolean", short: "v" },
    },
  });
  const words: string[] = [];
  const flags: Record<string, string | undefined> = {};
  const seen = { help: false, version: false };
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    if (token.name === "help" || token.name === "version") {
      seen[token.name] = true;
    } else if (Object.hasOwn(valueFlags, token.name)) {
      if (token.value === undefined || (!token.inlineValue && token.value.startsWith("--"))) {
        throw new OperatorError(`--${token.name} needs a value: --${token.name} ${valueFlags[token.name]!.value}.`);
      }
      flags[token.name] = token.value;
    } else {
      const near = closest(token.name, [...Object.keys(valueFlags), "help", "version"]);
      throw new OperatorError(
        `There is no option ${token.rawName}${near ? `; did you mean --${near}?` : "; vigil --help lists them all."}`,
      );
    }
  }
  return { words, flags, ...seen };
}
