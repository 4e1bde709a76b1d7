import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import type { FastifyInstance } from "fastify";
import { createLog } from "../../core/log.ts";
import { rebuildRollups } from "../../telemetry/rollups.ts";
import { createApi } from "../http/server.ts";
import { openTables } from "../logs/tables-for-tests.ts";
import type { Tables } from "../logs/tables-for-tests.ts";
import { agents, countSessions, isIn, nowMs, rowsOf, testRecords } from "./recount-for-tests.ts";
import type { CountedSession, TestRecord } from "./recount-for-tests.ts";
import type { Session } from "./read-sessions.ts";
import type { SessionStats } from "./read-stats.ts";
import { sessionRoutes } from "./routes.ts";

interface Page<T> {
  items: T[];
  has_more: boolean;
  next_cursor: string | null;
  prev_cursor: string | null;
}

let tables: Tables;
let app: FastifyInstance;
let workspace = "default";
let runs = 0;
let seq = 1;
const nowNs = BigInt(nowMs) * 1_000_000n;
const second = 1_000_000_000n;

before(async () => {
  tables = await openTables();
  app = createApi({ log: createLog("silent"), version: "0.0.0", access: { mode: "local" } });
  // Each test looks at a workspace of its own.
  app.addHook("preHandler", async (request) => {
    Object.assign(request, { access: { workspace } });
  });
  sessionRoutes(app, tables, () => nowMs);
  await app.ready();
});

after(async () => {
  await app.close();
  await tables.close();
});

async function get(path: string, query: Record<string, string> = {}) {
  return app.inject({ url: `/api/v1/sessions${path}?${new URLSearchParams(query)}`, headers: { host: "localhost" } });
}

async function ask<T>(path: string, query: Record<string, string> = {}): Promise<T> {
  const answer = await get(path, query);
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json<T>();
}

async function store(records: readonly TestRecord[]): Promise<void> {
  workspace = `w${runs++}`;
  const rows = rowsOf(workspace, records, seq);
  seq += records.length;
  // In several inserts, so that a session is in several parts.
  for (const table of ["spans", "logs"] as const) {
    const half = Math.ceil(rows[table].length / 2);
    for (const part of [rows[table].slice(0, half), rows[table].slice(half)]) {
      if (part.length > 0) await tables.insert(table, part);
    }
  }
}

const iso = (nanos: bigint) =>
  `${new Date(Number(nanos / second) * 1000).toISOString().slice(0, -5)}.${String(nanos % second).padStart(9, "0")}Z`;

/** Bounds of a window, each there or not. */
const bounds = fc
  .tuple(fc.option(fc.integer({ min: -500, max: 172_000 })), fc.option(fc.integer({ min: -500, max: 172_000 })))
  .map(([a, b]) => {
    const [start, end] = a !== null && b !== null && a < b ? [b, a] : [a, b];
    const at = (ago: number | null) => (ago === null ? undefined : nowNs - BigInt(ago) * second);
    return start === end && start !== null ? { start: at(start), end: undefined } : { start: at(start), end: at(end) };
  });

function inQuery({ start, end }: { start?: bigint; end?: bigint }): Record<string, string> {
  return {
    ...(start !== undefined && { startTime: iso(start) }),
    ...(end !== undefined && { endTime: iso(end) }),
  };
}

function assertSession(session: Session, counted: CountedSession): void {
  const { user_id, device_type, country_code, ...rest } = session;
  assert.deepEqual(rest, {
    session_id: counted.id,
    start_time: iso(counted.first),
    end_time: iso(counted.last),
    duration_ms: Number(counted.last - counted.first) / 1e6,
    is_active: counted.active,
    trace_count: counted.traces,
    span_count: counted.spans,
    log_count: counted.logs,
    error_count: counted.errors,
    page_count: counted.pages,
    services: counted.services,
    has_genai: counted.genai,
  });
  assert.ok(user_id === null ? counted.users.size === 0 : counted.users.has(user_id), `user ${user_id}`);
  assert.ok(counted.devices.includes(device_type), `device ${device_type} of ${counted.devices.join()}`);
  assert.ok(counted.countries.includes(country_code), `country ${country_code} of ${counted.countries.join()}`);
}

