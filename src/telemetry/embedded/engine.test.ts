import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { OperatorError, StoreUnavailable } from "../../core/errors.ts";
import { createLog } from "../../core/log.ts";
import type { StoreState } from "../contract.ts";
import { engineForTests, temporaryDirectory, until } from "./engine-for-tests.ts";
import { startEngine } from "./engine.ts";

const log = createLog("silent");

test("rows that were acknowledged are there after kill -9, on the same port with the same password", async (t) => {
  const states: StoreState["status"][] = [];
  const { engine, connection } = await engineForTests(t, { onChange: ({ status }) => states.push(status) });
  await connection.command("CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n");
  const { url, password, pid } = engine;
  let acknowledged = 0;
  let acknowledgedAtKill = 0;
  for (let round = 0; round < 3; round++) {
    const block = await connection.bytes({ sql: "SELECT number AS n FROM numbers(1000) FORMAT Native" });
    const killed = engine.pid!;
    try {
      for (let insert = 0; ; insert++) {
        await connection.insertNative("t", ["n"], block);
        acknowledged += 1000;
        if (insert === 5) {
          acknowledgedAtKill = acknowledged;
          process.kill(killed, "SIGKILL");
        }
      }
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error));
    }
    await until(() => engine.state().status === "ready" && engine.pid !== killed);
    const [counted] = await connection.rows<{ n: number }>({ sql: "SELECT count() AS n FROM t" });
    assert.ok(counted!.n >= acknowledged, `${counted!.n} of ${acknowledged} rows`);
    acknowledged = counted!.n;
  }
  assert.ok(acknowledgedAtKill > 0);
  assert.deepEqual([engine.url, engine.password], [url, password]);
  assert.notEqual(engine.pid, pid);
  assert.deepEqual(states.slice(0, 5), ["starting", "ready", "away", "starting", "ready"]);
});

test("a table and its rows are there after an orderly stop and a start", async (t) => {
  const directory = temporaryDirectory(t);
  const first = await engineForTests(t, { directory });
  await first.connection.command("CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n");
  await first.connection.command("INSERT INTO t SELECT number FROM numbers(7)");
  const { pid } = first.engine;
  await first.engine.close();
  assert.equal(isAlive(pid!), false);
  assert.equal(first.engine.pid, undefined);
  assert.equal(first.engine.state().status, "away");
  await assert.rejects(first.connection.ping(), StoreUnavailable);
  const second = await engineForTests(t, { directory });
  assert.deepEqual(await second.connection.rows({ sql: "SELECT sum(n) AS n FROM t" }), [{ n: 21 }]);
});

test("signals of a terminal or a supervisor do not end the engine", async (t) => {
  const { engine, connection } = await engineForTests(t);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGTSTP"] as const) process.kill(engine.pid!, signal);
  assert.deepEqual(await connection.rows({ sql: "SELECT 1 AS n" }), [{ n: 1 }]);
  // A group of its own, so that a terminal's signals do not even reach it.
  if (process.platform === "linux") {
    const group = readFileSync(`/proc/${engine.pid}/stat`, "utf8").split(" ")[4];
    assert.equal(group, String(engine.pid));
  }
});

test("the engine ends with its parent, however that ends, and the next start has the directory", async (t) => {
  const directory = temporaryDirectory(t);
  const program = `
    import { startEngine } from ${JSON.stringify(new URL("engine.ts", import.meta.url).href)};
    import { createLog } from ${JSON.stringify(new URL("../../core/log.ts", import.meta.url).href)};
    const engine = await startEngine({ directory: ${JSON.stringify(directory)}, log: createLog("silent") });
    console.log(engine.pid);
    // Busy, so that it is not only an idle engine that notices.
    await fetch(engine.url + "/?max_execution_time=0", {
      method: "POST",
      headers: { "X-ClickHouse-User": engine.username, "X-ClickHouse-Key": engine.password },
      body: "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)",
    });
  `;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => parent.kill("SIGKILL"));
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  assert.ok(isAlive(pid));
  parent.kill("SIGKILL");
  const { connection } = await engineForTests(t, { directory });
  assert.deepEqual(await connection.rows({ sql: "SELECT 1 AS n" }), [{ n: 1 }]);
  await until(() => !isAlive(pid));
});

