declare global {
  interface JSON {
    /** Text that stringify prints as it is. Node 24 has it; the compiler's library for ES2024 does not. */
    rawJSON(text: string): unknown;
  }
}

/**
 * `value` as JSON text, with bigint printed as an integer of all its digits. (A replacer is called for every
 * value, which costs; pages of telemetry do not come this way but as bytes.)
 */
export function printJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "bigint" ? JSON.rawJSON(member.toString()) : member,
  );
}
