/** An error in the words and numbers of ClickHouse. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** An error of our own, printed as ClickHouse prints its: clients parse that text. */
export function engineError(code: number, type: string, sentence: string): EngineError {
  return new EngineError(code, `Code: ${code}. DB::Exception: ${sentence} (${type})`);
}

/** Of whatever the engine's driver threw. */
export function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = /^Code: (\d+)\./.exec(message)?.[1];
  return code ? new EngineError(Number(code), message) : engineError(1002, "UNKNOWN_EXCEPTION", message);
}

const statuses: ReadonlyMap<number, number> = new Map([
  ...[194].map((code) => [code, 401] as const), // required password
  ...[192, 193, 516, 497].map((code) => [code, 403] as const), // user, password, authentication, access
  ...[6, 26, 27, 36, 38, 41, 43, 53, 62, 63, 72, 117, 130, 456, 457].map((code) => [code, 400] as const),
  ...[46, 47, 50, 55, 56, 60, 73, 81, 115].map((code) => [code, 404] as const),
  ...[159].map((code) => [code, 408] as const), // timeout
  ...[307].map((code) => [code, 413] as const), // too many bytes
  ...[48].map((code) => [code, 501] as const), // not implemented
  ...[202, 439].map((code) => [code, 503] as const), // too many queries, no thread
]);

/** The HTTP status that a ClickHouse server answers for an error code (HTTPHandler's exceptionCodeToHTTPStatus). */
export function statusOf(code: number): number {
  return statuses.get(code) ?? 500;
}
