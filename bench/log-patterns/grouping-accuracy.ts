/**
 * The share of lines whose group is right (Zhu et al., ICSE 2019): the lines of the group are exactly those of the
 * label. One line too many or too few makes all lines of a label count as wrong.
 *
 * @param labels the label of each line
 * @param groups the group that each line was put into
 */
export function groupingAccuracy(labels: readonly string[], groups: readonly string[]): number {
  const numbers = labels.map((_, i) => i);
  const sizes = new Map<string, number>();
  for (const group of groups) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  let right = 0;
  for (const lines of Map.groupBy(numbers, (i) => labels[i]!).values()) {
    const group = groups[lines[0]!]!;
    if (sizes.get(group) === lines.length && lines.every((i) => groups[i] === group)) right += lines.length;
  }
  return right / labels.length;
}
