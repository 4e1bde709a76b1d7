const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

const leastInt64 = -(2n ** 63n);
const greatestInt64 = 2n ** 63n - 1n;

/**
 * Nanoseconds since the Unix epoch of an RFC 3339 date-time with at most nine decimals of a second, or undefined
 * where `text` is none (a day that the calendar does not have included). A leap second is taken where one can be,
 * at 23:59:60 UTC on a month's last day, and counts as the second after it, as Unix time has it.
 */
export function parseTimestamp(text: string): bigint | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return undefined;

  // Not Date.UTC(), which takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;

  const offset = (match[8] === "-" ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  const seconds = date.getTime() / 1000 + hour * 3600 + (minute - offset) * 60 + second;
  // The second after a leap second starts a month in UTC.
  if (second === 60 && (seconds % 86_400 !== 0 || new Date(seconds * 1000).getUTCDate() !== 1)) return undefined;
  return BigInt(seconds) * 1_000_000_000n + BigInt((match[7] ?? "").padEnd(9, "0"));
}

/**
 * Nanoseconds since the Unix epoch of a date-time that validation has let through, held to what an int64 can say
 * (the years 1677 to 2262): telemetry has no time beyond, so that a filter means the same.
 */
export function unixNano(text: string): bigint {
  const nanos = parseTimestamp(text);
  if (nanos === undefined) throw new TypeError("unixNano takes an RFC 3339 date-time.");
  return nanos < leastInt64 ? leastInt64 : nanos > greatestInt64 ? greatestInt64 : nanos;
}
