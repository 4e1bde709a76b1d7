import { STATUS_CODES } from "node:http";
import type { ErrorCode, ViolationCode } from "./errors.ts";

/** One thing that is wrong with a request, as `errors[]` of a 400 shows it. */
export interface Violation {
  /** The parameter or field as the client named it: `severityMin`, `attribute_filters[0].operator`, `body`. */
  readonly field: string;
  /** A sentence for people. */
  readonly message: string;
  readonly code: ViolationCode;
  /** What was sent, where it is safe to repeat. */
  readonly rejected_value?: string;
}

export type ResourceType =
  | "issue"
  | "error"
  | "trace"
  | "session"
  | "service"
  | "deployment"
  | "handshake"
  | "job"
  | "profile"
  | "project"
  | "run"
  | "rule"
  | "firing"
  | "route";

export interface ProblemExtras {
  /** Members of the body beside those that every problem has. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Response headers: `allow`, `retry-after`, `www-authenticate`, … */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An answer other than success. Whoever handles a request throws it; `detail` is shown to the client as it is. */
export class Problem extends Error {
  override readonly name: string = "Problem";
  /** The HTTP status; under this name because Fastify looks for it. */
  readonly statusCode: number;
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(statusCode: number, detail: string, { members = {}, headers = {}, cause }: ProblemExtras = {}) {
    super(detail, { cause });
    this.statusCode = statusCode;
    this.members = members;
    this.headers = headers;
  }
}

/** 400: everything that is wrong with the request, at once. */
export class ValidationProblem extends Problem {
  override readonly name = "ValidationProblem";
  readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[]) {
    const fields = [...new Set(violations.map((violation) => violation.field))];
    const named = fields.slice(0, 10).join(", ") + (fields.length > 10 ? ", …" : "");
    super(400, `The request is not valid: ${named}.`, { members: { errors: violations } });
    this.violations = violations;
  }
}

/** 404: what the request names does not exist. */
export class NotFoundProblem extends Problem {
  override readonly name = "NotFoundProblem";

  constructor(resourceType: ResourceType, resourceId: string) {
    super(404, `There is no ${resourceType} ${resourceId}.`, {
      members: { resource_type: resourceType, resource_id: resourceId },
    });
  }
}

/** 503: the same request may succeed after `retryAfter` seconds. */
export class UnavailableProblem extends Problem {
  override readonly name = "UnavailableProblem";

  constructor(errorCode: ErrorCode, detail: string, retryAfter: number, extras: ProblemExtras = {}) {
    super(503, detail, {
      cause: extras.cause,
      members: { error_code: errorCode, ...extras.members },
      headers: { "retry-after": String(Math.max(1, Math.ceil(retryAfter))), ...extras.headers },
    });
  }
}

/** The body's `title`: fixed per status, as the API's document has it. */
export function problemTitle(statusCode: number): string {
  return statusCode === 400 ? "Validation Failed" : (STATUS_CODES[statusCode] ?? "Error");
}

/** The body of `problem`; `instance` is the request's path, where there was a request. */
export function problemBody(problem: Problem, instance: string | undefined): Record<string, unknown> {
  return {
    type: "about:blank",
    title: problemTitle(problem.statusCode),
    status: problem.statusCode,
    detail: problem.message,
    instance,
    timestamp: new Date().toISOString(),
    ...problem.members,
  };
}
