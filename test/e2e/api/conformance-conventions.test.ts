// What holds for every route: prefixes, error bodies, response headers, refusals, bodies, parameters and times.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { text as readText } from "node:stream/consumers";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient, problemOf, violationsOf } from "./client.ts";
import type { Client } from "./client.ts";
import { randomId, sendSpans } from "./send-otlp.ts";

let vigil: RunningVigil;
let client: Client;

before(async () => {
  vigil = await startVigil();
  client = createClient(vigil.url);
});
after(() => vigil.stop());

const logs = "/api/v1/logs";
const deployments = "/api/v1/deployments";
type Headers = Readonly<Record<string, string>>;
const deployment = { service_name: "a", service_version: "1.0.0", environment: "staging", strategy: "rolling" };

test("the two routes that the document puts under /v1 answer under both prefixes, the others under /api/v1 alone", async () => {
  const traceId = randomId(16);
  await sendSpans(client, { "service.name": "prefixes" }, [{ traceId }]);
  const [short, long] = await Promise.all([
    client.read(`/v1/traces/${traceId}/spans`),
    client.read(`/api/v1/traces/${traceId}/spans`),
  ]);
  assert.deepEqual(short, long);
  for (const path of ["/v1/deployments", deployments]) await client.ask("POST", path, { body: deployment });
  for (const path of ["/v1/services", "/v1/logs/stats", `/v1/traces/${traceId}`, "/services", "/api/logs"]) {
    assert.equal((await client.send("GET", path)).status, 404, path);
  }
});

test("an unknown route is 404 with resource_type route and the path as resource_id", async () => {
  for (const path of ["/api/v1/nothing", "/api/v1/logs/nothing/at-all", "/api/v2/logs", "/nothing"]) {
    const problem = problemOf(await client.send("GET", `${path}?a=b`), path);
    assert.deepEqual([problem["resource_type"], problem["resource_id"]], ["route", path]);
  }
});

test("a wrong method is 405 with Allow", async () => {
  const routes: [string, string, RegExp][] = [
    ["POST", logs, /^GET/],
    ["DELETE", logs, /^GET/],
    ["GET", "/api/v1/logs/search", /^POST$/],
    ["PUT", "/api/v1/logs/stats", /^GET/],
    ["PUT", deployments, /POST/],
    ["DELETE", `${deployments}/x`, /PATCH/],
    ["GET", "/v1/deployments", /^POST$/],
    ["POST", `/v1/traces/${randomId(16)}/spans`, /^GET/],
    ["GET", "/v1/logs", /POST/],
    ["GET", "/v1/traces", /POST/],
  ];
  for (const [method, path, allow] of routes) {
    const answer = await client.send(method, path);
    assert.equal(answer.status, 405, `${method} ${path}`);
    problemOf(answer, path);
    assert.match(answer.headers["allow"] ?? "", allow, `${method} ${path}`);
  }
});

test("a body over the limit is 413, one of another media type or compressed is 415", async () => {
  const large = await client.send("POST", deployments, { body: { ...deployment, git_branch: "x".repeat(1_100_000) } });
  assert.equal(large.status, 413);
  problemOf(large, deployments);
  const refused: readonly Headers[] = [
    { "content-type": "text/plain" },
    { "content-type": "application/x-www-form-urlencoded" },
    { "content-type": "application/xml" },
    { "content-encoding": "gzip" },
  ];
  for (const headers of refused) {
    const answer = await client.send("POST", deployments, { body: deployment, headers });
    assert.equal(answer.status, 415, JSON.stringify(headers));
    problemOf(answer, deployments);
  }
  const charset = { "content-type": "Application/JSON; charset=UTF-8" };
  await client.ask("POST", deployments, { body: deployment, headers: charset });
});

test("a body that is no JSON, no UTF-8, no object or missing is 400", async () => {
  const bad = [`{"service_name":`, "{'a':1}", "", Buffer.from([0x7b, 0xff, 0x7d]), '{"__proto__":{"a":1}}', "nul"];
  for (const body of bad) {
    const found = await client.refusals("POST", deployments, { body });
    assert.deepEqual(found, [body === "" ? "required body" : "format body"], String(body));
  }
  for (const body of ["[]", '"text"', "1", "null", "true"]) {
    assert.deepEqual(await client.refusals("POST", deployments, { body }), ["type body"], body);
  }
});

