import * as fc from "fast-check";

/** Records with and without sessions, and what a plain count of them in JavaScript comes to. */

/** The clock of the tests, Unix milliseconds, and the second in which everything arrived. */
export const nowMs = 1_763_640_000_000;
const receivedNs = BigInt(nowMs) * 1_000_000n;

interface Said {
  readonly session: string;
  /** Seconds before arrival; negative: after it. */
  readonly ago: number;
  readonly browser: boolean;
  readonly path: string;
  readonly url: string;
  readonly user: string;
  readonly endUser: string;
  readonly country: string;
  readonly device: string;
  readonly agent: string;
  /** What of the above the resource says in the record's stead. */
  readonly byResource: boolean;
  readonly service: string;
}

interface SpanRecord extends Said {
  readonly kind: "span";
  readonly seconds: number;
  readonly trace: number;
  readonly root: boolean;
  readonly failed: boolean;
  readonly exception: boolean;
  readonly genai: boolean;
}

interface LogRecord extends Said {
  readonly kind: "log";
  readonly severity: number;
  readonly exception: boolean;
  readonly event: string;
}

export type TestRecord = SpanRecord | LogRecord;

export const agents = {
  desktop: "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
  mobile:
    "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
} as const;

const said = {
  session: fc.constantFrom("", "s1", "s2", "s3", "s/4", "ß5", "s6"),
  // Two days, to both sides of 30 minutes and of the five that a clock may be ahead.
  ago: fc.oneof(
    fc.integer({ min: -400, max: 4_000 }),
    fc.integer({ min: -400, max: 170_000 }),
    fc.constantFrom(0, 1_800, 1_799, -300, -301),
  ),
  browser: fc.boolean(),
  path: fc.constantFrom("", "", "/", "/cart", "/items/1"),
  url: fc.constantFrom("", "https://shop.test", "https://shop.test/cart?x=1", "https://shop.test/items/2#top"),
  user: fc.constantFrom("", "", "ada", 'quo"te\\'),
  endUser: fc.constantFrom("", "", "bob"),
  country: fc.constantFrom("", "", "DE", "fr", "Germany"),
  device: fc.constantFrom("", "", "", "Tablet", "toaster"),
  agent: fc.constantFrom("", "", agents.desktop, agents.mobile),
  byResource: fc.boolean(),
  service: fc.constantFrom("web", "shop"),
};

