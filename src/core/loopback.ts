/** Whether a host name, lower case and with brackets where it is IPv6's, is this machine's loopback. */
export function isLoopbackHost(name: string): boolean {
  if (name === "localhost" || name.endsWith(".localhost") || name === "[::1]") return true;
  const octets = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(name);
  return octets !== null && octets.slice(1).every((octet) => Number(octet) <= 255);
}

/** `http://localhost:5173` and its like: a page on this machine, on whatever port. */
export function isLoopbackOrigin(origin: string): boolean {
  return /^https?:\/\/[^/?#@]+$/i.test(origin) && URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname);
}
