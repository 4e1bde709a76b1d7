import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { TestContext } from "node:test";
import { engineForTests, until } from "./engine-for-tests.ts";
import type { Engine } from "./engine.ts";

interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly text: string;
  readonly headers: Headers;
}

/** Speaks to the interface as any HTTP client would. */
function speaker({ url, username, password }: Engine) {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  return async (search: Record<string, string>, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(`${url}/?${new URLSearchParams(search)}`, {
      method: "POST",
      ...init,
      headers: { authorization, ...(init.headers as Record<string, string>) },
    });
    const text = await response.text();
    return {
      status: response.status,
      code: response.headers.get("x-clickhouse-exception-code"),
      text,
      headers: response.headers,
    };
  };
}

/** With one session for reads every query meets what the one before it has left. */
async function oneSession(t: TestContext) {
  const { engine, connection, directory } = await engineForTests(t, { sessions: 1 });
  return { engine, connection, directory, ask: speaker(engine) };
}

test("a query comes in the body or in the URL, and its answer says what it read", async (t) => {
  const { ask } = await oneSession(t);
  const inBody = await ask({ default_format: "JSONEachRow", query_id: "abc" }, { body: "SELECT 1 AS n" });
  assert.deepEqual([inBody.status, inBody.text], [200, '{"n":1}\n']);
  assert.equal(inBody.headers.get("x-clickhouse-query-id"), "abc");
  const inUrl = await ask({ query: "SELECT number FROM numbers(3)" }, { method: "GET" });
  assert.deepEqual([inUrl.status, inUrl.text], [200, "0\n1\n2\n"]);
  assert.equal((JSON.parse(inUrl.headers.get("x-clickhouse-summary")!) as { read_rows: string }).read_rows, "3");
  assert.equal(
    (await ask({}, { body: "SELECT 'é\n\n; x' AS `a\n\nb` FORMAT JSONEachRow" })).text,
    '{"a\\n\\nb":"é\\n\\n; x"}\n',
  );
});

test("ping needs no password, and everything else the right one", async (t) => {
  const { engine } = await oneSession(t);
  const get = (path: string, headers: Record<string, string>) => fetch(engine.url + path, { headers });
  const ping = await get("/ping", {});
  assert.deepEqual([ping.status, await ping.text()], [200, "Ok.\n"]);
  const query = "/?query=SELECT%201";
  for (const headers of [
    {},
    { "x-clickhouse-user": engine.username, "x-clickhouse-key": "wrong" },
    { "x-clickhouse-user": "default" },
    { authorization: `Basic ${Buffer.from(`${engine.username}:`).toString("base64")}` },
    { authorization: "Basic !" },
    { authorization: `Bearer ${engine.password}` },
  ] as Record<string, string>[]) {
    const response = await get(query, headers);
    assert.equal(response.status, 403, JSON.stringify(headers));
    assert.equal(response.headers.get("x-clickhouse-exception-code"), "516");
    assert.match(await response.text(), /^Code: 516\. DB::Exception: .*\(AUTHENTICATION_FAILED\)/);
  }
  const right = await get(query, { "x-clickhouse-user": engine.username, "x-clickhouse-key": engine.password });
  assert.equal(await right.text(), "1\n");
});

test("errors have ClickHouse's text, code and status", async (t) => {
  const { ask } = await oneSession(t);
  const cases: [sql: string, status: number, code: string, search?: Record<string, string>][] = [
    ["SELECT * FROM nowhere", 404, "60"],
    ["SELEC 1", 400, "62"],
    ["SELECT 1; SELECT 2", 400, "62"],
    ["", 400, "62"],
    ["-- nothing", 400, "62"],
    ["SELECT 'a\0b'", 400, "62"],
    ["SELECT {a:String}", 400, "456"],
    ["SELECT {a:UInt8}", 400, "457", { param_a: "many" }],
    ["SELECT 1", 404, "115", { no_such_setting: "1" }],
    ["SELECT 1", 404, "115", { "max_threads = 1, readonly": "1" }],
    ["SELECT 1", 404, "81", { database: "nowhere" }],
    ["SELECT 1", 501, "48", { session_id: "s" }],
    ["SELECT 1", 400, "36", { query: "SELECT 2" }],
    ["SELECT sum(sipHash64(number)) FROM numbers(1000000000000)", 408, "159", { max_execution_time: "1" }],
    ["SELECT length(groupArray(number)) FROM numbers(1000000000)", 500, "241", { max_memory_usage: "50000000" }],
    ["CREATE TABLE t (n UInt8) ENGINE = Memory", 500, "164", { readonly: "1" }],
    ["WITH 1 AS n INSERT INTO t SELECT n", 500, "164", { readonly: "2" }],
    ['INSERT INTO t FORMAT JSONEachRow {"n":1}\n\n; SELECT 1', 400, "36"],
    ["INSERT INTO t FORMAT Native", 400, "36"],
    [`SELECT '${"x".repeat(1 << 20)}'`, 413, "307"],
  ];
  for (const [sql, status, code, search = {}] of cases) {
    const answer = await ask(search, { body: sql });
    assert.deepEqual([answer.status, answer.code], [status, code], `${sql.slice(0, 80)}: ${answer.text}`);
    assert.match(answer.text, new RegExp(`^Code: ${code}\\. DB::Exception: [^]+ \\([A-Z_]+\\)\\s*$`));
  }
  assert.equal((await ask({}, { method: "PUT", body: "SELECT 1" })).status, 405);
  assert.equal((await ask({}, { body: "SELECT 1", headers: { "content-encoding": "gzip" } })).status, 501);
});

