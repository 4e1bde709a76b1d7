import pino from "pino";

export type Log = pino.Logger;

/** Keys whose values never reach a log line, at any of the depths that we log at. */
const secretKeys = ["authorization", "cookie", "x-gateway-token", "token", "password", "apiKey", "secret", "code_verifier", "code"];

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