test("statistics are what a plain count of the records comes to, over any window", async () => {
  await fc.assert(
    fc.asyncProperty(testRecords, bounds, async (records, window) => {
      await store(records);
      const stats = await ask<SessionStats>("/stats", inQuery(window));
      const start = window.start ?? (window.end ?? nowNs) - 86_400n * second;
      const sessions = countSessions(records).filter((session) => isIn(session, start, window.end));
      const total = sessions.length;
      const share = (of: (session: CountedSession) => boolean) => sessions.filter(of).length;
      const { by_device_type, by_country, avg_duration_ms, ...counts } = stats;
      assert.deepEqual(counts, {
        active_sessions: share(({ active }) => active),
        total_sessions: total,
        unique_users: new Set(sessions.flatMap(({ users }) => [...users])).size,
        sessions_with_errors: share(({ errors }) => errors > 0),
        sessions_with_genai: share(({ genai }) => genai),
        bounce_rate: total === 0 ? 0 : share(({ pages }) => pages <= 1) / total,
      });
      const duration = sessions.reduce((sum, { first, last }) => sum + (last - first), 0n);
      assert.equal(avg_duration_ms, total === 0 ? 0 : Number(duration) / 1e6 / total);
      assertShares(
        by_device_type.map(({ device_type, ...rest }) => ({ value: device_type, ...rest })),
        sessions.map(({ devices }) => devices),
      );
      assertShares(
        by_country.map(({ country_code, ...rest }) => ({ value: country_code, ...rest })),
        sessions.map(({ countries }) => countries),
      );
    }),
    { numRuns: 40, seed: 7, endOnFailure: true },
  );
});

/** Counts by value where a session may have one of several values. */
function assertShares(
  shares: readonly { value: string; count: number; percentage: number }[],
  sessions: readonly (readonly string[])[],
): void {
  assert.equal(
    shares.reduce((sum, { count }) => sum + count, 0),
    sessions.length,
  );
  for (const { value, count, percentage } of shares) {
    const surely = sessions.filter((values) => values.every((one) => one === value)).length;
    const perhaps = sessions.filter((values) => values.includes(value)).length;
    assert.ok(count > 0 && count >= surely && count <= perhaps, `${value}: ${count} of ${surely} to ${perhaps}`);
    assert.equal(percentage, (100 * count) / sessions.length);
  }
  assert.deepEqual(
    shares.map(({ count }) => count),
    shares.map(({ count }) => count).toSorted((a, b) => b - a),
  );
}

