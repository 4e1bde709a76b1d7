import pino from "pino";

export type Log = pino.Logger;

/** Keys whose values never reach a log line, at any of the depths that we log at. */
const secretKeys = [
  "authorization",
  "cookie",
  "x-gateway-token",
  "token",
  "password",
  "apiKey",
  "secret",
  "code_verifier",
  "code",
];

/**
 * The process's logger: JSON lines, secrets redacted. `destination` defaults to stdout.
 * Levels: trace debug info warn error fatal silent.
 */
export function createLog(level: string, destination?: pino.DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretKeys.flatMap((k) => [`["${k}"]`, `*["${k}"]`, `*.*["${k}"]`]), censor: "[redacted]" },
    },
    destination,
  );
}

const colours: Readonly<Record<string, number>> = { trace: 90, debug: 90, info: 36, warn: 33, error: 31, fatal: 31 };

/** A destination that turns the logger's JSON lines into lines for a person at a terminal. */
export function prettyLines(out: NodeJS.WritableStream): pino.DestinationStream {
  return {
    write(line) {
      const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown> & {
        level: string;
        time: string;
      };
      const fields = Object.entries(rest).map(([k, v]) => ` ${k}=${typeof v === "string" ? v : JSON.stringify(v)}`);
      const cause = err === undefined ? "" : `\n${(err as { stack?: string }).stack ?? JSON.stringify(err)}`;
      out.write(
        `${time.slice(11, 19)} \u001b[${colours[level] ?? 0}m${level.padEnd(5)}\u001b[0m ${String(msg ?? "")}${fields.join("")}${cause}\n`,
      );
    },
  };
}
