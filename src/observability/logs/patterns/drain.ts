import { isVariable, unite, withVariables } from "./cluster.ts";
import type { Cluster } from "./cluster.ts";
import { isLiteral, variable } from "./words.ts";

/** The least share of equal words that makes two texts alike. */
const leastSimilarity = 0.4;
/** First words that have a leaf of their own; further ones share one. */
const mostLeaves = 100;
/** Groups of a leaf that a text is compared with, so that texts of no pattern cannot take all the time. */
const mostCompared = 128;

/**
 * Drain (He et al., ICWS 2017): texts that begin alike and have enough words in common become one group, found by a
 * tree of fixed depth (here the texts' shape is the root, and their first word the leaf) so that each text is compared
 * with few. Drain takes a group for a pattern; here it is taken apart again where its texts differ in a word of which
 * there are too few kinds for a variable.
 *
 * @param clusters of one shape
 */
export function drain(clusters: readonly Cluster[]): Cluster[] {
  if (clusters.length < 2) return [...clusters];
  const leaves = new Map<string, Group[]>();
  for (const cluster of clusters) {
    const first = cluster.words[0] ?? "";
    const leaf = leaves.has(first) || leaves.size < mostLeaves ? first : variable;
    const groups = leaves.get(leaf) ?? [];
    leaves.set(leaf, groups);
    const group = mostSimilar(groups, cluster.words);
    if (group) join(group, cluster);
    else groups.push({ words: [...cluster.words], clusters: [cluster] });
  }
  return unite([...leaves.values()].flat().flatMap((group) => settle(group.clusters)));
}

interface Group {
  /** What all of its texts have, `<*>` where they differ. */
  readonly words: string[];
  readonly clusters: Cluster[];
}

function mostSimilar(groups: readonly Group[], words: readonly string[]): Group | undefined {
  let best: Group | undefined;
  let most = Math.max(1, Math.ceil(leastSimilarity * words.length)) - 1;
  for (const group of groups.slice(0, mostCompared)) {
    let equal = 0;
    for (let at = 0; at < words.length; at++) if (words[at] === group.words[at]) equal += 1;
    if (equal <= most) continue;
    best = group;
    most = equal;
  }
  return best;
}

function join(group: Group, cluster: Cluster): void {
  for (const [at, word] of cluster.words.entries()) if (group.words[at] !== word) group.words[at] = variable;
  group.clusters.push(cluster);
}

/** Makes one of a group's texts where all that they differ in are variables, else of the parts that agree. */
function settle(clusters: readonly Cluster[]): Cluster[] {
  const [first] = clusters;
  if (!first || clusters.length === 1) return [...clusters];
  const places = new Set<number>();
  let choice: { at: number; kinds: number } | undefined;
  for (let at = 0; at < first.words.length; at++) {
    const kinds = new Set(clusters.map(({ words }) => words[at]!));
    if (kinds.size === 1) continue;
    places.add(at);
    if (!isVariable(kinds, at, first) && kinds.size < (choice?.kinds ?? Infinity)) choice = { at, kinds: kinds.size };
  }
  if (choice) {
    const parts = Map.groupBy(clusters, ({ words }) => words[choice.at]!);
    return [...parts.values()].flatMap(settle);
  }
  const words = withVariables(first.words, places);
  if (!words || words.filter(isLiteral).length < leastSimilarity * words.length) return [...clusters];
  return [{ ...first, words, members: clusters.flatMap(({ members }) => members) }];
}
