import { readFileSync } from "node:fs";

export interface LabelledLine {
  readonly content: string;
  /** Lines of one statement of the program have the same. */
  readonly eventId: string;
}

/** A labelled set of loghub: CSV (RFC 4180) with a header, whose columns Content and EventId count. */
export function readLabelledSet(file: string): LabelledLine[] {
  const [header, ...rows] = parseCsv(readFileSync(file, "utf8"));
  const [content, eventId] = ["Content", "EventId"].map((name) => header?.indexOf(name) ?? -1) as [number, number];
  if (content < 0 || eventId < 0) throw new Error(`${file} has no columns Content and EventId.`);
  return rows.map((row) => ({ content: row[content] ?? "", eventId: row[eventId] ?? "" }));
}

function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end === ",") continue;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}
