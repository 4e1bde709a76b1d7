import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { createLog } from "../../../core/log.ts";
import { hashMask } from "../../../telemetry/masks/mask-hash.ts";
import { createApi } from "../../http/server.ts";
import { openTables } from "../tables-for-tests.ts";
import type { Tables } from "../tables-for-tests.ts";
import { readPatterns } from "./read.ts";
import type { LogPattern } from "./read.ts";
import { patternRoutes } from "./routes.ts";

let tables: Tables;
let app: FastifyInstance;
const noonMs = Date.UTC(2026, 10, 20, 12);
const minute = 60_000_000_000n;
const noon = BigInt(noonMs) * 1_000_000n;
let seq = 0;

before(async () => {
  tables = await openTables();
  app = createApi({ log: createLog("silent"), version: "0.0.0", access: { mode: "local" } });
  patternRoutes(app, tables, () => noonMs);
  await app.ready();
});

after(async () => {
  await app.close();
  await tables.close();
});

/** A row as the writer would store it. */
function row(service: string, ts: bigint, body: string, more: Readonly<Record<string, unknown>> = {}) {
  const bytes = new TextEncoder().encode(body);
  const hash = { hi: 0, lo: 0 };
  hashMask(bytes, 0, bytes.length, hash);
  const bodyMask = (BigInt(hash.hi >>> 0) << 32n) | BigInt(hash.lo >>> 0);
  seq += 1;
  return {
    workspace: "default",
    service_name: service,
    seq,
    ts,
    body,
    body_mask: bodyMask,
    body_type: "s",
    severity_number: 9,
    severity_text: "INFO",
    ...more,
  };
}

async function get(query: Record<string, string | number>, status = 200) {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const answer = await app.inject({ url: `/api/v1/logs/patterns?${parameters}`, headers: { host: "localhost" } });
  assert.equal(answer.statusCode, status, answer.body);
  return answer;
}

async function list(query: Record<string, string | number>): Promise<LogPattern[]> {
  return (await get(query)).json<LogPattern[]>();
}

test("a pattern has every field, over exactly the records of the range", async () => {
  const start = noon - 60n * minute;
  await tables.insert("logs", [
    row("fields", start - 1n, "took 1 ms"),
    row("fields", start, "took 2 ms", { severity_number: 17, severity_text: "ERROR" }),
    row("fields", start + 123_456_789n, "took 3 ms"),
    row("fields", noon - 1n, "took 4 s"),
    row("fields", noon, "took 5 ms"),
    row("fields", start, "started", { severity_number: 0, severity_text: "UNSPECIFIED" }),
    row("fields", start, "took 6 ms", { workspace: "other" }),
  ]);
  const range = { startTime: "2026-11-20T11:00:00Z", endTime: "2026-11-20T12:00:00Z", serviceName: "fields" };
  const [took, started, ...none] = await list(range);
  assert.deepEqual(none, []);
  assert.match(took!.pattern_id, /^[0-9a-f]{16}$/);
  assert.deepEqual(took, {
    pattern_id: took!.pattern_id,
    template: "took <*>",
    sample: "took 4 s",
    count: 3,
    first_seen: "2026-11-20T11:00:00.000000000Z",
    last_seen: "2026-11-20T11:59:59.999999999Z",
    trend: "decreasing",
    severity_distribution: [
      { severity: 17, severity_text: "ERROR", count: 1, percentage: (1 / 3) * 100 },
      { severity: 9, severity_text: "INFO", count: 2, percentage: (2 / 3) * 100 },
    ],
  });
  assert.equal(started!.template, "started");
  assert.deepEqual(started!.severity_distribution, [
    { severity: 0, severity_text: "UNSPECIFIED", count: 1, percentage: 100 },
  ]);
  assert.deepEqual(
    (await list({ ...range, minCount: 2 })).map(({ template }) => template),
    ["took <*>"],
  );
  assert.deepEqual(await list({ ...range, minCount: 4 }), []);
  const [later] = await list({ ...range, startTime: "2026-11-20T11:30:00Z", endTime: "2026-11-20T12:30:00Z" });
  assert.equal(later!.pattern_id, took!.pattern_id);
  assert.equal(later!.count, 2);
});

