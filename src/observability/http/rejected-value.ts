/** What in a field's name says that its value may be a secret. */
const secretName =
  /(^|_)(tokens?|codes?|verifier|passwords?|passphrase|secrets?|credentials?|authorization|dsn|signature|cookie|apikey|(api|access|private|ingestion|signing)_key)($|_)/;

const longest = 200;

/**
 * `{ rejected_value }` for the value of `field` where it is safe to repeat, else nothing: only text, numbers and
 * booleans, cut at 200 characters, and never what may be a secret. (An object could hold one at any depth.)
 */
export function rejectedValue(field: string, value: unknown): { rejected_value?: string } {
  if (isSecret(field)) return {};
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return {};
  const text = String(value);
  if (text.length <= longest) return { rejected_value: text };
  // By characters, lest a pair of surrogates is cut in two.
  return {
    rejected_value: Array.from(text.slice(0, 2 * longest))
      .slice(0, longest)
      .join(""),
  };
}

function isSecret(field: string): boolean {
  const words = field
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_");
  return secretName.test(words);
}
