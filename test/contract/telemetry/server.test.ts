import assert from "node:assert/strict";
import { test } from "node:test";
import { OperatorError, StoreUnavailable } from "../../../src/core/errors.ts";
import { appendSpans, openForTest, openServer, openWire, until } from "./fixture.ts";

/** The server's address by way of a wire, with its user and password. */
function via(wire: { url: string }, server: { address: string }): string {
  return Object.assign(new URL(server.address), { host: new URL(wire.url).host }).href;
}

test("a server that is away at the start is waited for, and its schema made when it comes", async (t) => {
  const server = await openServer(t);
  const wire = await openWire(t);
  const telemetry = await openForTest(t, { directory: "", clickhouseUrl: via(wire, server) });
  assert.equal(telemetry.state().status, "away");
  assert.match(telemetry.state().detail ?? "", /telemetry store/);
  assert.throws(() => appendSpans(telemetry.writer, { service: "shop", names: ["early"] }), StoreUnavailable);
  await assert.rejects(telemetry.rows({ sql: "SELECT 1" }), StoreUnavailable);
  wire.through = server.url;
  await until(() => telemetry.state().status === "ready");
  await appendSpans(telemetry.writer, { service: "shop", names: ["a"] });
  assert.deepEqual(await server.sql("vigil").rows({ sql: "SELECT name FROM spans" }), [{ name: "a" }]);
});

test("a server that goes away fails what waits, is away, and is back when it answers again", async (t) => {
  const server = await openServer(t);
  const wire = await openWire(t);
  wire.through = server.url;
  const telemetry = await openForTest(t, { directory: "", clickhouseUrl: via(wire, server) });
  await appendSpans(telemetry.writer, { service: "shop", names: ["before"] });
  wire.through = undefined;
  await assert.rejects(appendSpans(telemetry.writer, { service: "shop", names: ["lost"] }), StoreUnavailable);
  await until(() => telemetry.state().status === "away");
  assert.throws(() => appendSpans(telemetry.writer, { service: "shop", names: ["refused"] }), StoreUnavailable);
  wire.through = server.url;
  await until(() => telemetry.state().status === "ready");
  await appendSpans(telemetry.writer, { service: "shop", names: ["after"] });
  const rows = await telemetry.rows({ sql: "SELECT name FROM spans ORDER BY seq" });
  assert.deepEqual(rows, [{ name: "before" }, { name: "after" }]);
});

test("a store that is away closes without waiting for it", async (t) => {
  const wire = await openWire(t);
  const telemetry = await openForTest(t, { directory: "", clickhouseUrl: wire.url });
  await telemetry.close();
});

test("a wrong password is a sentence without the password", async (t) => {
  const server = await openServer(t);
  const address = Object.assign(new URL(server.address), { password: "guess-me" }).href;
  await assert.rejects(openForTest(t, { directory: "", clickhouseUrl: address }), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /^ClickHouse at http:\/\/127\.0\.0\.1:\d+ refused Vigil: /);
    assert.doesNotMatch(error.message, /guess-me/);
    return true;
  });
});

test("a database of another name is made and used", async (t) => {
  const server = await openServer(t);
  const telemetry = await openForTest(t, { directory: "", clickhouseUrl: `${server.address}/elsewhere` });
  await appendSpans(telemetry.writer, { service: "shop", names: ["a"] });
  assert.deepEqual(await server.sql("elsewhere").rows({ sql: "SELECT name FROM spans" }), [{ name: "a" }]);
});

test("a cluster without a server is refused", async (t) => {
  await assert.rejects(openForTest(t, { directory: "", cluster: "main" }), {
    name: "OperatorError",
    message: /stores\.clickhouse\.url/,
  });
});
