import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import JSON5 from "json5";
import { closest } from "../core/closest.ts";
import { OperatorError } from "../core/errors.ts";
import { isLoopbackHost } from "../core/loopback.ts";
import { readValue } from "./kinds.ts";
import type { Address } from "./kinds.ts";
import { options } from "./options.ts";
import type { Option, OptionName, OptionValues } from "./options.ts";

export interface Config extends Readonly<OptionValues> {
  /** The file that was read, if there was one. */
  readonly configFile: string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;
type Found = { value: unknown; name: string };

const entries = Object.entries(options) as readonly [OptionName, Option][];

/**
 * Reads the configuration: flag over environment over file over default. Frozen, and complete.
 *
 * @param flags values by flag name, without the dashes (`listen`, `data`, `config`, …)
 * @throws OperatorError with one sentence a mistake: every mistake is named, not the first alone
 */
export function loadConfig(flags: Readonly<Record<string, string | undefined>>, env: Env = process.env): Config {
  const mistakes: string[] = [];
  const outer = new Map<OptionName, Found>();
  for (const [name, option] of entries) {
    const fromFlag = option.flag === undefined ? undefined : flags[option.flag];
    const fromEnv = env[option.env];
    if (fromFlag !== undefined) outer.set(name, { value: fromFlag, name: `--${option.flag}` });
    else if (fromEnv !== undefined) outer.set(name, { value: fromEnv, name: option.env });
  }

  const dataDir = resolve(String(outer.get("dataDir")?.value ?? options.dataDir.default));
  const named = flags["config"] ?? env["VIGIL_CONFIG"];
  const configFile = named === undefined ? join(dataDir, "vigil.json5") : resolve(named);
  const file = readFile(configFile, named !== undefined, env, mistakes);

  const config: Record<string, unknown> = { configFile: file && configFile };
  for (const [name, option] of entries) {
    const found = outer.get(name) ?? file?.get(name) ?? { value: option.default, name };
    try {
      config[name] = readValue(option.kind, found.value, found.name);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      mistakes.push(option.secret ? error.message.replace(/; it is .*$/s, ".") : error.message);
    }
  }
  for (const name of ["listen", "grpcListen"] as const) {
    const listen = config[name] as Address | null | undefined;
    if (listen && !isLoopbackHost(listen.host === "::1" ? "[::1]" : listen.host)) {
      mistakes.push(
        `${outer.get(name)?.name ?? name} is ${listen.host}:${listen.port}, which other machines can reach, while auth.mode is local ` +
          "and asks nobody who they are. Listen on 127.0.0.1 or [::1], and put a proxy that signs people in before it.",
      );
    }
  }
  if (mistakes.length > 0) throw new OperatorError(mistakes.join("\n"));

  // A relative data directory in a file is relative to that file, so that the file means the same from anywhere.
  const base = !outer.has("dataDir") && file?.has("dataDir") ? dirname(configFile) : ".";
  config["dataDir"] = resolve(base, config["dataDir"] as string);
  return Object.freeze(config) as unknown as Config;
}

/** The file's values by option path, or undefined where there is no file and none was asked for. */
function readFile(path: string, mustExist: boolean, env: Env, mistakes: string[]): Map<OptionName, Found> | undefined {
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ENOTDIR: a file stands where the data directory should be, which whoever opens that says better.
    if ((code === "ENOENT" || code === "ENOTDIR") && !mustExist) return undefined;
    throw new OperatorError(
      code === "ENOENT"
        ? `The configuration file ${path} does not exist.`
        : `The configuration file ${path} cannot be read (${code}).`,
    );
  }
  let parsed: unknown;
  try {
    parsed = JSON5.parse(source);
  } catch (error) {
    throw new OperatorError(`${path} is not valid JSON5: ${(error as Error).message.replace(/^JSON5: /, "")}.`);
  }
  const values = new Map<OptionName, Found>();
  if (!isObject(parsed)) throw new OperatorError(`${path} must hold one object, { … }.`);
  collect(parsed, "", { path, env, values, mistakes });
  return values;
}

interface Collecting {
  readonly path: string;
  readonly env: Env;
  readonly values: Map<OptionName, Found>;
  readonly mistakes: string[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Walks a nested object down to the declared options. */
function collect(object: Record<string, unknown>, prefix: string, into: Collecting): void {
  for (const [key, value] of Object.entries(object)) {
    const name = prefix + key;
    const isOption = Object.hasOwn(options, name);
    const isGroup = entries.some(([known]) => known.startsWith(`${name}.`));
    if (isOption) {
      try {
        into.values.set(name as OptionName, {
          value: resolveReference(value, name, into),
          name: `${name} in ${into.path}`,
        });
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        into.mistakes.push(error.message);
      }
    } else if (isGroup && isObject(value)) {
      collect(value, `${name}.`, into);
    } else if (isGroup) {
      into.mistakes.push(`${name} in ${into.path} must be an object, { … }.`);
    } else {
      const near = closest(name, Object.keys(options));
      into.mistakes.push(`${into.path} has an unknown key ${name}${near ? `; did you mean ${near}?` : "."}`);
    }
  }
}

/** A value may be "${ENV_NAME}" or { file: "path" } (relative to the configuration file; a trailing newline is cut). */
function resolveReference(value: unknown, name: string, { path, env }: Collecting): unknown {
  const variable = typeof value === "string" ? /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(value)?.[1] : undefined;
  if (variable !== undefined) {
    if (env[variable] === undefined)
      throw new OperatorError(`${name} in ${path} takes \${${variable}}, which is not set.`);
    return env[variable];
  }
  if (isObject(value) && typeof value["file"] === "string" && Object.keys(value).length === 1) {
    const file = resolve(dirname(path), value["file"]);
    try {
      return readFileSync(file, "utf8").replace(/\r?\n$/, "");
    } catch (error) {
      throw new OperatorError(
        `${name} in ${path} takes the file ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      );
    }
  }
  return value;
}
