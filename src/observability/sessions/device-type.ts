import Bowser from "bowser";

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

/** Few user agents are met again and again; past this many, the oldest are forgotten. */
const maxKnown = 10_000;
const known = new Map<string, DeviceType>();

/** What kind of device sends this User-Agent header. */
export function deviceOfUserAgent(userAgent: string): DeviceType {
  const found = known.get(userAgent);
  if (found) return found;
  const type = platformOf(userAgent);
  if (known.size >= maxKnown) known.delete(known.keys().next().value!);
  known.set(userAgent, type);
  return type;
}

/**
 * The device that a session's row tells of: behind a 1 a device type, behind a 2 a user agent, else nothing.
 */
export function deviceOf(named: string): DeviceType {
  const value = named.slice(1);
  if (named.startsWith("1")) return deviceTypes.find((type) => type === value) ?? "unknown";
  return named.startsWith("2") ? deviceOfUserAgent(value) : "unknown";
}

function platformOf(userAgent: string): DeviceType {
  // The length that a browser's header has at most, by far; the parser's expressions are not linear.
  const platform = Bowser.getParser(userAgent.slice(0, 512)).getPlatformType(true);
  return deviceTypes.find((type) => type === platform) ?? "unknown";
}
