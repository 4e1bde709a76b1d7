import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { QueryTimeout, StoreUnavailable } from "../core/errors.ts";
import { connect } from "./connection.ts";
import type { Connection } from "./connection.ts";
import type { ParamValue } from "./contract.ts";
import { engineForTests, until } from "./embedded/engine-for-tests.ts";

/** A connection to a server that is no ClickHouse. */
async function connectionTo(t: TestContext, server: Server): Promise<Connection> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const connection = connect({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    database: "default",
  });
  t.after(async () => {
    await connection.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return connection;
}

const answering = (t: TestContext, listener: RequestListener): Promise<Connection> =>
  connectionTo(t, createServer(listener));

test("parameters of every type arrive as they were sent", async (t) => {
  const { connection } = await engineForTests(t);
  const hard = 'it\'s "a" `b` \\ \\n \n\r\t\b\f\0 {x:String} ; -- /* é 漢 🎉 \u2028 %00 %41+&=#';
  const cases: [type: string, value: ParamValue, expected?: unknown][] = [
    ["String", hard],
    ["String", ""],
    ["String", "\\N"],
    ["String", "x".repeat(100_000)],
    ["Array(String)", [hard, "", "NULL", "]"]],
    ["Array(Array(String))", [[hard], [], ["'"]]],
    ["Array(Nullable(String))", ["a", null]],
    ["Nullable(String)", null],
    ["Nullable(String)", "null"],
    ["Bool", true],
    ["Array(Bool)", [true, false]],
    ["UInt64", 18446744073709551615n, "18446744073709551615"],
    ["Int64", -9223372036854775808n, "-9223372036854775808"],
    ["Array(UInt64)", [1n, 18446744073709551615n], ["1", "18446744073709551615"]],
    ["Float64", -1.5e-7],
    ["Float64", Number.NEGATIVE_INFINITY, "-inf"],
    ["DateTime64(9, 'UTC')", "2026-11-21 03:04:05.123456789"],
    ["Array(UInt8)", []],
    ["FixedString(4)", "ab\0'"],
    ["Identifier", "number", 0],
  ];
  for (const [type, value, expected = value] of cases) {
    const text = typeof expected === "string" && typeof value !== "string" ? "toString({p:_})" : "{p:_}";
    const selected = (
      Array.isArray(expected) && typeof (value as unknown[])[0] === "bigint"
        ? "arrayMap(x -> toString(x), {p:_})"
        : text
    ).replace("_", type);
    const [row] = await connection.rows<{ v: unknown }>({
      sql: `SELECT ${selected} AS v FROM numbers(1)`,
      params: { p: value },
    });
    assert.deepEqual(row!.v, expected, `${type} ${String(value).slice(0, 80)}`);
  }
});

test("a name is a name and a text a text, whatever stands in them", async (t) => {
  const { connection } = await engineForTests(t);
  const table = 't` (n UInt8) ENGINE = Memory; DROP TABLE "x" -- ';
  const column = "a\\b`c\"d'e\n\ne";
  const quoted = "`a\\\\b\\`c\"d'e\n\ne`";
  await connection.command(`CREATE TABLE {t:Identifier} (${quoted} String, n UInt64) ENGINE = MergeTree ORDER BY n`, {
    t: table,
  });
  const block = await connection.bytes({
    sql: `SELECT {v:String} AS ${quoted}, number AS n FROM numbers(3) FORMAT Native`,
    params: { v: "x\n\n; SELECT 1" },
  });
  await connection.insertNative(table, [column, "n"], block);
  await connection.insertNative(table, [column, "n"], [block, block]);
  const rows = await connection.rows({
    sql: `SELECT ${quoted} AS v, count() AS n FROM {t:Identifier} GROUP BY v`,
    params: { t: table },
  });
  assert.deepEqual(rows, [{ v: "x\n\n; SELECT 1", n: 9 }]);
  await connection.command("INSERT INTO {t:Identifier} (n) VALUES ({n:UInt64}), (8)", { t: table, n: 7 });
  assert.deepEqual(
    await connection.rows({ sql: "SELECT n FROM {t:Identifier} WHERE n > 6 ORDER BY n", params: { t: table } }),
    [{ n: 7 }, { n: 8 }],
  );
});

test("an insert of 50 MB is stored whole", async (t) => {
  const { connection } = await engineForTests(t);
  await connection.command("CREATE TABLE t (s String) ENGINE = MergeTree ORDER BY tuple()");
  const block = await connection.bytes({ sql: "SELECT randomString(1000) AS s FROM numbers(50000) FORMAT Native" });
  assert.ok(block.length > 50_000_000);
  const pieces = Array.from({ length: Math.ceil(block.length / 1_000_000) }, (_, i) =>
    block.subarray(i * 1_000_000, (i + 1) * 1_000_000),
  );
  await connection.insertNative("t", ["s"], pieces);
  const stored = await connection.rows({
    sql: "SELECT count() AS n, sum(length(s)) AS bytes, uniqExact(s) AS different FROM t",
  });
  assert.deepEqual(stored, [{ n: 50000, bytes: 50_000_000, different: 50000 }]);
});

test("reads at a time are all answered, each with its own", async (t) => {
  const { connection } = await engineForTests(t);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      connection.rows<{ i: number; s: number }>({
        sql: "SELECT {i:UInt32} AS i, sum(number % ({i:UInt32} + 1)) AS s FROM numbers(200000)",
        params: { i },
      }),
    ),
  );
  for (const [i, [row]] of answers.entries()) {
    let sum = 0;
    for (let n = 0; n < 200_000; n++) sum += n % (i + 1);
    assert.deepEqual(row, { i, s: sum });
  }
});

