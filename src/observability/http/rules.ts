import type { Violation } from "./problem.ts";
import { parseTimestamp } from "./timestamp.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The parts of a request without the fields that are wrong by themselves. */
interface ValidFields<P = Fields, Q = Fields, B = Fields> {
  readonly params: Partial<P>;
  readonly query: Partial<Q>;
  readonly body: Partial<B>;
}

/**
 * What several fields must satisfy together, or what a schema cannot say. Called with the fields that are valid,
 * so that its violations are reported together with all others.
 */
export type Rule<P = Fields, Q = Fields, B = Fields> = (
  valid: ValidFields<P, Q, B>,
) => Violation | readonly Violation[] | undefined;

/** `start` (inclusive) must lie before `end` (exclusive); both are date-times of `part`. */
export function timeRange(start: string, end: string, part: "query" | "body" = "query"): Rule {
  return ({ [part]: fields }) => {
    const [from, to] = [fields[start], fields[end]];
    if (typeof from !== "string" || typeof to !== "string") return undefined;
    const [first, last] = [parseTimestamp(from), parseTimestamp(to)];
    if (first === undefined || last === undefined || first < last) return undefined;
    return { field: start, code: "time_range.invalid", message: `Must be before ${end}.`, rejected_value: from };
  };
}

/** The number `min` must not be above the number `max`; both are fields of `part`. */
export function ordered(min: string, max: string, part: "query" | "body" = "query"): Rule {
  return ({ [part]: fields }) => {
    const [low, high] = [fields[min], fields[max]];
    if (typeof low !== "number" || typeof high !== "number" || low <= high) return undefined;
    return { field: min, code: "range.invalid", message: `Must not be above ${max}.`, rejected_value: String(low) };
  };
}
