import { ValidationProblem } from "../http/problem.ts";

/** The engine's CANNOT_COMPILE_REGEXP. */
const cannotCompile = "427";

/**
 * Runs a read with filters of a client. A pattern is checked before it gets here; the engine still refuses one that
 * would need more memory than a pattern may take, which only it can tell.
 *
 * @throws ValidationProblem
 */
export async function refusingPatterns<T>(field: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== cannotCompile) throw error;
    throw new ValidationProblem([
      { field, code: "format", message: "Has a regular expression that takes too much memory: make it shorter." },
    ]);
  }
}