test("the list is what a plain count comes to, by last activity, in pages of any size, both ways", async () => {
  const filters = fc.record({
    window: bounds,
    userId: fc.option(fc.constantFrom("ada", 'quo"te\\', "bob", "nobody"), { nil: undefined }),
    isActive: fc.option(fc.boolean(), { nil: undefined }),
    limit: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(testRecords, filters, async (records, { window, userId, isActive, limit }) => {
      await store(records);
      const expected = countSessions(records)
        .filter((session) => isIn(session, window.start, window.end))
        .filter(({ users }) => userId === undefined || users.has(userId))
        .filter(({ active }) => isActive === undefined || active === isActive)
        .toSorted((a, b) => Number(b.last - a.last) || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
      const query = {
        ...inQuery(window),
        ...(userId !== undefined && { userId }),
        ...(isActive !== undefined && { isActive: String(isActive) }),
        limit: String(limit),
      };
      const { forwards, backwards } = await walk<Session>("", query);
      assert.deepEqual(
        forwards.map(({ session_id }) => session_id),
        expected.map(({ id }) => id),
      );
      assert.deepEqual(backwards, forwards);
      for (const [i, session] of forwards.entries()) assertSession(session, expected[i]!);
      for (const session of forwards)
        assert.deepEqual(await ask(`/${encodeURIComponent(session.session_id)}`), session);
    }),
    { numRuns: 25, seed: 11, endOnFailure: true },
  );
});

/** All pages forwards from the first, then back from the last. */
async function walk<T>(path: string, query: Record<string, string>) {
  let page = await ask<Page<T>>(path, query);
  assert.equal(page.prev_cursor, null);
  const forwards = [...page.items];
  while (page.next_cursor !== null) {
    assert.ok(page.has_more);
    page = await ask<Page<T>>(path, { ...query, cursor: page.next_cursor });
    forwards.push(...page.items);
  }
  assert.equal(page.has_more, false);
  const backwards = [...page.items];
  while (page.prev_cursor !== null) {
    page = await ask<Page<T>>(path, { ...query, cursor: page.prev_cursor });
    backwards.unshift(...page.items);
  }
  return { forwards, backwards };
}

test("built again from the telemetry, sessions are what they were", async () => {
  const all = () =>
    tables.rows({
      sql: `
        SELECT workspace, session_id, day, min(first_seen) AS first, max(last_seen) AS last, sum(spans) AS span_count,
          sum(root_spans) AS roots, arraySort(groupUniqArrayArray(traces)) AS all_traces, sum(logs) AS log_count, sum(errors) AS error_count, max(genai) AS ai,
          arraySort(groupUniqArrayArray(pages)) AS all_pages, arraySort(groupUniqArrayArray(users)) AS all_users,
          arraySort(groupUniqArrayArray(services)) AS all_services, max(user) AS last_user, min(country) AS first_country,
          min(device) AS first_device, any(session_hash) AS hash
        FROM session_activity GROUP BY workspace, session_id, day ORDER BY workspace, session_id, day`,
    });
  await store(fc.sample(testRecords, { numRuns: 10, seed: 3 }).flat());
  const incremental = await all();
  assert.ok(incremental.length > 5);
  const rebuild = () =>
    rebuildRollups({ sql: tables, layout: { database: "vigil" }, hold: (fn) => fn(), now: () => nowMs });
  await rebuild();
  assert.deepEqual(await all(), incremental);
  await tables.command("ALTER TABLE session_activity DELETE WHERE session_id != 's1' SETTINGS mutations_sync = 2");
  await rebuild();
  assert.deepEqual(await all(), incremental);
});

/** A span of session `session` or, empty, of none. */
function span(session: string, trace: number, ago: number, more: Record<string, unknown> = {}) {
  return {
    workspace,
    seq: seq++,
    ts: nowNs - BigInt(ago) * second,
    duration_ns: second,
    received: nowMs / 1000,
    session_id: session,
    trace_id: trace.toString(16).padStart(32, "0"),
    span_id: seq.toString(16).padStart(16, "0"),
    service_name: "web",
    ...more,
  };
}

interface Trace {
  trace_id: string;
  spans: { span_id: string; name: string; start_time_unix_nano: number }[];
  span_count: number;
  duration_ns: number;
  root_span: { name: string };
  [field: string]: unknown;
}

test("a session's traces have all their spans, those of no session too", async () => {
  workspace = `w${runs++}`;
  await tables.insert("spans", [
    span("a", 1, 100, { name: "click", service_name: "web" }),
    span("", 1, 99, {
      name: "GET /",
      service_name: "shop",
      parent_span_id: "00000000000000aa",
      status_code: 2,
      duration_ns: 9n * second,
    }),
    span("b", 2, 50, { name: "other" }),
    span("a", 3, 40, { name: "late child", parent_span_id: "00000000000000aa" }),
    { ...span("a", 4, 10), workspace: "elsewhere" },
  ]);
  const page = await ask<Page<Trace>>("/a/traces");
  assert.deepEqual({ ...page, items: [] }, { items: [], has_more: false, next_cursor: null, prev_cursor: null });
  const [third, first] = page.items;
  assert.equal(page.items.length, 2);
  const { spans, root_span, ...facts } = first!;
  assert.deepEqual(facts, {
    trace_id: "1".padStart(32, "0"),
    span_count: 2,
    duration_ns: Number(10n * second),
    start_time: iso(nowNs - 100n * second),
    end_time: iso(nowNs - 90n * second),
    services: ["shop", "web"],
    has_error: true,
  });
  assert.deepEqual(
    spans.map(({ name }) => name),
    ["click", "GET /"],
  );
  assert.deepEqual(root_span, spans[0]);
  assert.equal(third!.root_span.name, "late child");
  assert.equal(third!["has_error"], false);
});

test("a session of which only logs are known has no traces; one that nobody knows is 404", async () => {
  workspace = `w${runs++}`;
  await tables.insert("logs", [{ workspace, seq: seq++, ts: nowNs, received: nowMs / 1000, session_id: "quiet" }]);
  assert.deepEqual((await ask<Page<Trace>>("/quiet/traces")).items, []);
  assert.equal((await ask<Session>("/quiet")).log_count, 1);
  for (const path of ["/unknown", "/unknown/traces"]) {
    const answer = await get(path);
    assert.equal(answer.statusCode, 404);
    const { resource_type, resource_id } = answer.json<Record<string, string>>();
    assert.deepEqual({ resource_type, resource_id }, { resource_type: "session", resource_id: "unknown" });
  }
});

test("traces are paged by start, the latest first, both ways, where starts are equal", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 9 }),
      fc.integer({ min: 1, max: 4 }),
      async (starts, limit) => {
        workspace = `w${runs++}`;
        await tables.insert(
          "spans",
          starts.map((ago, i) => span("s", i + 1, ago)),
        );
        const expected = starts
          .map((ago, i) => ({ ago, id: (i + 1).toString(16).padStart(32, "0") }))
          .toSorted((a, b) => a.ago - b.ago || (a.id < b.id ? 1 : -1));
        const { forwards, backwards } = await walk<Trace>("/s/traces", { limit: String(limit) });
        assert.deepEqual(
          forwards.map(({ trace_id }) => trace_id),
          expected.map(({ id }) => id),
        );
        assert.deepEqual(backwards, forwards);
      },
    ),
    { numRuns: 10, seed: 5, endOnFailure: true },
  );
});