test("a read that takes too long is stopped in the engine", async (t) => {
  const { connection } = await engineForTests(t, { sessions: 1 });
  await assert.rejects(
    connection.rows({ sql: "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)", maxSeconds: 1 }),
    QueryTimeout,
  );
  // Here the engine never looks at its own limit.
  await assert.rejects(
    connection.rows({
      sql: "SELECT sleepEachRow(1) FROM numbers(60) SETTINGS function_sleep_max_microseconds_per_block = 0",
      maxSeconds: 1,
    }),
    QueryTimeout,
  );
  // The one session is free: nothing goes on behind.
  assert.deepEqual(await connection.rows({ sql: "SELECT 1 AS n" }), [{ n: 1 }]);
});

test("an aborted read throws its signal's reason", async (t) => {
  const { connection } = await engineForTests(t, { sessions: 1 });
  const gone = new AbortController();
  const read = connection.rows({
    sql: "SELECT sum(sipHash64(number)) FROM numbers(1000000000000)",
    signal: gone.signal,
  });
  setImmediate(() => gone.abort(new RangeError("enough")));
  await assert.rejects(read, { name: "RangeError", message: "enough" });
  await assert.rejects(connection.rows({ sql: "SELECT 1", signal: gone.signal }), { message: "enough" });
  assert.deepEqual(await connection.rows({ sql: "SELECT 1 AS n" }), [{ n: 1 }]);
});

test("what the engine refuses for good passes on with its code", async (t) => {
  const { connection, engine } = await engineForTests(t);
  await assert.rejects(connection.rows({ sql: "SELECT * FROM nowhere" }), {
    name: "Error",
    code: "60",
    type: "UNKNOWN_TABLE",
  });
  await assert.rejects(connection.command("CREATE"), { code: "62" });
  await assert.rejects(connection.insertNative("nowhere", ["a"], Buffer.from("x")), { code: "60" });
  await assert.rejects(connection.rows({ sql: "INSERT INTO t SELECT 1" }), { code: "164" });
  const wrong = connect({ url: engine.url, username: engine.username, password: "wrong", database: "default" });
  t.after(() => wrong.close());
  await assert.rejects(wrong.rows({ sql: "SELECT 1" }), { code: "516" });
  await assert.rejects(
    connection.rows({ sql: "SELECT length(groupArray(number)) FROM numbers(10000000000)" }),
    (error) => error instanceof StoreUnavailable,
  );
});

test("reads go on over an engine's restart with the sockets of before", async (t) => {
  const { connection, engine } = await engineForTests(t);
  const read = (): Promise<unknown> => connection.rows({ sql: "SELECT 1 AS n" });
  await Promise.all([read(), read(), read()]);
  const killed = engine.pid!;
  process.kill(killed, "SIGKILL");
  await until(() => engine.state().status === "ready" && engine.pid !== killed);
  assert.deepEqual(
    await Promise.all([read(), read(), read(), read()]),
    Array.from({ length: 4 }, () => [{ n: 1 }]),
  );
});

