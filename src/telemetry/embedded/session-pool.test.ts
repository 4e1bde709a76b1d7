import assert from "node:assert/strict";
import { test } from "node:test";
import { SessionPool } from "./session-pool.ts";
import type { EngineAnswer, EngineSession, Execution, PoolOptions } from "./session-pool.ts";

const nothing: EngineAnswer = { elapsed: 0, rowsRead: 0, bytesRead: 0, bytes: () => new Uint8Array() };

interface Running {
  readonly sql: string;
  end(): void;
  fail(error: Error): void;
}

/** A pool over sessions that end their queries when told to. */
function fakePool(options: Partial<PoolOptions> = {}) {
  const running: Running[] = [];
  const killed: string[] = [];
  let opened = 0;
  let closed = 0;
  const open = (): EngineSession => {
    opened++;
    return {
      queryAsync: (sql) =>
        new Promise((resolve, reject) => {
          const entry: Running = {
            sql,
            end: () => leave(() => resolve(nothing)),
            fail: (error) => leave(() => reject(error)),
          };
          const leave = (settle: () => void): void => {
            running.splice(running.indexOf(entry), 1);
            settle();
          };
          running.push(entry);
        }),
      close: () => closed++,
    };
  };
  const control: EngineSession = {
    queryAsync: async (sql) => {
      killed.push(sql);
      return nothing;
    },
    close: () => {},
  };
  const pool = new SessionPool(control, {
    open,
    size: 1,
    defaults: { a: "1" },
    maxWaiting: 2,
    maxWaitMs: 60_000,
    ...options,
  });
  return { pool, running, killed, counts: () => ({ opened, closed }) };
}

function query(sql: string, more: Partial<Execution> = {}): Execution {
  return { sql, format: "TSV", database: "d", settings: {}, params: {}, ...more };
}

/** Lets settled promises run what waits for them. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a query waits for its turn in order, and past the limit it is refused", async () => {
  const { pool, running } = fakePool();
  const first = pool.run(query("SELECT 1"));
  const second = pool.run(query("SELECT 2"));
  const third = pool.run(query("SELECT 3"));
  await assert.rejects(pool.run(query("SELECT 4")), { code: 202 });
  await turn();
  for (const [n, promise] of [first, second, third].entries()) {
    assert.equal(running.length, 1);
    assert.ok(running[0]!.sql.endsWith(`SELECT ${n + 1}`));
    running[0]!.end();
    await promise;
    await turn();
  }
});

test("a wait ends at its limit, and with its signal", async () => {
  const { pool, running } = fakePool({ maxWaitMs: 1 });
  const first = pool.run(query("SELECT 1"));
  await assert.rejects(pool.run(query("SELECT 2")), { code: 202 });
  const gone = new AbortController();
  const waiting = pool.run(query("SELECT 3", { signal: gone.signal }));
  gone.abort(new Error("gone"));
  await assert.rejects(waiting, { message: "gone" });
  running[0]!.end();
  await first;
  const next = pool.run(query("SELECT 4"));
  await turn();
  running[0]!.end();
  await next;
});

test("an aborted query is killed by its marker, and its session serves the next", async () => {
  const { pool, running, killed } = fakePool();
  const gone = new AbortController();
  const first = pool.run(query("SELECT 1", { signal: gone.signal }));
  await turn();
  const marker = /\/\* vigil [\w-]+ \*\//.exec(running[0]!.sql)?.[0];
  assert.ok(marker);
  gone.abort();
  assert.deepEqual(killed, [`KILL QUERY WHERE startsWith(query, '${marker}') ASYNC`]);
  running[0]!.fail(new Error("Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED)"));
  await assert.rejects(first, { code: 394 });
  const next = pool.run(query("SELECT 2"));
  await turn();
  running[0]!.end();
  await next;
});

test("what is set is set for every query, and a session that was changed otherwise is replaced", async () => {
  const { pool, running, counts } = fakePool();
  const run = async (execution: Execution): Promise<string> => {
    const promise = pool.run(execution);
    await turn();
    const { sql, end } = running[0]!;
    end();
    await promise;
    return sql.replace(/ \/\*.*\*\//, "").replace(/\/\*.*?\*\/ /, "");
  };
  assert.equal(await run(query("SELECT 1")), "USE `d`;\nSET a = '1';\nSELECT 1");
  assert.equal(
    await run(query("SELECT {p:String}", { params: { p: "it's" } })),
    "SET a = '1', param_p = 'it\\'s';\nSELECT {p:String}",
  );
  assert.equal(await run(query("SELECT 1", { settings: { a: "2" } })), "SET a = '2';\nSELECT 1");
  assert.deepEqual(counts(), { opened: 1, closed: 0 });
  assert.equal(await run(query("SELECT 1", { settings: { b: "2" } })), "SET a = '1', b = '2';\nSELECT 1");
  assert.deepEqual(counts(), { opened: 2, closed: 1 });
  assert.equal(await run(query("SELECT 1")), "USE `d`;\nSET a = '1';\nSELECT 1");
  await run(query("SET x = 1"));
  assert.deepEqual(counts(), { opened: 3, closed: 2 });
});

test("closing waits for what runs and refuses the rest", async () => {
  const { pool, running, counts } = fakePool();
  const first = pool.run(query("SELECT 1"));
  const waiting = pool.run(query("SELECT 2"));
  await turn();
  const closed = pool.close();
  await assert.rejects(waiting, { code: 236 });
  await assert.rejects(pool.run(query("SELECT 3")), { code: 236 });
  assert.deepEqual(counts(), { opened: 1, closed: 0 });
  running[0]!.end();
  await first;
  await closed;
  assert.deepEqual(counts(), { opened: 1, closed: 1 });
});
