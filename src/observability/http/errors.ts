/**
 * Every `errors[].code` that a 400 may carry. A code is stable: programs may branch on it, whereas its message
 * may change. docs/reference/errors.md lists the same codes and sentences.
 */
export const violationCodes = {
  required: "A parameter, field or body that must be there is missing.",
  type: "The value has another type than the one required, or a parameter that takes one value was given twice.",
  format: "The value is not written in the format required (JSON, RFC 3339 date-time, percent-encoding, …).",
  enum: "The value is none of those allowed.",
  minimum: "The number is below the least one allowed.",
  maximum: "The number is above the greatest one allowed.",
  min_length: "The text is shorter than allowed.",
  max_length: "The text is longer than allowed.",
  pattern: "The text does not match the pattern required.",
  min_items: "The array has fewer items than required.",
  max_items: "The array has more items than allowed.",
  min_properties: "The object has fewer fields than required.",
  unknown_field: "The body has a field that the route does not know.",
  unknown_parameter: "The query string has a parameter that the route does not know.",
  "cursor.invalid": "The cursor is malformed, or was made by another route or with other filters or another order.",
  "time_range.invalid": "The start of the time range is not before its end.",
  "range.invalid": "The lower bound is above the upper bound.",
  "query.invalid": "The search text has a syntax error.",
  "transition.invalid": "The resource cannot move from its present status to the one asked for.",
} as const;

/** Every `error_code` of a 5xx answer. Stable, like the codes above. */
export const errorCodes = {
  "internal.unhandled": "Something failed that nobody foresaw. The log has a line with the request's id.",
  "store.unavailable":
    "A store is away, starting or too busy; the same request may succeed after `Retry-After` seconds.",
  "query.timeout": "The stored data could not be read in the time allowed. A narrower time window is read faster.",
} as const;

export type ViolationCode = keyof typeof violationCodes;
export type ErrorCode = keyof typeof errorCodes;
