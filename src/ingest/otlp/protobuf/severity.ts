import { textView } from "../../../telemetry/blocks/growing-bytes.ts";

/** The API's words for severities, from the lowest up; each stands for four of OTLP's numbers. */
const words = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;

/** What senders write for them, in lower case and beside the words themselves. */
const spellings: Readonly<Record<string, number>> = {
  trace: 0,
  verbose: 0,
  finest: 0,
  finer: 0,
  debug: 1,
  fine: 1,
  dbg: 1,
  config: 1,
  info: 2,
  information: 2,
  informational: 2,
  inf: 2,
  notice: 2,
  log: 2,
  warn: 3,
  warning: 3,
  wrn: 3,
  error: 4,
  err: 4,
  severe: 4,
  fatal: 5,
  critical: 5,
  crit: 5,
  ftl: 5,
  alert: 5,
  emergency: 5,
  emerg: 5,
  panic: 5,
};

const longestSpelling = Math.max(...Object.keys(spellings).map((spelling) => spelling.length));

const wordViews = words.map(textView);
const unspecified = textView("UNSPECIFIED");

/**
 * The API's word for a record's severity, in UTF-8: by its number (1 to 24), or where that says nothing, by the text
 * that the sender wrote.
 */
export function severityWord(number: number, view: DataView, textStart: number, textEnd: number): DataView {
  if (number > 0) return wordViews[(number - 1) >> 2] ?? unspecified;
  const size = textEnd - textStart;
  if (size === 0 || size > longestSpelling) return unspecified;
  const text = Buffer.from(view.buffer, view.byteOffset + textStart, size)
    .toString("latin1")
    .toLowerCase();
  const level = Object.hasOwn(spellings, text) ? spellings[text]! : -1;
  return wordViews[level] ?? unspecified;
}

/** Whether a range is the word, whatever its case. */
export function isWord(word: DataView, view: DataView, start: number, end: number): boolean {
  if (end - start !== word.byteLength) return false;
  for (let i = 0; i < word.byteLength; i++) {
    const upper = word.getUint8(i);
    const byte = view.getUint8(start + i);
    // The words are capital letters alone, whose small ones are 32 further on.
    if (byte !== upper && byte !== upper + 0x20) return false;
  }
  return true;
}
