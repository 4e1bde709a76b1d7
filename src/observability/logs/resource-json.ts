/** The one well-known key whose value is printed as an integer. */
export const processId = "process.pid";

/**
 * What stands before the value of this key in the column `resource`. That is JSON text: the well-known keys are members,
 * the others `{"key":…,"value":…}` in `attributes`. A quote inside a JSON string is always escaped, so `"key":` with its
 * bare quotes can only be the member itself. The column is LowCardinality and the engine evaluates a function of it once
 * a distinct resource, not once a row.
 */
export function resourcePrefixes(key: string): string[] {
  const quotedKey = JSON.stringify(key);
  const prefixes = [`{"key":${quotedKey},"value":`];
  // These two are members of every attribute, and of no resource.
  if (key !== "key" && key !== "value") prefixes.push(`${quotedKey}:`);
  return prefixes;
}

/** A regular expression whose group is the value of this key in `resource` as JSON has it, quotes and all. */
export function resourceValuePattern(key: string): string {
  const text = '"(?:[^"\\\\]|\\\\.)*"';
  return `(?:${resourcePrefixes(key).map(escapePattern).join("|")})(${key === processId ? `${text}|-?\\d+` : text})`;
}

/** A regular expression for `text` as it is. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}
