import { getParser } from "bowser";

export const deviceTypes = [
  "desktop",
  "mobile",
  "tablet",
  "tv",
  "console",
  "wearable",
  "iot",
  "bot",
  "unknown",
] as const;
export type DeviceType = (typeof deviceTypes)[number];

/** A few user agents are met again and again; past this many, the oldest are forgotten. */
const maxKnown = 10_000;
const known = new Map<string, DeviceType>();

/** The device that session_activity names: behind a 1 a device type, behind a 2 a user agent, else none. */
export function deviceOf(named: string): DeviceType {
  const value = named.slice(1);
  if (named.startsWith("1")) return deviceTypes.find((type) => type === value) ?? "unknown";
  return named.startsWith("2") ? deviceOfUserAgent(value) : "unknown";
}

/** What kind of device sends this User-Agent header. */
function deviceOfUserAgent(userAgent: string): DeviceType {
  const found = known.get(userAgent);
  if (found) return found;
  const type = platformOf(userAgent);
  if (known.size >= maxKnown) known.delete(known.keys().next().value!);
  known.set(userAgent, type);
  return type;
}

function platformOf(userAgent: string): DeviceType {
  // No browser's header is longer, and the time that the parser takes may grow faster than the text.
  const platform = getParser(userAgent.slice(0, 512)).getPlatformType(true);
  return deviceTypes.find((type) => type === platform) ?? "unknown";
}
