import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreUnavailable } from "../../../src/core/errors.ts";
import { appendLogs, appendSpans, openForTest, temporaryDirectory } from "./fixture.ts";

test("what was stored is read back, in order of arrival, and is there after a restart", async (t) => {
  const directory = temporaryDirectory(t);
  const first = await openForTest(t, { directory });
  assert.equal(first.state().status, "ready");
  const ts = BigInt(Date.UTC(2026, 10, 21)) * 1_000_000n + 123_456_789n;
  await appendSpans(first.writer, { service: "shop", names: ["a", "b'\n\n; DROP TABLE spans", "ü"], ts });
  await appendSpans(first.writer, { service: "cart", names: ["d"], ts });
  const query = {
    sql: "SELECT workspace, service_name, name, toString(toUnixTimestamp64Nano(ts)) AS nanos FROM spans WHERE workspace = {w:String} ORDER BY seq",
    params: { w: "default" },
  };
  const expected = [
    ["shop", "a"],
    ["shop", "b'\n\n; DROP TABLE spans"],
    ["shop", "ü"],
    ["cart", "d"],
  ];
  const read = async (telemetry: typeof first) => {
    const rows = await telemetry.rows<{ workspace: string; service_name: string; name: string; nanos: string }>(query);
    assert.ok(rows.every((row) => row.workspace === "default" && row.nanos === String(ts)));
    return rows.map((row) => [row.service_name, row.name]);
  };
  assert.deepEqual(await read(first), expected);
  await first.close();
  const second = await openForTest(t, { directory });
  assert.deepEqual(await read(second), expected);
});

test("rows of many requests arrive in one part, each with a number of its own", async (t) => {
  const telemetry = await openForTest(t, { directory: temporaryDirectory(t) });
  const names = Array.from({ length: 200 }, (_, i) => [`${i} a`, `${i} b`]);
  await Promise.all(names.map((pair) => appendSpans(telemetry.writer, { service: "shop", names: pair })));
  const [counts] = await telemetry.rows<Record<string, number>>({
    sql: "SELECT count() AS rows, uniqExact(seq) AS numbers, uniqExact(_part) AS parts FROM spans",
  });
  assert.deepEqual(counts, { rows: 400, numbers: 400, parts: 1 });
  const rows = await telemetry.rows<{ name: string }>({ sql: "SELECT name FROM spans ORDER BY seq" });
  assert.deepEqual(
    rows.map((row) => row.name),
    names.flat(),
  );
});

test("signals are stored side by side; the answer's bytes are the engine's own", async (t) => {
  const telemetry = await openForTest(t, { directory: temporaryDirectory(t) });
  await Promise.all([
    appendSpans(telemetry.writer, { service: "shop", names: ["a"] }),
    appendLogs(telemetry.writer, "shop", "WARN", ["low\tstock", "sold out"]),
  ]);
  const bytes = await telemetry.bytes({
    sql: "SELECT severity_text, body FROM logs ORDER BY seq FORMAT JSONCompactEachRow",
  });
  assert.equal(bytes.toString(), '["WARN", "low\\tstock"]\n["WARN", "sold out"]\n');
});

test("what was accepted before the close is stored by it, and nothing is taken after it", async (t) => {
  const directory = temporaryDirectory(t);
  const first = await openForTest(t, { directory });
  const accepted = appendSpans(first.writer, { service: "shop", names: ["last"] });
  const closing = first.close();
  assert.throws(() => appendSpans(first.writer, { service: "shop", names: ["late"] }), StoreUnavailable);
  await Promise.all([accepted, closing]);
  await assert.rejects(first.rows({ sql: "SELECT 1" }), StoreUnavailable);
  const second = await openForTest(t, { directory });
  assert.deepEqual(await second.rows({ sql: "SELECT name FROM spans" }), [{ name: "last" }]);
});