test("a trace shows its first 1,000 spans, its root among them, and counts all; large traces make small pages", async () => {
  workspace = `w${runs++}`;
  const traces = 25;
  await tables.command(
    `INSERT INTO spans (workspace, seq, ts, received, session_id, trace_id, span_id, parent_span_id, name)
     SELECT '${workspace}', ${seq} + number, fromUnixTimestamp64Nano(toInt64(${nowNs - 3_600n * second} + number), 'UTC'),
       toDateTime(${nowMs / 1000}, 'UTC'), 'long', toFixedString(unhex(leftPad(hex(1 + number % ${traces}), 32, '0')), 16),
       reinterpretAsFixedString(toUInt64(number + 1)),
       if(number >= ${traces * 1100 - traces}, toFixedString('', 8), reinterpretAsFixedString(toUInt64(7))),
       if(number >= ${traces * 1100 - traces}, 'root', 'child') FROM numbers(${traces * 1100})`,
  );
  seq += traces * 1100;
  const { forwards, backwards } = await walk<Trace>("/long/traces", {});
  assert.equal(forwards.length, traces);
  assert.deepEqual(
    backwards.map(({ trace_id }) => trace_id),
    forwards.map(({ trace_id }) => trace_id),
  );
  assert.equal(new Set(forwards.map(({ trace_id }) => trace_id)).size, traces);
  for (const { spans, span_count, root_span } of forwards) {
    assert.deepEqual([spans.length, span_count, root_span.name], [1000, 1100, "root"]);
    assert.equal(spans.at(-1)!.name, "root");
    const starts = spans.map(({ start_time_unix_nano }) => start_time_unix_nano);
    assert.deepEqual(
      starts,
      starts.toSorted((a, b) => a - b),
    );
  }
  const first = await ask<Page<Trace>>("/long/traces");
  assert.equal(first.items.length, 20);
  assert.equal(first.has_more, true);
});

test("sessions of months are found from the newest on", async () => {
  workspace = `w${runs++}`;
  const days = Array.from({ length: 40 }, (_, i) => i);
  await tables.insert(
    "logs",
    days.map((day) => ({
      workspace,
      seq: seq++,
      ts: nowNs - BigInt(day) * 86_400n * second,
      received: nowMs / 1000 - day * 86_400,
      session_id: `day ${String(day).padStart(2, "0")}`,
    })),
  );
  // A session that goes on for weeks is where its last activity is, with the figures of all of it.
  await tables.insert("logs", [
    { workspace, seq: seq++, ts: nowNs - second, received: nowMs / 1000, session_id: "day 39" },
  ]);
  // Sent today, by clocks or queues of three weeks ago.
  await tables.insert(
    "logs",
    [1, 2, 3, 4, 5].map((i) => ({
      workspace,
      seq: seq++,
      ts: nowNs - 20n * 86_400n * second - BigInt(i),
      received: nowMs / 1000,
      session_id: `late ${i}`,
    })),
  );
  const { forwards, backwards } = await walk<Session>("", { limit: "3" });
  assert.deepEqual(
    forwards.map(({ session_id }) => session_id),
    [
      "day 00",
      "day 39",
      ...days.slice(1, 21).map((day) => `day ${String(day).padStart(2, "0")}`),
      ...[1, 2, 3, 4, 5].map((i) => `late ${i}`),
      ...days.slice(21, 39).map((day) => `day ${String(day).padStart(2, "0")}`),
    ],
  );
  assert.deepEqual(backwards, forwards);
  assert.equal(forwards[1]!.log_count, 2);
  const stats = await ask<SessionStats>("/stats");
  assert.equal(stats.total_sessions, 3);
  assert.equal(stats.avg_duration_ms, Number((39n * 86_400n - 1n) * 1000n) / 3);
});

