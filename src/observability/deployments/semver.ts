/** A version as Semantic Versioning 2.0.0 has it, its own pattern (semver.org): no leading `v`, no leading zeros. */
export const semverPattern =
  "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)" +
  "(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?" +
  "(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$";

const semver = new RegExp(semverPattern);

export function isSemver(text: string): boolean {
  return semver.test(text);
}