test("the range is the last 24 hours, or those before endTime", async () => {
  await tables.insert("logs", [
    row("range", noon - 1441n * minute, "one"),
    row("range", noon - 1440n * minute, "two"),
    row("range", noon - 1n, "three"),
    row("range", noon, "four"),
  ]);
  const templates = async (query: Record<string, string>) =>
    (await list({ serviceName: "range", ...query })).map(({ template }) => template).toSorted();
  assert.deepEqual(await templates({}), ["three", "two"]);
  assert.deepEqual(await templates({ endTime: "2026-11-20T11:59:00Z" }), ["one", "two"]);
  assert.deepEqual(await templates({ startTime: "2026-11-20T11:00:00Z" }), ["three"]);
  assert.deepEqual(await templates({ startTime: "2026-11-20T13:00:00Z" }), []);
  assert.deepEqual(await templates({ startTime: "0001-01-01T00:00:00Z", endTime: "9999-01-01T00:00:00Z" }), [
    "four",
    "one",
    "three",
    "two",
  ]);
  assert.deepEqual(await templates({ startTime: "0001-01-01T00:00:00Z", endTime: "0002-01-01T00:00:00Z" }), []);
});

test("what is wrong with a query is said at once", async () => {
  const answer = await get(
    { startTime: "2026-11-20T12:00:00Z", endTime: "2026-11-20T12:00:00Z", minCount: 0, service: "a" },
    400,
  );
  const { errors } = answer.json<{ errors: { field: string; code: string }[] }>();
  assert.deepEqual(errors.map(({ field, code }) => `${field} ${code}`).toSorted(), [
    "minCount minimum",
    "service unknown_parameter",
    "startTime time_range.invalid",
  ]);
});

test("a pattern is new only where no record of its texts was there before the range", async () => {
  const start = noon - 24n * minute;
  await tables.insert("logs", [
    row("new", start - 1000n * minute, "seen 1 before"),
    row("new", start + 20n * minute, "seen 2 before"),
    row("new", start + 18n * minute, "seen 1 now"),
    row("new", start + 17n * minute, "seen too early"),
    row("else", start - 1000n * minute, "seen 1 now"),
  ]);
  const found = await list({ serviceName: "new", startTime: "2026-11-20T11:36:00Z", endTime: "2026-11-20T12:00:00Z" });
  assert.deepEqual(Object.fromEntries(found.map(({ template, trend }) => [template, trend])), {
    "seen <*> before": "increasing",
    "seen <*> now": "new",
    "seen too early": "increasing",
  });
});

test("words that vary join in one pattern, and the most frequent pattern comes first", async () => {
  const users = ["ann", "bob", "cleo", "dora", "emil", "fay"];
  await tables.insert("logs", [
    ...users.map((user, i) => row("words", noon - BigInt(i + 1) * minute, `mail to ${user} was sent in ${i} ms`)),
    ...Array.from({ length: 8 }, () => row("words", noon - minute, "disk is full")),
  ]);
  const found = await list({ serviceName: "words" });
  assert.deepEqual(
    found.map(({ template, count, sample }) => [template, count, sample]),
    [
      ["disk is full", 8, "disk is full"],
      ["mail to <*> was sent in <*>", 6, "mail to ann was sent in 0 ms"],
    ],
  );
});

test("with more masks than are told apart, the rare ones are one pattern, and no record is lost", async () => {
  const letters = (n: number) => String.fromCharCode(...[n % 26, Math.floor(n / 26) % 26, n % 7].map((l) => 97 + l));
  const rows = Array.from({ length: 60 }, (_, n) =>
    row("many", noon - BigInt(n + 1), `${letters(n)}\n${letters(n * 5)} ${letters(n * 11)}`),
  );
  const often = Array.from({ length: 40 }, (_, n) => row("many", noon - BigInt(n + 100), `written ${n} rows`));
  await tables.insert("logs", [...rows, ...often]);
  const window = { workspace: "default", serviceName: "many", start: noon - minute, end: noon };
  const found = await readPatterns(tables, window, undefined, { groups: 10, masks: 3 });
  assert.equal(
    found.reduce((sum, { count }) => sum + count, 0),
    100,
  );
  assert.equal(found.find(({ template }) => template === "written <*> rows")?.count, 40);
  const others = found.find(({ template }) => template === "<*>")!;
  assert.ok(others.count >= 50);
  assert.equal(others.sample, rows[0]!.body);
  assert.equal(others.severity_distribution[0]!.count, others.count);
});