test("activity between the first and the last of a session is found in its records, times ahead counting as arrival", async () => {
  workspace = `w${runs++}`;
  const log = (session_id: string, ago: number) => ({
    workspace,
    seq: seq++,
    ts: nowNs - BigInt(ago) * second,
    received: nowMs / 1000,
    session_id,
  });
  await tables.insert("logs", [
    ...[100, -200].flatMap((ago) => [log("idle", ago), log("busy", ago), log("ahead", ago)]),
    log("busy", 1),
    log("ahead", -400),
  ]);
  await tables.insert("spans", [span("long", 1, 100, { duration_ns: 99n * second }), span("long", 1, -200)]);
  const window = { startTime: iso(nowNs - 10n * second), endTime: iso(nowNs + 10n * second) };
  const { items } = await ask<Page<Session>>("", window);
  assert.deepEqual(items.map(({ session_id }) => session_id).toSorted(), ["ahead", "busy", "long"]);
  assert.equal((await ask<SessionStats>("/stats", window)).total_sessions, 3);
});

test("telemetry of other devices: their own word first, then the user agent's", async () => {
  workspace = `w${runs++}`;
  const said = { "user_agent.original": agents.mobile };
  await tables.insert("spans", [
    span("agent", 1, 30, { attributes: said }),
    span("agent", 1, 20, { attributes: { "user_agent.original": "axios/1.12.2" } }),
    span("word", 2, 30, { attributes: said }),
    span("word", 2, 20, { attributes: { "device.type": "wearable" } }),
    span("none", 3, 30, { attributes: { "geo.country.iso_code": "DE" } }),
  ]);
  const { by_device_type, by_country } = await ask<SessionStats>("/stats");
  const third = (100 * 1) / 3;
  assert.deepEqual(by_device_type, [
    { device_type: "mobile", count: 1, percentage: third },
    { device_type: "unknown", count: 1, percentage: third },
    { device_type: "wearable", count: 1, percentage: third },
  ]);
  assert.deepEqual(by_country, [
    { country_code: "ZZ", country_name: "Unknown Region", count: 2, percentage: (100 * 2) / 3 },
    { country_code: "DE", country_name: "Germany", count: 1, percentage: third },
  ]);
});

test("of a session that never ends a thousand pages and traces are told apart, and all spans counted", async () => {
  workspace = `w${runs++}`;
  for (const first of [0, 800]) {
    await tables.command(
      `INSERT INTO spans (workspace, seq, ts, received, session_id, trace_id, span_id, resource, attributes)
       SELECT '${workspace}', ${seq} + number, fromUnixTimestamp64Nano(toInt64(${nowNs} - number), 'UTC'),
         toDateTime(${nowMs / 1000}, 'UTC'), 'endless', toFixedString(unhex(leftPad(hex(number + ${first}), 32, '0')), 16),
         reinterpretAsFixedString(toUInt64(number + 1)), '{"telemetry.sdk.language":"webjs"}',
         map('url.path', toString(number + ${first})) FROM numbers(800)`,
    );
    seq += 800;
  }
  const { trace_count, page_count, span_count } = await ask<Session>("/endless");
  assert.deepEqual({ trace_count, page_count, span_count }, { trace_count: 1000, page_count: 1000, span_count: 1600 });
});

test("without sessions the statistics are zeros", async () => {
  workspace = `w${runs++}`;
  assert.deepEqual(await ask("/stats"), {
    active_sessions: 0,
    total_sessions: 0,
    unique_users: 0,
    avg_duration_ms: 0,
    sessions_with_errors: 0,
    sessions_with_genai: 0,
    bounce_rate: 0,
    by_device_type: [],
    by_country: [],
  });
});

test("what is wrong with a request is said at once", async () => {
  const refused = async (path: string, query: Record<string, string>) => {
    const answer = await get(path, query);
    assert.equal(answer.statusCode, 400, answer.body);
    return answer
      .json<{ errors: { field: string; code: string }[] }>()
      .errors.map(({ field, code }) => `${field} ${code}`)
      .toSorted();
  };
  const backwards = { startTime: "2026-11-20T10:00:00Z", endTime: "2026-11-20T10:00:00Z" };
  assert.deepEqual(await refused("", { ...backwards, limit: "1001", isActive: "yes", user: "x" }), [
    "isActive type",
    "limit maximum",
    "startTime time_range.invalid",
    "user unknown_parameter",
  ]);
  assert.deepEqual(await refused("/stats", { ...backwards, limit: "1" }), [
    "limit unknown_parameter",
    "startTime time_range.invalid",
  ]);
  assert.deepEqual(await refused("/s/traces", { limit: "0", cursor: "x" }), ["cursor cursor.invalid", "limit minimum"]);
});
