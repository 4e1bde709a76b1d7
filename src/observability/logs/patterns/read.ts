import type { TelemetryReader } from "../../../telemetry/contract.ts";
import { maskText } from "../../../telemetry/masks/mask.ts";
import { minePatterns, patternId } from "./mine.ts";
import { readBodies, readGroups, readKnown, rest } from "./query.ts";
import type { Bounds, Group, PatternFilter } from "./query.ts";
import { trendBuckets, trendOf } from "./trend.ts";
import type { Trend } from "./trend.ts";
import { variable } from "./words.ts";

export interface LogPattern {
  readonly pattern_id: string;
  readonly template: string;
  readonly sample: string;
  readonly count: number;
  /** RFC 3339, UTC, nanoseconds. */
  readonly first_seen: string;
  readonly last_seen: string;
  readonly trend: Trend;
  readonly severity_distribution: SeverityCount[];
}

interface SeverityCount {
  readonly severity: number;
  readonly severity_text: string;
  readonly count: number;
  /** 0 to 100 */
  readonly percentage: number;
}

/** Beyond these, what is rare is one pattern: what is told apart has to be read, mined and answered. */
const defaultBounds: Bounds = { groups: 10_000, masks: 5_000 };

/** The patterns of all records that `filter` selects, most frequent first. Their counts add up to the records. */
export async function readPatterns(
  reader: TelemetryReader,
  filter: PatternFilter,
  signal?: AbortSignal,
  bounds: Bounds = defaultBounds,
): Promise<LogPattern[]> {
  const groups = await readGroups(reader, filter, bounds, signal);
  const byMask = Map.groupBy(groups, ({ mask }) => mask);
  const bodies = await readBodies(reader, filter, [...byMask.values()].map(newest), signal);
  const masksOf = Map.groupBy(byMask.keys(), (mask) => maskedText(bodies.get(mask)));
  const found = minePatterns(masksOf.keys()).map(({ template, texts }) => {
    const masks = texts.flatMap((text) => masksOf.get(text) ?? []);
    return { template, masks, ...summarize(masks.flatMap((mask) => byMask.get(mask) ?? [])) };
  });

  const lastQuarter = filter.end - (filter.end - filter.start) / 4n;
  const late = found.filter(({ first }) => first >= lastQuarter);
  const known = await readKnown(
    reader,
    filter,
    late.flatMap(({ masks }) => masks).filter((mask) => mask !== rest),
    signal,
  );
  return found
    .map(({ template, masks, first, last, count, buckets, severities }) => ({
      pattern_id: patternId(template),
      template,
      sample: bodies.get(last.lastMask) ?? "",
      count,
      first_seen: rfc3339(first),
      last_seen: rfc3339(last.last),
      trend: trendOf({
        buckets,
        isNew: first >= lastQuarter && !masks.some((mask) => mask === rest || known.has(mask)),
      }),
      severity_distribution: severities,
    }))
    .toSorted((a, b) => b.count - a.count || (a.template < b.template ? -1 : 1));
}

/** What is too rare to be told apart has no text in common; neither is there one where a body is gone meanwhile. */
function maskedText(body: string | undefined): string {
  return body === undefined ? variable : maskText(body);
}

function newest(groups: readonly Group[]): Group {
  return groups.reduce((last, group) => (group.last > last.last ? group : last));
}

/** What the groups of a pattern, of which there is one at least, come to together. */
function summarize(groups: readonly Group[]) {
  const buckets = Array.from({ length: trendBuckets }, () => 0);
  const severities = new Map<string, { severity: number; severity_text: string; count: number }>();
  let total = 0;
  for (const { severity, severityText, buckets: counts } of groups) {
    const key = `${severity} ${severityText}`;
    const known = severities.get(key) ?? { severity, severity_text: severityText, count: 0 };
    severities.set(key, known);
    for (const [i, count] of counts.entries()) {
      buckets[i]! += count;
      known.count += count;
      total += count;
    }
  }
  return {
    first: groups.reduce((first, group) => (group.first < first ? group.first : first), groups[0]!.first),
    last: newest(groups),
    count: total,
    buckets,
    severities: [...severities.values()]
      .map((severity) => ({ ...severity, percentage: (severity.count / total) * 100 }))
      .toSorted((a, b) => b.severity - a.severity || (a.severity_text < b.severity_text ? -1 : 1)),
  };
}

const second = 1_000_000_000n;

/** UTC, with all nine decimals of a second. */
function rfc3339(nanos: bigint): string {
  const seconds = new Date(Number(nanos / second) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(nanos % second).padStart(9, "0")}Z`;
}
