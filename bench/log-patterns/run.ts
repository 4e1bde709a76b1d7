// How well patterns group labelled logs, what masking costs, and how long reading takes.
//
//   npm run bench -- log-patterns FOLDER [--rows 10000000]
//
// FOLDER holds sets of loghub (https://github.com/logpai/loghub) as CSV files with the columns Content and EventId.
// --rows: of the day of logs out of which patterns are then read; without it, none are.
// All sets are read with one configuration. The baseline is Drain as published, tuned for each set by itself.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { minePatterns } from "../../src/observability/logs/patterns/mine.ts";
import { hashMask } from "../../src/telemetry/masks/mask-hash.ts";
import { maskText } from "../../src/telemetry/masks/mask.ts";
import { groupingAccuracy } from "./grouping-accuracy.ts";
import { readLabelledSet } from "./labelled-set.ts";
import { measureReading } from "./measure-reading.ts";

/** Zhu et al., "Tools and Benchmarks for Automated Log Parsing", ICSE 2019, table II. */
const publishedDrain: Readonly<Record<string, number>> = {
  HDFS: 0.998,
  Hadoop: 0.948,
  Spark: 0.92,
  Zookeeper: 0.967,
  OpenStack: 0.733,
  BGL: 0.963,
  HPC: 0.887,
  Thunderbird: 0.955,
  Windows: 0.997,
  Linux: 0.69,
  Mac: 0.787,
  Android: 0.911,
  HealthApp: 0.78,
  Apache: 1,
  OpenSSH: 0.788,
  Proxifier: 0.527,
};

const { values: options, positionals } = parseArgs({ options: { rows: { type: "string" } }, allowPositionals: true });
const [folder] = positionals;
if (folder === undefined) throw new Error("Which folder holds the labelled sets?");

const sets = readdirSync(folder)
  .filter((file) => file.endsWith(".csv"))
  .toSorted()
  .map((file) => ({ name: basename(file, ".csv"), lines: readLabelledSet(join(folder, file)) }));

const results = sets.map(({ name, lines }) => {
  const masked = lines.map(({ content }) => maskText(content));
  const start = performance.now();
  const patterns = minePatterns(masked);
  const miningMs = performance.now() - start;
  const templateOf = new Map(patterns.flatMap(({ template, texts }) => texts.map((text) => [text, template] as const)));
  const labels = lines.map(({ eventId }) => eventId);
  return {
    name,
    lines: lines.length,
    labels: new Set(labels).size,
    masks: new Set(masked).size,
    patterns: patterns.length,
    miningMs,
    masksAlone: groupingAccuracy(labels, masked),
    accuracy: groupingAccuracy(
      labels,
      masked.map((text) => templateOf.get(text) ?? ""),
    ),
    drain: publishedDrain[name.replace(/_2k.*$/, "")],
  };
});

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const compared = results.filter(({ drain }) => drain !== undefined);
console.table([
  ...results.map(({ name, accuracy, masksAlone, drain, miningMs, ...counts }) => ({
    set: name,
    ...counts,
    "masks alone": masksAlone.toFixed(3),
    Vigil: accuracy.toFixed(3),
    "Drain, tuned": drain?.toFixed(3) ?? "",
    ratio: drain === undefined ? "" : `${(accuracy / drain).toFixed(2)} ×`,
    "mining ms": miningMs.toFixed(1),
  })),
  {
    set: "mean",
    "masks alone": mean(results.map(({ masksAlone }) => masksAlone)).toFixed(3),
    Vigil: mean(results.map(({ accuracy }) => accuracy)).toFixed(3),
    "Drain, tuned": mean(compared.map(({ drain }) => drain ?? 0)).toFixed(3),
    ratio: `${(mean(compared.map(({ accuracy }) => accuracy)) / mean(compared.map(({ drain }) => drain ?? 0))).toFixed(2)} ×`,
  },
]);

const bodies = sets.flatMap(({ lines }) => lines.map(({ content }) => new TextEncoder().encode(content)));
const hash = { hi: 0, lo: 0 };
const costs = Array.from({ length: 12 }, () => {
  const before = process.cpuUsage();
  for (const body of bodies) hashMask(body, 0, body.length, hash);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / bodies.length;
});
const bytes = mean(bodies.map((body) => body.length));
console.log(`Masking takes ${Math.min(...costs).toFixed(2)} CPU s per million bodies of ${bytes.toFixed(0)} bytes.`);

if (options.rows !== undefined) await measureReading(Number(options.rows));
