import { Session } from "chdb";

/** An engine of this process, so that the process's CPU time is the engine's, background merges included. */
export interface Engine {
  run(sql: string): string;
  rows<T>(sql: string): T[];
  /** CPU seconds of the process while `work` ran. */
  cpu(work: () => void): number;
  close(): void;
}

/** Caches of whole answers are off, so that a repeated query is work again; the page cache of the system is warm. */
const settings = {
  max_threads: 2,
  use_query_condition_cache: 0,
  use_query_cache: 0,
  output_format_json_quote_64bit_integers: 0,
  max_execution_time: 600,
};

export function openEngine(directory: string): Engine {
  const session = new Session(directory);
  for (const [name, value] of Object.entries(settings)) session.query(`SET ${name} = ${value}`);
  session.query("CREATE DATABASE IF NOT EXISTS bench");
  session.query("USE bench");
  return {
    run: (sql) => session.query(sql, "TSV"),
    rows: <T>(sql: string) =>
      session
        .query(sql, "JSONEachRow")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as T),
    cpu(work) {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1e6;
    },
    close: () => session.close(),
  };
}
