import { valueFlags } from "./arguments.ts";
import { options } from "./options.ts";

/** The text of `vigil --help`. `commands` are pairs of usage and summary. */
export function helpText(commands: readonly (readonly [string, string])[]): string {
  const lines = (rows: readonly (readonly [string, string])[]) => {
    const width = Math.max(...rows.map(([left]) => left.length)) + 2;
    return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join("\n");
  };
  return `Vigil stores telemetry, answers questions about it, and wakes an agent.

Usage: vigil COMMAND [OPTIONS]

Commands:
${lines(commands)}

Options:
${lines([
  ...Object.entries(valueFlags).map(([name, { value, help }]) => [`--${name} ${value}`, help] as const),
  ["-h, --help", "this text"],
  ["-v, --version", "the version"],
])}

Environment (a flag wins over it, and it wins over the file):
${lines([["VIGIL_CONFIG", "same as --config"], ...Object.values(options).map((o) => [o.env, o.help] as const)])}

More: docs/reference/options.md
`;
}

/** The Markdown table of every option, as docs/reference/options.md holds it. */
export function optionTable(): string {
  const rows = Object.entries(options).map(([name, o]) => {
    const shown = Array.isArray(o.default) ? "[]" : o.default === "" ? "(empty)" : String(o.default);
    return `| \`${name}\` | ${"flag" in o ? `\`--${o.flag}\`` : "–"} | \`${o.env}\` | \`${shown}\` | ${o.help}; ${o.kind.allowed} |`;
  });
  return ["| In the file | Flag | Environment | Default | What it is |", "|---|---|---|---|---|", ...rows, ""].join(
    "\n",
  );
}
