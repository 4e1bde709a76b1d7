import { QueryTimeout, StoreOverloaded, StoreUnavailable } from "../../core/errors.ts";
import { Problem, UnavailableProblem, ValidationProblem } from "./problem.ts";

/** Heavy reads that were given up are not to be tried again at once. */
const secondsAfterTimeout = 30;

/**
 * The Problem with which `error` is answered. Nothing of an error that is not a Problem reaches the client: its message
 * may hold SQL, a path or what the client sent.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreUnavailable) {
    return new UnavailableProblem("store.unavailable", "A store is away at the moment.", error.retryAfter, {
      cause: error,
    });
  }
  if (error instanceof StoreOverloaded) {
    return new UnavailableProblem("store.unavailable", "The store has more to do than it can take.", error.retryAfter, {
      cause: error,
    });
  }
  if (error instanceof QueryTimeout) {
    const detail = "The stored data could not be read in the time allowed. Narrow the time window, or add a filter.";
    return new UnavailableProblem("query.timeout", detail, secondsAfterTimeout, { cause: error });
  }
  const { code, statusCode } = (typeof error === "object" && error !== null ? error : {}) as {
    code?: unknown;
    statusCode?: unknown;
  };
  switch (code) {
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return malformed("Content-Length", "Is not the length of the body that came.");
    case "FST_ERR_BAD_URL":
      return malformed("path", "Is not valid percent-encoded UTF-8.");
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new Problem(414, "A part of the path is too long.");
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new Problem(413, "The body is larger than this route takes.");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new Problem(415, "The body must be application/json.", { headers: { accept: "application/json" } });
  }
  // Reading the body failed: the client went away, or broke the transfer's framing.
  if (statusCode === 400) return malformed("body", "Did not arrive whole.");
  return new Problem(500, "Something failed. The log has more under the request's id.", {
    members: { error_code: "internal.unhandled" },
    cause: error,
  });
}

function malformed(field: string, message: string): ValidationProblem {
  return new ValidationProblem([{ field, code: "format", message }]);
}
