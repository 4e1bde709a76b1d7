/** Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1);
      row.push(best);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/**
 * The one of `names` that somebody who wrote `name` probably meant, or undefined where none is near.
 * Case, dashes, dots and underscores count for nothing. Names over 100 characters are not compared.
 */
export function closest(name: string, names: Iterable<string>): string | undefined {
  const wanted = plain(name);
  if (wanted === "" || wanted.length > 100) return undefined;
  let found: string | undefined;
  let least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of names) {
    const known = plain(candidate);
    // The beginning of a long name is as near as one slip.
    const edits = wanted.length >= 4 && known.startsWith(wanted) ? 1 : distance(wanted, known);
    if (edits < least) {
      least = edits;
      found = candidate;
    }
  }
  return found;
}
