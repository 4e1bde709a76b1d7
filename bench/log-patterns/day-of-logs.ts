import { hashMask } from "../../src/telemetry/masks/mask-hash.ts";
import type { Connection } from "../../src/telemetry/connection.ts";
import { createTable, quoteText } from "../../src/telemetry/ddl.ts";

/** Unix milliseconds at which the day begins. */
export const dayStart = Date.UTC(2026, 10, 2);
const dayNanos = 86_400_000_000_000;

const things = "order cart product user invoice payment shipment coupon review session label stock".split(" ");
const templates = [
  "Request completed method=GET path=/api/<thing>s/<n> status=200 duration_ms=<ms>",
  "Request completed method=POST path=/api/<thing>s status=201 duration_ms=<ms>",
  "Fetched <thing> <n> from cache in <ms> ms",
  "Cache miss for key <thing>:<n>, loading from database",
  "Executing query SELECT * FROM <thing>s WHERE id = <n>",
  "Query returned <ms> rows in <ms> ms",
  "User user-<n> signed in from 84.1.2.<ms>",
  "Published event <thing>.updated to partition <ms> offset <n>",
  "Consumed message <id> from topic <thing>s",
  "Starting job <thing>-sync run <id>",
  "Job <thing>-sync finished: <n> processed, <ms> skipped",
  "Connection pool: <ms> active, <ms> idle",
  "Health check passed in <ms> ms",
  "Acquired lock <thing>-<n> after <ms> ms",
  "Session <id> extended for user user-<n>",
  "Sending email to user user-<n> with template <thing>_confirmation",
  "Token refreshed for client <id>",
  "Stored object s3://media/<thing>/<id>.webp (<n> bytes)",
  "Retrying upstream call to <thing>-service attempt <ms>",
  "Slow query took <ms> ms on <thing>s",
  "Payment declined for order <n>",
  "Cannot reach the bank: connect ECONNREFUSED 10.0.0.<ms>:5432",
  "Unhandled error in <thing> handler: TypeError: Cannot read properties of undefined",
];
const rowsAtATime = 500_000;

/**
 * Makes the table of logs and fills it with a day of `rows` records of 23 templates, more of the first than of the
 * last, whose masks are those that the product would have stored.
 */
export async function createDayOfLogs(connection: Connection, database: string, rows: number): Promise<void> {
  for (const statement of createTable({ database }, "logs")) await connection.command(statement);
  // No question that is measured here asks for words, and building this index takes most of the time.
  await connection.command("ALTER TABLE logs DROP INDEX body_words");
  const list = (values: readonly (string | bigint)[]) =>
    `[${values.map((value) => (typeof value === "bigint" ? `toUInt64(${value})` : quoteText(value))).join(", ")}]`;
  const masks = templates.flatMap((template) => things.map((thing) => maskOf(fill(template, thing))));
  const body = [
    ["<n>", "toString(h % 100000)"],
    ["<ms>", "toString(h % 300)"],
    ["<id>", "lower(leftPad(hex(h), 16, '0'))"],
  ].reduce(
    (text, [name, value]) => `replaceAll(${text}, '${name}', ${value})`,
    `replaceAll(${list(templates)}[template + 1], '<thing>', ${list(things)}[thing + 1])`,
  );
  for (let from = 0; from < rows; from += rowsAtATime) {
    await connection.command(`
INSERT INTO logs (workspace, project, received, seq, ts, observed_ts, severity_number, severity_text, body, body_mask, body_type, service_name, resource)
SELECT 'default', 'default', toDateTime(${dayStart / 1000}, 'UTC'), line, time, time,
  multiIf(template > 20, 17, template > 17, 13, 9), multiIf(template > 20, 'ERROR', template > 17, 'WARN', 'INFO'),
  ${body}, ${list(masks)}[template * ${things.length} + thing + 1], 's', concat('service-', toString(h % 40)), '{}'
FROM (
  SELECT number + ${from} AS line, sipHash64(line) AS h,
    toUInt32(pow((h % 10007) / 10007, 1.7) * ${templates.length}) AS template,
    intDiv(h, 1000) % ${things.length} AS thing,
    fromUnixTimestamp64Nano(toInt64(${dayStart}000000 + line * ${dayNanos / rows}), 'UTC') AS time
  FROM numbers(${Math.min(rowsAtATime, rows - from)})
)`);
  }
  await connection.command("OPTIMIZE TABLE logs FINAL");
}

function fill(template: string, thing: string): string {
  return template
    .replaceAll("<thing>", thing)
    .replaceAll("<n>", "1")
    .replaceAll("<ms>", "2")
    .replaceAll("<id>", "0af7651916cd43dd");
}

function maskOf(text: string): bigint {
  const bytes = new TextEncoder().encode(text);
  const hash = { hi: 0, lo: 0 };
  hashMask(bytes, 0, bytes.length, hash);
  return (BigInt(hash.hi >>> 0) << 32n) | BigInt(hash.lo >>> 0);
}