test("an engine that hangs is killed and started again", async (t) => {
  const { engine, connection } = await engineForTests(t, { probeEveryMs: 500 });
  const stuck = engine.pid!;
  process.kill(stuck, "SIGSTOP");
  await until(() => !isAlive(stuck));
  await until(() => engine.state().status === "ready");
  assert.deepEqual(await connection.rows({ sql: "SELECT 1 AS n" }), [{ n: 1 }]);
});

test("a directory that another engine holds is refused with a sentence", async (t) => {
  const { directory, connection } = await engineForTests(t);
  await assert.rejects(startEngine({ directory, log, lockWaitMs: 0 }), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /^The telemetry directory .* is in use by another Vigil\. Stop that one/);
    return true;
  });
  assert.deepEqual(await connection.rows({ sql: "SELECT 1 AS n" }), [{ n: 1 }]);
});

test("a directory that cannot be made or opened is refused with a sentence", async (t) => {
  const directory = temporaryDirectory(t);
  writeFileSync(join(directory, "file"), "");
  await assert.rejects(startEngine({ directory: join(directory, "file", "x"), log }), {
    name: "OperatorError",
    message: /cannot be made \(ENOTDIR\)/,
  });
  mkdirSync(join(directory, "spoilt"));
  writeFileSync(join(directory, "spoilt", "db"), "not a directory");
  await assert.rejects(startEngine({ directory: join(directory, "spoilt"), log }), {
    name: "OperatorError",
    message: /^The telemetry engine cannot open /,
  });
});

test("a port that was taken while the engine was down is waited for", async (t) => {
  const { engine, connection } = await engineForTests(t);
  const port = Number(new URL(engine.url).port);
  const thief = createServer();
  const killed = engine.pid!;
  process.kill(killed, "SIGKILL");
  await until(() => !isAlive(killed));
  // The engine may be quicker; then there is nothing to wait for, and the port was never free.
  thief.listen(port, "127.0.0.1").on("error", () => {});
  await until(() => thief.listening || engine.state().status === "ready");
  if (thief.listening) {
    await until(() => /EADDRINUSE/.test(engine.state().detail ?? ""));
    thief.close();
  }
  await until(() => engine.state().status === "ready");
  assert.deepEqual(await connection.rows({ sql: "SELECT 1 AS n" }), [{ n: 1 }]);
  assert.equal(Number(new URL(engine.url).port), port);
});

test("what was left half received is removed at the start, and the directory is its owner's alone", async (t) => {
  const directory = temporaryDirectory(t);
  mkdirSync(join(directory, "incoming"));
  writeFileSync(join(directory, "incoming", "9.rows"), "half");
  await engineForTests(t, { directory });
  assert.equal(existsSync(join(directory, "incoming", "9.rows")), false);
  const fresh = join(directory, "made");
  await engineForTests(t, { directory: fresh });
  assert.equal(statSync(fresh).mode & 0o777, 0o700);
});

test("the limits of the configuration hold in the engine", async (t) => {
  const memoryLimitBytes = 700 * 1024 * 1024;
  const { connection } = await engineForTests(t, { memoryLimitBytes });
  const settings = await connection.rows<{ name: string; value: string }>({
    sql: "SELECT name, value FROM system.server_settings WHERE name IN ('max_server_memory_usage', 'mark_cache_size', 'background_pool_size')",
  });
  assert.deepEqual(Object.fromEntries(settings.map(({ name, value }) => [name, value])), {
    max_server_memory_usage: String(memoryLimitBytes),
    mark_cache_size: String(Math.floor(memoryLimitBytes / 6)),
    background_pool_size: "2",
  });
  // The pool of merges stands once there is a table; each thread may have two merges assigned.
  await connection.command("CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n");
  assert.deepEqual(
    await connection.rows({
      sql: "SELECT value FROM system.metrics WHERE metric = 'BackgroundMergesAndMutationsPoolSize'",
    }),
    [{ value: 4 }],
  );
  // The limit of all, not of one query, which is below it.
  await assert.rejects(
    connection.command("SELECT length(groupArray(number)) FROM numbers(1000000000) SETTINGS max_memory_usage = 0"),
    (error: StoreUnavailable) =>
      error.name === "StoreUnavailable" && /\(total\) memory limit/.test(String(error.cause)),
  );
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