test("nothing that a query sets reaches the next one", async (t) => {
  const { ask } = await oneSession(t);
  const state = `SELECT name, value FROM system.settings
    WHERE changed OR name IN ('max_threads', 'max_execution_time', 'async_insert', 'max_memory_usage') ORDER BY name`;
  const at = async (): Promise<string> =>
    (await ask({}, { body: `${state} UNION ALL SELECT 'db', currentDatabase()` })).text;
  const before = await at();
  assert.match(before, /async_insert\t0\n/);
  await ask({}, { body: "CREATE DATABASE other" });
  const leaks: [search: Record<string, string>, sql: string][] = [
    [{ max_threads: "1", max_execution_time: "5" }, "SELECT 1"],
    [{ max_memory_usage: "0", async_insert: "1" }, "SELECT 1"],
    [{ max_threads: "1" }, "SELECT * FROM nowhere"],
    [{}, "SET max_threads = 1"],
    [{ database: "other" }, "SELECT 1"],
    [{ database: "other" }, "SELECT * FROM nowhere"],
    [{}, "USE other"],
    [{}, "SELECT 1 SETTINGS max_threads = 1"],
    [{ param_a: "secret" }, "SELECT {a:String}"],
    [{}, "CREATE TEMPORARY TABLE scratch (n UInt8)"],
  ];
  for (const [search, sql] of leaks) {
    await ask(search, { body: sql });
    assert.equal(await at(), before, `${JSON.stringify(search)} ${sql}`);
  }
  assert.equal((await ask({}, { body: "SELECT {a:String}" })).code, "456");
  assert.equal((await ask({}, { body: "SELECT * FROM scratch" })).code, "60");
});

test("rows in the body are stored whatever bytes they hold, and never run", async (t) => {
  const { ask, directory } = await oneSession(t);
  await ask({}, { body: "CREATE TABLE t (`a'b` String, n UInt64) ENGINE = MergeTree ORDER BY n" });
  const insert = (query: string, body: string) => ask({ query }, { body });
  const json = await insert(
    "INSERT INTO t FORMAT JSONEachRow",
    '{"a\'b":"x","n":1}\n\n;\n{"a\'b":"\\n\\n; DROP TABLE t","n":2}\n',
  );
  assert.deepEqual([json.status, json.code], [400, "27"], "a semicolon is no row");
  const good = await insert(
    "INSERT INTO t FORMAT JSONEachRow",
    '{"a\'b":"x","n":1}\n\n{"a\'b":"\\n\\n; DROP TABLE t","n":2}\n',
  );
  assert.deepEqual([good.status, good.text], [200, ""]);
  assert.equal((JSON.parse(good.headers.get("x-clickhouse-summary")!) as { written_rows: string }).written_rows, "2");
  assert.equal((await insert("INSERT INTO t (n) SETTINGS max_insert_threads = 1 FORMAT TSV", "3\n")).status, 200);
  assert.equal((await ask({}, { body: "SELECT count(), max(`a'b`) FROM t" })).text, "3\tx\n");
  assert.equal((await insert("INSERT INTO t FORMAT Native", "no native block")).status, 500);
  assert.equal((await insert("INSERT INTO t FORMAT Native", "")).code, "108");
  assert.equal((await insert("INSERT INTO nowhere FORMAT TSV", "1\n")).code, "60");
  assert.equal((await insert("INSERT INTO t FORMAT TSV 1", "1\n")).code, "36");
  assert.equal((await ask({}, { body: "SELECT count() FROM t" })).text, "3\n");
  assert.deepEqual(readdirSync(join(directory, "incoming")), []);
});

test("a client that goes takes its query with it, running or waiting, but not its insert", async (t) => {
  const { ask, connection } = await oneSession(t);
  const endless = "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)";
  for (const waitMs of [0, 50, 300]) {
    const gone = new AbortController();
    const running = ask({ max_execution_time: "0" }, { body: endless, signal: gone.signal });
    const waiting = ask({ max_execution_time: "0" }, { body: endless, signal: gone.signal });
    await delay(waitMs);
    gone.abort();
    await assert.rejects(running, { name: "AbortError" });
    await assert.rejects(waiting, { name: "AbortError" });
    // The only session is free again, which it is when the engine has really stopped.
    assert.equal((await ask({}, { body: "SELECT 1" })).text, "1\n");
  }
  await connection.command("CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n");
  const gone = new AbortController();
  const insert = ask(
    {},
    { body: "INSERT INTO t SELECT number + sleepEachRow(0.001) FROM numbers(300)", signal: gone.signal },
  );
  await delay(100);
  gone.abort();
  await assert.rejects(insert, { name: "AbortError" });
  await until(async () => (await connection.rows<{ n: number }>({ sql: "SELECT count() AS n FROM t" }))[0]!.n === 300);
});

test("an answer too large to be held is an error", async (t) => {
  const { ask } = await oneSession(t);
  const answer = await ask({}, { body: "SELECT repeat(toString(number), 200) FROM numbers(1000000)" });
  assert.deepEqual([answer.status, answer.code], [500, "396"]);
});
