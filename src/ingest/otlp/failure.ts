import { status as GrpcCode } from "@grpc/grpc-js";
import { StoreOverloaded, StoreUnavailable } from "../../core/errors.ts";
import { MalformedPayload } from "./protobuf/malformed-payload.ts";

/** A payload that is refused before it is looked into; the message is a sentence for its sender. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly statusCode: number;
  /** Seconds after which the same payload may be taken. */
  readonly retryAfter?: number;
  constructor(statusCode: number, message: string, retryAfter?: number) {
    super(message);
    this.statusCode = statusCode;
    this.retryAfter = retryAfter;
  }
}

/** How an error is answered over either transport. */
export interface Failure {
  readonly httpStatus: number;
  readonly grpcCode: GrpcCode;
  /** Shown to the sender. */
  readonly message: string;
  /** Whole seconds; there exactly where sending the same again makes sense. */
  readonly retryAfter?: number;
}

const grpcCodes: Readonly<Record<number, GrpcCode>> = {
  400: GrpcCode.INVALID_ARGUMENT,
  401: GrpcCode.UNAUTHENTICATED,
  403: GrpcCode.PERMISSION_DENIED,
  413: GrpcCode.RESOURCE_EXHAUSTED,
  415: GrpcCode.INVALID_ARGUMENT,
  429: GrpcCode.RESOURCE_EXHAUSTED,
  503: GrpcCode.UNAVAILABLE,
};

const internal: Failure = {
  httpStatus: 500,
  grpcCode: GrpcCode.INTERNAL,
  message: "Vigil failed to take this payload; its log says why.",
};

/** Seconds in whole numbers, as both Retry-After and the sender's patience want them. */
const wholeSeconds = (seconds: number) => Math.max(1, Math.ceil(seconds));

/**
 * Says how `error` is answered. Errors that carry a `statusCode` under 500, or 503 (the server's own, and the refusals
 * of hooks that run before the route) keep it; what nobody foresaw tells the sender nothing.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof MalformedPayload) {
    return { httpStatus: 400, grpcCode: GrpcCode.INVALID_ARGUMENT, message: error.message };
  }
  if (error instanceof StoreUnavailable) {
    const retryAfter = wholeSeconds(error.retryAfter);
    return { httpStatus: 503, grpcCode: GrpcCode.UNAVAILABLE, message: "The store is away at the moment.", retryAfter };
  }
  if (error instanceof StoreOverloaded) {
    const message = "More telemetry waits to be stored than memory allows.";
    return {
      httpStatus: 503,
      grpcCode: GrpcCode.RESOURCE_EXHAUSTED,
      message,
      retryAfter: wholeSeconds(error.retryAfter),
    };
  }
  if (!(error instanceof Error) || !("statusCode" in error) || typeof error.statusCode !== "number") return internal;
  const httpStatus = error.statusCode;
  if (httpStatus < 400 || (httpStatus >= 500 && httpStatus !== 503)) return internal;
  const retryAfter = httpStatus === 429 || httpStatus === 503 ? wholeSeconds(secondsAsked(error)) : undefined;
  return { httpStatus, grpcCode: grpcCodes[httpStatus] ?? GrpcCode.UNKNOWN, message: error.message, retryAfter };
}

/** After how long a refusal asks to come back: in a property of its own, or in the header that it wants sent. */
function secondsAsked(error: Error): number {
  const { retryAfter, headers } = error as {
    readonly retryAfter?: unknown;
    readonly headers?: Readonly<Record<string, unknown>>;
  };
  return Number(retryAfter ?? headers?.["retry-after"]) || 1;
}
