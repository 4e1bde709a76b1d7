const wellKnown = ["service.name", "host.name", "process.pid"];

/** The column `resource` as ingestion writes it: well-known keys (these three of them) as members, others in `attributes`. */
export function resourceJson(resource: Readonly<Record<string, string | number>>): string {
  const known = Object.entries(resource).filter(([key]) => wellKnown.includes(key));
  const others = Object.entries(resource).filter(([key]) => !wellKnown.includes(key));
  const attributes = others.map(([key, value]) => ({ key, value }));
  return JSON.stringify({ ...Object.fromEntries(known), attributes, dropped_attributes_count: 0 });
}
