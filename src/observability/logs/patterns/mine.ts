import { createHash } from "node:crypto";
import type { Cluster } from "./cluster.ts";
import { drain } from "./drain.ts";
import { fillHoles } from "./fill-holes.ts";
import { putTogether, takeApart } from "./words.ts";

export interface Mined {
  /** What the texts have in common, `<*>` where they differ. */
  readonly template: string;
  /** The texts, sorted. */
  readonly texts: readonly string[];
}

/**
 * Finds the patterns among masked texts, each of which goes into exactly one. Neither the order of the texts nor how
 * often one is given changes the result.
 */
export function minePatterns(texts: Iterable<string>): Mined[] {
  const sorted = [...new Set(texts)].toSorted();
  const clusters = sorted.map((text, i): Cluster => ({ ...takeApart(text), members: [i] }));
  // Only texts of one shape can have one template.
  const byShape = Map.groupBy(clusters, ({ shape }) => shape.join("\0"));
  const mined = [...byShape.values()].flatMap((same) => drain(fillHoles(same)));
  const byTemplate = Map.groupBy(mined, putTogether);
  return [...byTemplate].map(([template, same]) => ({
    template,
    texts: same.flatMap(({ members }) => members.map((i) => sorted[i]!)).toSorted(),
  }));
}

/** The id of a template, wherever and whenever it is found: 16 hexadecimal digits of its SHA-256. */
export function patternId(template: string): string {
  return createHash("sha256").update(template).digest("hex").slice(0, 16);
}
