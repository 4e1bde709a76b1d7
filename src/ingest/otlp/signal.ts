/** What OTLP carries; also the last segment of the HTTP routes. */
export type Signal = "traces" | "logs" | "metrics";

export const signals: readonly Signal[] = ["traces", "logs", "metrics"];

/** Whose rows a request's telemetry becomes. */
export interface Target {
  readonly workspace: string;
  readonly project: string;
}
