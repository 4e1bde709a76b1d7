import { isLiteral, isName, variable } from "./words.ts";
import type { Text } from "./words.ts";

/** Texts that have become one, with `<*>` for the words in which they differ. */
export interface Cluster extends Text {
  /** Numbers of the texts that it stands for. */
  readonly members: readonly number[];
}

/** A program chooses from fewer words than these; more of them at one place are data. */
const choices = 4;
/** Words in capitals are mostly members of an enumeration (states, methods, levels), which has more of them. */
const choicesInCapitals = 23;
/** What a text begins with says most about what it is. */
const choicesAtStart = 11;
/** After these comes a name. */
const naming = new Set(
  "user username account tenant host hostname domain database table topic queue bucket named".split(" "),
);
const choicesAfterNaming = 2;

/**
 * Whether the different words that stand at one place of otherwise equal texts are values of a variable, and not
 * choices that the program makes, each of which is a pattern of its own.
 */
export function isVariable(kinds: ReadonlySet<string>, at: number, { words, shape }: Text): boolean {
  if (kinds.has(variable)) return true;
  const all = [...kinds];
  if (all.every((kind) => isName(kind)) || isQuoted(at, shape)) return true;
  if (all.every((kind) => /^[A-Z][A-Z_]*$/.test(kind))) return kinds.size > choicesInCapitals;
  if (at === 0) return kinds.size > choicesAtStart;
  const before = words[at - 1];
  const isNamed = before !== undefined && shape[at] === " " && naming.has(before.toLowerCase());
  return kinds.size > (isNamed ? choicesAfterNaming : choices);
}

/** Whether the word at a place is all that a pair of quotation marks holds. A JSON text quotes everything, though. */
function isQuoted(at: number, shape: readonly string[]): boolean {
  const before = /(^|[^:,{[])(["'`])$/.exec(shape[at] ?? "");
  return before !== null && (shape[at + 1] ?? "").startsWith(before[2]!);
}

/** One cluster for each template among `clusters`. */
export function unite(clusters: Iterable<Cluster>): Cluster[] {
  const united = new Map<string, Cluster>();
  for (const cluster of clusters) {
    const key = `${cluster.words.join("\0")}\0\0${cluster.shape.join("\0")}`;
    const same = united.get(key);
    united.set(key, same ? { ...same, members: [...same.members, ...cluster.members] } : cluster);
  }
  return [...united.values()];
}

/** `words` with variables in some places, if a word of the program is left that says what the text is about. */
export function withVariables(words: readonly string[], places: ReadonlySet<number>): string[] | undefined {
  const filled = words.map((word, at) => (places.has(at) ? variable : word));
  return filled.some((word) => isLiteral(word)) ? filled : undefined;
}