test("a well-formed X-Request-Id is kept, another one is made; both ids are on every answer", async () => {
  const kept = ["a", "A.b_c-9", "x".repeat(128)];
  const made = ["", "x".repeat(129), "a b", "a/b", "é", "a,b"];
  for (const path of [logs, "/api/v1/nothing", `${logs}?limit=0`, "/api/v1/health", "/openapi.json"]) {
    for (const id of [...kept, ...made]) {
      const header = Buffer.from(id).toString("latin1");
      const answer = await client.send("GET", path, { headers: { "x-request-id": header } });
      const answered = String(answer.headers["x-request-id"]);
      if (kept.includes(id)) assert.equal(answered, id);
      else assert.notEqual(answered, header);
      assert.match(answered, /^[A-Za-z0-9._-]{1,128}$/);
      assert.match(String(answer.headers["x-trace-id"]), /^[0-9a-f]{32}$/);
    }
  }
  const telemetry = await client.send("POST", "/v1/logs", { body: {} });
  assert.match(String(telemetry.headers["x-request-id"]), /^[A-Za-z0-9._-]{1,128}$/);
  assert.match(String(telemetry.headers["x-trace-id"]), /^[0-9a-f]{32}$/);
});

test("X-Trace-Id is the caller's trace where it names one", async () => {
  const traceId = randomId(16);
  const answer = await client.send("GET", logs, { headers: { traceparent: `00-${traceId}-${randomId(8)}-01` } });
  assert.equal(answer.headers["x-trace-id"], traceId);
  for (const traceparent of [
    `00-${"0".repeat(32)}-${randomId(8)}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    traceId,
    "",
  ]) {
    const other = await client.send("GET", logs, { headers: { traceparent } });
    assert.match(String(other.headers["x-trace-id"]), /^(?!0{32})[0-9a-f]{32}$/);
    assert.notEqual(other.headers["x-trace-id"], traceId, traceparent);
  }
});

test("a request whose Host is not loopback or whose Origin is foreign is refused with 403", async () => {
  const { port } = new URL(vigil.url);
  const refused: readonly Headers[] = [
    { host: "evil.example" },
    { host: `evil.example:${port}` },
    { host: "127.0.0.1.evil.example" },
    { host: "10.0.0.1" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: `http://localhost:${Number(port) + 1}` },
  ];
  for (const headers of refused) {
    for (const [method, path] of [
      ["GET", logs],
      ["POST", deployments],
      ["GET", "/api/v1/nothing"],
    ] as const) {
      const answer = await client.send(method, path, { headers });
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
      problemOf(answer, path);
    }
  }
  const taken: readonly Headers[] = [
    { host: `localhost:${port}` },
    { host: "[::1]" },
    { origin: `http://127.0.0.1:${port}` },
  ];
  for (const headers of taken) {
    assert.equal((await client.send("GET", logs, { headers })).status, 200, JSON.stringify(headers));
  }
  const refusedExport = await client.send("POST", "/v1/logs", {
    body: {},
    headers: { origin: "https://evil.example" },
  });
  assert.equal(refusedExport.status, 403);
});

test("errors of the OTLP routes are a Status in the request's encoding", async () => {
  const wrong: [object, number][] = [
    [{ body: "{" }, 400],
    [{ body: "{}", headers: { "content-type": "text/plain" } }, 415],
    [{ body: {}, headers: { host: "evil.example" } }, 403],
  ];
  for (const [send, status] of wrong) {
    const answer = await client.send("POST", "/v1/traces", send);
    assert.equal(answer.status, status, answer.text);
    if (status === 415) continue;
    assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
    const body = JSON.parse(answer.text) as Record<string, unknown>;
    assert.deepEqual([typeof body["message"], body["title"]], ["string", undefined]);
  }
});

test("an unknown parameter or field is 400, and the message names one that is close", async () => {
  const far = violationsOf(await client.send("GET", logs, { query: "colour=red" }));
  assert.deepEqual([far[0]!.code, far[0]!.field], ["unknown_parameter", "colour"]);
  assert.doesNotMatch(far[0]!.message, /did you mean/);
  for (const [path, sent, meant] of [
    [logs, "servicename", "serviceName"],
    [logs, "service_name", "serviceName"],
    [logs, "sevrityMin", "severityMin"],
    ["/api/v1/logs/patterns", "mincount", "minCount"],
    ["/api/v1/logs/stats", "startTme", "startTime"],
    ["/api/v1/services", "namespace_name", "namespaceName"],
    ["/api/v1/sessions/stats", "end_time", "endTime"],
    [`/v1/traces/${randomId(16)}/spans`, "limt", "limit"],
  ] as const) {
    const [found] = violationsOf(await client.send("GET", path, { query: `${sent}=1` }));
    assert.deepEqual([found!.code, found!.field], ["unknown_parameter", sent], path);
    assert.ok(found!.message.includes(`did you mean \`${meant}\`?`), `${path}: ${found!.message}`);
  }
  const field = violationsOf(await client.send("POST", deployments, { body: { ...deployment, gitBranch: "main" } }));
  assert.deepEqual([field[0]!.code, field[0]!.field], ["unknown_field", "gitBranch"]);
  assert.ok(field[0]!.message.includes("did you mean `git_branch`?"), field[0]!.message);
});

test("every violation of a request is reported at once", async () => {
  const query =
    "limit=0&severityMin=25&severityMax=-1&traceId=XYZ&startTime=yesterday&orderBy=random&cursor=x&zzz=1&query=%22a";
  assert.deepEqual(await client.refusals("GET", logs, { query }), [
    "cursor.invalid cursor",
    "enum orderBy",
    "format startTime",
    "maximum severityMin",
    "minimum limit",
    "minimum severityMax",
    "pattern traceId",
    "query.invalid query",
    "unknown_parameter zzz",
  ]);
  const body = { service_name: "", service_version: "v1", environment: "prod", deployed_by: 5, colour: 1 };
  assert.deepEqual(await client.refusals("POST", deployments, { body }), [
    "enum environment",
    "min_length service_name",
    "pattern service_version",
    "required strategy",
    "type deployed_by",
    "unknown_field colour",
  ]);
});

test("rejected_value repeats what was sent, cut at 200 characters, and never a secret", async () => {
  const reject = async (query: Record<string, string>) => violationsOf(await client.send("GET", logs, { query }))[0]!;
  assert.equal((await reject({ severityMin: "25" })).rejected_value, "25");
  assert.equal((await reject({ traceId: "z".repeat(500) })).rejected_value, "z".repeat(200));
  assert.equal((await reject({ token: "hunter2" })).rejected_value, undefined);
});

test("a parameter given twice, an empty number and broken percent-encoding are 400", async () => {
  assert.deepEqual(await client.refusals("GET", logs, { query: "limit=1&limit=2" }), ["type limit"]);
  for (const text of ["", "1e2", "0x10", "1.5", "+5", "%205", "abc", "１"]) {
    assert.deepEqual(
      await client.refusals("GET", logs, { query: `limit=${encodeURI(text).replace("%25", "%")}` }),
      ["type limit"],
      text,
    );
  }
  assert.deepEqual(await client.refusals("GET", logs, { query: "serviceName=%ff" }), ["format serviceName"]);
});

test("a time that is no RFC 3339 date-time, or no day of the calendar, is 400", async () => {
  const wrong = [
    "2026-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-10T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:61Z",
    "2026-01-01T00:00:00",
    "2026-01-01",
    "1767225600",
    "",
    "2026-01-01T00:00:00+25:00",
    "2026-01-01T00:00:00.Z",
  ];
  for (const path of [
    logs,
    "/api/v1/logs/patterns",
    "/api/v1/logs/stats",
    "/api/v1/sessions/stats",
    "/api/v1/traces",
  ]) {
    for (const startTime of wrong) {
      assert.deepEqual(await client.refusals("GET", path, { query: { startTime } }), ["format startTime"], startTime);
    }
  }
  for (const startTime of [
    "2024-02-29T00:00:00Z",
    "2026-01-01t00:00:00z",
    "2026-01-01T00:00:00.123456789-08:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
  ]) {
    assert.equal((await client.send("GET", logs, { query: { startTime } })).status, 200, startTime);
  }
});

test("startTime at or after endTime is 400 time_range.invalid, offsets considered", async () => {
  const paths = [
    "logs",
    "logs/patterns",
    "logs/stats",
    "sessions",
    "sessions/stats",
    "traces",
    "deployments",
    "deployments/metrics/dora",
  ];
  for (const path of paths.map((name) => `/api/v1/${name}`)) {
    for (const [startTime, endTime] of [
      ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
      ["2026-01-01T00:00:00.000000001Z", "2026-01-01T00:00:00Z"],
      ["2026-01-01T00:00:00Z", "2026-01-01T00:30:00+01:00"],
    ] as const) {
      assert.deepEqual(
        await client.refusals("GET", path, { query: { startTime, endTime } }),
        ["time_range.invalid startTime"],
        path,
      );
    }
    const query = { startTime: "2026-01-01T00:00:00Z", endTime: "2026-01-01T00:00:00.000000001Z" };
    assert.equal((await client.send("GET", path, { query })).status, 200, path);
  }
});

test("what is not HTTP at all is answered and closed", async () => {
  const { hostname, port } = new URL(vigil.url);
  const socket = connect(Number(port), hostname);
  socket.write("NONSENSE\r\n\r\n");
  assert.match(await readText(socket), /^HTTP\/1\.1 400 [\s\S]*application\/problem\+json/);
});
