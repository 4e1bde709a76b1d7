import { printedRows } from "../http/paging.ts";
import type { JsonRow, PageRequest } from "../http/paging.ts";
import { spanJson } from "../http/span-json.ts";
import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";

/** Of a trace, and of a page of them: what is printed at once is held in memory at once. */
const maxSpansOfTrace = 1000;
const maxSpansOfPage = 20_000;

/** A trace of a session, without its spans. */
interface Summary {
  /** 32 lowercase hexadecimal digits. */
  readonly id: string;
  /** Unix nanoseconds, in decimal. */
  readonly start: string;
  readonly end: string;
  readonly start_time: string;
  readonly end_time: string;
  readonly span_count: number;
  readonly services: string[];
  readonly has_error: number;
  /** Row id of its earliest span without a parent; where there is none, of its earliest. */
  readonly root: string;
}

/** Traces as JSON of the API, past the page's cursor and in its direction, with the page that they fit. */
export interface SessionTraces {
  /** The page asked for, or a smaller one where its traces have too many spans for one answer. */
  readonly page: PageRequest;
  /** Up to `page.limit + 1`. Keys: start in Unix nanoseconds, trace id. */
  readonly rows: readonly JsonRow[];
}

/**
 * The traces that have a span of the session, each with all its spans, by start descending, then by trace id. Undefined
 * where the store has no record of the session.
 */
export async function readSessionTraces(
  reader: TelemetryReader,
  workspace: string,
  sessionId: string,
  page: PageRequest,
  signal?: AbortSignal,
): Promise<SessionTraces | undefined> {
  const [days] = await reader.rows<{ first: string; last: string; records: number }>({ sql: daysSql, params: { workspace, session: sessionId }, signal });
  if (!days || days.records === 0) return undefined;
  const summaries = await readSummaries(reader, { workspace, session: sessionId, first_day: days.first, last_day: days.last }, page, signal);
  const limit = tracesThatFit(summaries, page.limit);
  const shown = summaries.slice(0, limit);
  const spans = await readSpans(reader, workspace, shown, signal);
  const rows = summaries.slice(0, limit + 1).map((summary) => ({
    keys: [summary.start, summary.id],
    json: traceJson(summary, spans.get(summary.id) ?? []),
  }));
  return { page: { ...page, limit }, rows };
}
