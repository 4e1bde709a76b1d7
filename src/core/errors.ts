/** An error that a person can act on: its message is a whole sentence that may be shown as it is. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}

/** The store cannot take or answer anything at the moment; the same request may succeed later (503). */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  /** Seconds after which a retry makes sense. */
  readonly retryAfter: number;
  constructor(message: string, retryAfter = 1) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** More waits to be stored than memory allows (503, gRPC RESOURCE_EXHAUSTED with RetryInfo). */
export class StoreOverloaded extends Error {
  override readonly name = "StoreOverloaded";
  readonly retryAfter: number;
  constructor(message: string, retryAfter = 1) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/** A read took longer than it may. */
export class QueryTimeout extends Error {
  override readonly name = "QueryTimeout";
}
