import { isVariable, unite, withVariables } from "./cluster.ts";
import type { Cluster } from "./cluster.ts";
import { isName, variable } from "./words.ts";

/** Words of a text that are tried as holes. */
const mostHoles = 64;

/**
 * Finds the words that vary by themselves: texts of one shape that are the same but for one word, of which there are
 * more kinds than a program chooses from. Repeats until nothing changes, so that texts with several such words come
 * together too. Unlike Drain it compares all texts at once, and so does not depend on which of them comes first.
 */
export function fillHoles(clusters: readonly Cluster[]): Cluster[] {
  let found = [...clusters];
  for (;;) {
    const filled = fillOnce(found);
    if (!filled) return found;
    found = filled;
  }
}

function fillOnce(clusters: readonly Cluster[]): Cluster[] | undefined {
  const places = clusters.map(() => new Set<number>());
  let changed = false;
  for (const { hole, texts } of sameButForOneWord(clusters)) {
    const kinds = new Set(texts.map((i) => clusters[i]!.words[hole]!));
    const first = clusters[texts[0]!]!;
    if (kinds.size < 2 || !withVariables(first.words, new Set([hole])) || !isVariable(kinds, hole, first)) continue;
    for (const i of texts) places[i]!.add(hole);
    changed = true;
  }
  if (!changed) return undefined;
  return unite(
    clusters.map((cluster, i) => {
      const words = withVariables(cluster.words, places[i]!);
      return words ? { ...cluster, words } : cluster;
    }),
  );
}

interface Hole {
  readonly hole: number;
  /** Two or more. */
  readonly texts: readonly number[];
}

/**
 * Texts that are equal but for the word in one place, found by the sum of a hash for each word in its place, from
 * which a word can be taken out again: comparing as many texts as there are words would take too long.
 */
function* sameButForOneWord(clusters: readonly Cluster[]): Generator<Hole> {
  const numbers = new Map<string, number>();
  const byRest = new Map<number, Hole & { texts: number[] }>();
  for (const [i, { words }] of clusters.entries()) {
    let [high, low] = [0, 0];
    const ids = words.map((word, at) => {
      // Names vary by themselves, and may do so at the same time as the word that is looked at.
      const text = isName(word) ? variable : word;
      let id = numbers.get(text);
      if (id === undefined) numbers.set(text, (id = numbers.size + 1));
      high = (high + hash(id, at)) | 0;
      low = (low + hash(at, id)) | 0;
      return id;
    });
    for (let hole = 0; hole < Math.min(ids.length, mostHoles); hole++) {
      const restHigh = (high - hash(ids[hole]!, hole) + hash(0, hole)) >>> 0;
      const restLow = (low - hash(hole, ids[hole]!)) >>> 11;
      const key = restHigh * 2 ** 21 + restLow;
      const same = byRest.get(key);
      if (same) same.texts.push(i);
      else byRest.set(key, { hole, texts: [i] });
    }
  }
  for (const hole of byRest.values()) if (hole.texts.length > 1) yield hole;
}

function hash(a: number, b: number): number {
  let value = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  value = Math.imul(value ^ (value >>> 12), 0x297a2d39);
  return value ^ (value >>> 15);
}
