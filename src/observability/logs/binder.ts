import type { ParamValue } from "../../telemetry/contract.ts";

/** A condition over the columns of `logs` and what it binds. */
export interface Condition {
  readonly sql: string;
  readonly params: Readonly<Record<string, ParamValue>>;
}

/** Makes `value` a bound parameter and returns what stands for it in the SQL. `type` is the engine's, String unless given. */
export type Bind = (value: ParamValue, type?: string) => string;

/** Binds values as `<prefix>_0`, `<prefix>_1` …, collected in `params`: no text of a client is ever part of the SQL. */
export function createBinder(prefix: string): { bind: Bind; params: Readonly<Record<string, ParamValue>> } {
  const params: Record<string, ParamValue> = {};
  const bind: Bind = (value, type = "String") => {
    const name = `${prefix}_${Object.keys(params).length}`;
    params[name] = value;
    return `{${name}:${type}}`;
  };
  return { bind, params };
}