const spanRecord = fc.record({
  ...said,
  kind: fc.constant("span" as const),
  seconds: fc.constantFrom(0, 1, 30, 3_600, -5),
  trace: fc.integer({ min: 1, max: 9 }),
  root: fc.boolean(),
  failed: fc.boolean(),
  exception: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  genai: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

const logRecord = fc.record({
  ...said,
  kind: fc.constant("log" as const),
  severity: fc.constantFrom(0, 9, 13, 16, 17, 21),
  exception: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  event: fc.constantFrom("", "", "page_view", "browser.page_view", "click"),
});

export const testRecords = fc.array(fc.oneof(spanRecord, spanRecord, logRecord), { minLength: 1, maxLength: 40 });

/** Of the record: what it names, by attribute. */
function attributesOf(record: TestRecord): Record<string, string> {
  const entries = Object.entries({
    "user.id": record.user,
    "enduser.id": record.endUser,
    "geo.country.iso_code": record.country,
    "device.type": record.device,
    "user_agent.original": record.agent,
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
}

/** The rows of the tables that the records are; `first` is the row id of the first. */
export function rowsOf(workspace: string, records: readonly TestRecord[], first: number) {
  const rows = records.map((record, i) => {
    const named = attributesOf(record);
    const ofResource = record.byResource ? named : {};
    const row = {
      workspace,
      seq: first + i,
      ts: startOf(record),
      received: nowMs / 1000,
      session_id: record.session,
      service_name: record.service,
      resource: JSON.stringify({
        "service.name": record.service,
        "telemetry.sdk.language": record.browser ? "webjs" : "nodejs",
        attributes: Object.entries(ofResource).map(([key, value]) => ({ key, value })),
        dropped_attributes_count: 0,
      }),
      attributes: {
        ...(record.byResource ? {} : named),
        ...(record.path !== "" && { "url.path": record.path }),
        ...(record.url !== "" && { "url.full": record.url }),
        ...(record.exception && record.kind === "log" && { "exception.type": "E" }),
        ...(record.kind === "span" && record.genai && { "gen_ai.system": "x" }),
      },
    };
    if (record.kind === "log") {
      return { ...row, severity_number: record.severity, event_name: record.event };
    }
    return {
      ...row,
      duration_ns: BigInt(record.seconds) * 1_000_000_000n,
      trace_id: record.trace.toString(16).padStart(32, "0"),
      span_id: (first + i).toString(16).padStart(16, "0"),
      parent_span_id: record.root ? "" : "00000000000000ff",
      status_code: record.failed ? 2 : 0,
      events: record.exception ? '[{"name":"exception","time_unix_nano":1,"attributes":[]}]' : "",
    };
  });
  return {
    spans: rows.filter((_, i) => records[i]!.kind === "span"),
    logs: rows.filter((_, i) => records[i]!.kind === "log"),
  };
}

function startOf({ ago }: TestRecord): bigint {
  return receivedNs - BigInt(ago) * 1_000_000_000n;
}

/** A time over five minutes after arrival counts as arrival. */
function heldTo(time: bigint): bigint {
  return time > receivedNs + 300_000_000_000n ? receivedNs : time;
}

/** The moments at which a record was active, Unix nanoseconds: its own, and the end of a span. */
function momentsOf(record: TestRecord): bigint[] {
  const start = startOf(record);
  if (record.kind === "log") return [heldTo(start)];
  return [heldTo(start), heldTo(start + BigInt(Math.max(record.seconds, 0)) * 1_000_000_000n)];
}

export interface CountedSession {
  readonly id: string;
  readonly moments: readonly bigint[];
  readonly first: bigint;
  readonly last: bigint;
  readonly active: boolean;
  readonly users: ReadonlySet<string>;
  readonly traces: number;
  readonly spans: number;
  readonly logs: number;
  readonly errors: number;
  readonly pages: number;
  readonly genai: boolean;
  readonly services: readonly string[];
  /** Values that may be the first, where several were named at the same moment. */
  readonly devices: readonly string[];
  readonly countries: readonly string[];
}

export function countSessions(records: readonly TestRecord[]): CountedSession[] {
  const ids = [...new Set(records.map(({ session }) => session))].filter((id) => id !== "");
  return ids.map((id) =>
    countSession(
      id,
      records.filter(({ session }) => session === id),
    ),
  );
}

function countSession(id: string, records: readonly TestRecord[]): CountedSession {
  const spans = records.filter((record) => record.kind === "span");
  const logs = records.filter((record) => record.kind === "log");
  const moments = records.flatMap(momentsOf);
  const last = moments.reduce((a, b) => (a > b ? a : b));
  const paths = records
    .filter((record) => record.browser || (record.kind === "log" && record.event.endsWith("page_view")))
    .map(({ path, url }) => path || (url && new URL(url).pathname))
    .filter((path) => path !== "");
  const typed = records.filter(({ device }) => device === "Tablet");
  const first = (from: readonly TestRecord[], of: (record: TestRecord) => string) => {
    const naming = from.filter((record) => of(record) !== "");
    const times = naming.map((record) => heldTo(startOf(record)));
    const earliest = times.reduce((a, b) => (a < b ? a : b), times[0] ?? 0n);
    return naming.filter((_, i) => times[i] === earliest).map(of);
  };
  const agentsFirst = first(records, ({ agent }) => agent).map((agent) =>
    agent === agents.mobile ? "mobile" : "desktop",
  );
  const countries = first(records, ({ country }) => (country.length === 2 ? country.toUpperCase() : ""));
  return {
    id,
    moments,
    first: moments.reduce((a, b) => (a < b ? a : b)),
    last,
    active: last > receivedNs - 1_800_000_000_000n,
    users: new Set(records.map(({ user, endUser }) => user || endUser).filter((user) => user !== "")),
    traces: new Set(spans.map(({ trace }) => trace)).size,
    spans: spans.length,
    logs: logs.length,
    errors:
      spans.filter(({ failed, exception }) => failed || exception).length +
      logs.filter(({ severity, exception }) => severity >= 17 || exception).length,
    pages: new Set(paths).size || spans.filter(({ root }) => root).length,
    genai: spans.some(({ genai }) => genai),
    services: [...new Set(records.map(({ service }) => service))].toSorted(),
    devices: typed.length > 0 ? ["tablet"] : agentsFirst.length > 0 ? agentsFirst : ["unknown"],
    countries: countries.length > 0 ? countries : ["ZZ"],
  };
}

/** Whether a session has any activity in the window, in Unix nanoseconds. */
export function isIn({ moments }: CountedSession, start?: bigint, end?: bigint): boolean {
  return moments.some((time) => (start === undefined || time >= start) && (end === undefined || time < end));
}