test("a store that is away, reset, or answers nonsense is unavailable", async (t) => {
  const all = async (connection: Connection): Promise<void> => {
    await assert.rejects(connection.rows({ sql: "SELECT 1" }), StoreUnavailable);
    await assert.rejects(connection.bytes({ sql: "SELECT 1" }), StoreUnavailable);
    await assert.rejects(connection.command("SELECT 1"), StoreUnavailable);
    await assert.rejects(connection.insertNative("t", ["a"], Buffer.from("x")), StoreUnavailable);
    await assert.rejects(connection.ping(), StoreUnavailable);
  };
  const closed = createTcpServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  closed.close();
  const nobody = connect({ url: `http://127.0.0.1:${port}`, database: "default" });
  t.after(() => nobody.close());
  await all(nobody);
  await all(
    await connectionTo(
      t,
      createTcpServer((socket) => socket.destroy()),
    ),
  );
  await all(await answering(t, (_request, response) => response.writeHead(502).end("<html>Bad gateway</html>")));
  await all(
    await answering(t, (_request, response) =>
      response.writeHead(200, { "content-length": 9 }).write("half", () => response.destroy()),
    ),
  );
});

test("errors that pass are unavailable, with the engine's own words as the cause", async (t) => {
  for (const [code, type] of [
    [252, "TOO_MANY_PARTS"],
    [241, "MEMORY_LIMIT_EXCEEDED"],
    [242, "TABLE_IS_READ_ONLY"],
    [999, "KEEPER_EXCEPTION"],
  ] as const) {
    const connection = await answering(t, (request, response) => {
      request.resume();
      response
        .writeHead(500, { "x-clickhouse-exception-code": code })
        .end(`Code: ${code}. DB::Exception: It is so. (${type}) (version 26.7.2.1)`);
    });
    await assert.rejects(connection.insertNative("t", ["a"], Buffer.from("x")), (error) => {
      assert.ok(error instanceof StoreUnavailable);
      assert.match(String(error.cause), /It is so/);
      return true;
    });
  }
});

test("a read on a socket that was reset is tried once more, a write never", async (t) => {
  let requests = 0;
  const connection = await answering(t, (request, response) => {
    requests++;
    if (requests % 2 === 1) request.socket.resetAndDestroy();
    else request.resume().on("end", () => response.end('{"n":1}\n'));
  });
  assert.deepEqual(await connection.rows({ sql: "SELECT 1 AS n" }), [{ n: 1 }]);
  assert.equal(requests, 2);
  await assert.rejects(connection.command("DROP TABLE t"), StoreUnavailable);
  assert.equal(requests, 3);
  requests = 0;
  await assert.rejects(connection.insertNative("t", ["a"], Buffer.from("x")), StoreUnavailable);
  assert.equal(requests, 1);
});

test("inserts and pings do not wait for reads", async (t) => {
  const server = createServer((request, response) => {
    request.resume();
    // Reads are never answered.
    if (request.url === "/ping" || /query=INSERT/.test(request.url!)) request.on("end", () => response.end());
  });
  await connectionTo(t, server);
  const connection = connect({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    database: "d",
    maxConnections: 1,
  });
  t.after(() => connection.close());
  const gone = new AbortController();
  const reads = [1, 2].map((n) => connection.rows({ sql: `SELECT ${n}`, signal: gone.signal }));
  await connection.insertNative("t", ["a"], Buffer.from("x"));
  await connection.ping();
  gone.abort(new Error("enough"));
  for (const read of reads) await assert.rejects(read, { message: "enough" });
});

test("every statement carries its limits, and an insert waits for the shards of a cluster", async (t) => {
  const seen: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    seen.push(new URL(request.url!, "http://x").searchParams);
    request.resume().on("end", () => response.end());
  });
  await connectionTo(t, server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection = connect({ url, database: "d", cluster: "c", maxQueryMemoryBytes: 1000 });
  t.after(() => connection.close());
  await connection.rows({ sql: "SELECT 1" });
  await connection.rows({ sql: "SELECT 1", maxSeconds: 7 });
  await connection.command("CREATE TABLE t");
  await connection.insertNative("t", ["a", "b"], Buffer.from("x"));
  const [read, shortRead, command, insert] = seen;
  assert.deepEqual(
    [read!.get("max_execution_time"), read!.get("max_memory_usage"), read!.get("readonly")],
    ["30", "1000", "2"],
  );
  assert.deepEqual([shortRead!.get("max_execution_time"), shortRead!.get("database")], ["7", "d"]);
  assert.equal(command!.get("max_execution_time"), "600");
  assert.equal(insert!.get("query"), "INSERT INTO `t` (`a`, `b`) FORMAT Native");
  assert.deepEqual([insert!.get("async_insert"), insert!.get("distributed_foreground_insert")], ["0", "1"]);
});
