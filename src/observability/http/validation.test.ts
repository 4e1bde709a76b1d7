import assert from "node:assert/strict";
import { test } from "node:test";
import type { FastifyInstance } from "fastify";
import * as fc from "fast-check";
import { Type } from "typebox";
import { defineRoute } from "./define-route.ts";
import { int64Key, makePage } from "./paging.ts";
import { ordered, timeRange } from "./rules.ts";
import { closed, nullable, pageOf, pageParameters, timestamp, traceId } from "./schemas.ts";
import { problemIn, startTestApi } from "./start-test-api.ts";

function define(app: FastifyInstance): void {
  const shared = { summary: "s", tag: "Test" };
  defineRoute(app, {
    ...shared,
    method: "GET",
    path: "/rows/:traceId",
    params: { traceId: traceId() },
    query: {
      serviceName: Type.Optional(Type.String({ maxLength: 300 })),
      severityMin: Type.Optional(Type.Integer({ minimum: 0, maximum: 24 })),
      severityMax: Type.Optional(Type.Integer({ minimum: 0, maximum: 24 })),
      anyInteger: Type.Optional(Type.Integer()),
      ratio: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
      isActive: Type.Optional(Type.Boolean()),
      types: Type.Optional(Type.Array(Type.Enum(["span", "log"]), { maxItems: 3 })),
      startTime: Type.Optional(timestamp()),
      endTime: Type.Optional(timestamp()),
      apiToken: Type.Optional(Type.String({ maxLength: 3 })),
      orderBy: Type.Enum(["timestamp_asc", "timestamp_desc"], { default: "timestamp_desc" }),
      ...pageParameters(100, 20),
    },
    rules: [timeRange("startTime", "endTime"), ordered("severityMin", "severityMax")],
    cursorKeys: [int64Key],
    response: pageOf(Type.Unknown()),
    handler: ({ query, page }) =>
      makePage(page, [{ ...query, keys: page.keys }, ...Array.from({ length: page.limit }, () => ({}))], () => ["7"]),
  });
  defineRoute(app, {
    ...shared,
    method: "POST",
    path: "/search",
    query: { dryRun: Type.Optional(Type.Boolean()) },
    body: closed({
      query: Type.String({ minLength: 1 }),
      code_verifier: Type.Optional(Type.String({ minLength: 43 })),
      assigned_to: Type.Optional(nullable(Type.String({ maxLength: 5 }))),
      limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
      cursor: Type.Optional(Type.String()),
      time_start: Type.Optional(timestamp()),
      time_end: Type.Optional(timestamp()),
      tags: Type.Optional(Type.Record(Type.String(), Type.String())),
      attribute_filters: Type.Optional(
        Type.Array(
          closed({
            key: Type.String(),
            operator: Type.Enum(["eq", "neq", "contains"]),
            value: Type.Optional(Type.String()),
          }),
          { maxItems: 200 },
        ),
      ),
      target: Type.Optional(
        Type.Union([
          closed({ kind: Type.Literal("agent"), agent_id: Type.String() }),
          closed({
            kind: Type.Literal("webhook"),
            url: Type.String(),
            retries: Type.Optional(Type.Integer({ maximum: 5 })),
          }),
        ]),
      ),
    }),
    rules: [timeRange("time_start", "time_end", "body")],
    cursorKeys: [int64Key],
    response: pageOf(Type.Unknown()),
    handler: ({ body, page }) => makePage(page, [{ ...body, keys: page.keys }, {}], () => ["7"]),
  });
}

const trace = "0af7651916cd43dd8448eb211c80319c";
type Seen = { items: Record<string, unknown>[]; next_cursor: string };

async function start(t: import("node:test").TestContext) {
  const { url } = await startTestApi(t, define);
  const get = (query: string, id = trace) => fetch(`${url}/api/v1/rows/${id}${query === "" ? "" : `?${query}`}`);
  const post = (body: unknown, query = "") =>
    fetch(`${url}/api/v1/search${query}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  /** What is wrong, as `field code` or `field code value`. */
  const wrong = async (response: Promise<Response>): Promise<string[]> => {
    const answer = await response;
    const problem = await problemIn(answer);
    assert.equal(answer.status, 400, JSON.stringify(problem));
    assert.equal(problem.title, "Validation Failed");
    return problem
      .errors!.map(({ field, code, rejected_value }) =>
        [field, code, ...(rejected_value === undefined ? [] : [rejected_value])].join(" "),
      )
      .toSorted();
  };
  const message = async (response: Promise<Response>): Promise<string> =>
    (await problemIn(await response)).errors![0]!.message;
  return { get, post, wrong, message };
}

test("everything that is wrong with path and query is told at once", async (t) => {
  const { get, wrong } = await start(t);
  const query =
    "severityMin=25&severityMax=x&limit=0&startTime=tomorrow&orderBy=timestamp_up&isActive=1&nonsense=1&cursor=zzz&ratio=0&types=span&types=trace";
  assert.deepEqual(await wrong(get(query, "ABC")), [
    "cursor cursor.invalid",
    "isActive type 1",
    "limit minimum 0",
    "nonsense unknown_parameter",
    "orderBy enum timestamp_up",
    "ratio minimum 0",
    "severityMax type x",
    "severityMin maximum 25",
    "startTime format tomorrow",
    "traceId pattern ABC",
    "types[1] enum trace",
  ]);
});

test("everything that is wrong with body and query is told at once, by paths as they were sent", async (t) => {
  const { post, wrong } = await start(t);
  const body = {
    query: "",
    assigned_to: 5,
    limit: 1.5,
    time_start: "2026-02-30T00:00:00Z",
    tags: { "http.route": 7 },
    attribute_filters: [{ key: "a", operator: "equals" }, { operator: "eq", value: null, extra: true }, "x"],
    qurey: "typo",
  };
  assert.deepEqual(await wrong(post(body, "?dryRun=yes")), [
    "assigned_to type 5",
    "attribute_filters[0].operator enum equals",
    "attribute_filters[1].extra unknown_field",
    "attribute_filters[1].key required",
    "attribute_filters[1].value type",
    "attribute_filters[2] type x",
    "dryRun type yes",
    "limit type 1.5",
    "query min_length ",
    "qurey unknown_field",
    "tags.http.route type 7",
    "time_start format 2026-02-30T00:00:00Z",
  ]);
});

test("a body that is no object, and none at all", async (t) => {
  const { post, wrong } = await start(t);
  for (const body of [[], "text", 5, null, true]) {
    const [only, ...more] = await wrong(post(body));
    assert.match(only!, /^body type/);
    assert.deepEqual(more, []);
  }
  assert.deepEqual(await wrong(post(undefined)), ["body required"]);
  assert.deepEqual(await wrong(post({})), ["query required"]);
});

test("of several alternatives, only the one that was meant is spoken of", async (t) => {
  const { post, wrong, message } = await start(t);
  const target = (value: unknown) => post({ query: "q", target: value });
  assert.deepEqual(await wrong(post({ query: "q", assigned_to: "too long" })), ["assigned_to max_length too long"]);
  assert.deepEqual(await wrong(target({ kind: "webhook", url: "u", retries: 9 })), ["target.retries maximum 9"]);
  assert.deepEqual(await wrong(target({ kind: "agent", agent: "x" })), [
    "target.agent unknown_field",
    "target.agent_id required",
  ]);
  assert.deepEqual(await wrong(target("agent")), ["target type agent"]);
  assert.equal(await message(post({ query: "q", assigned_to: 5 })), "Must be a string or null.");
});

test("numbers, booleans and lists of a query string are read strictly", async (t) => {
  const { get, wrong } = await start(t);
  const read = async (query: string): Promise<Record<string, unknown>> => {
    const response = await get(query);
    assert.equal(response.status, 200, query);
    return ((await response.json()) as Seen).items[0]!;
  };
  for (const [text, value] of [
    ["0", 0],
    ["-0", 0],
    ["-7", -7],
    ["9007199254740991", 9007199254740991],
  ] as const) {
    assert.equal((await read(`anyInteger=${text}`)).anyInteger, value);
  }
  for (const text of [
    "",
    "1e2",
    "%205",
    "5%20",
    "+5",
    "0x10",
    "05",
    "1.0",
    "1_000",
    "Infinity",
    "NaN",
    "true",
    "１",
    "--1",
  ]) {
    assert.deepEqual(
      (await wrong(get(`anyInteger=${text}`))).map((line) => line.split(" ", 2).join(" ")),
      ["anyInteger type"],
      text,
    );
  }
  assert.deepEqual(await wrong(get("anyInteger=9007199254740993")), ["anyInteger maximum 9007199254740993"]);
  assert.deepEqual(await wrong(get("anyInteger=-99999999999999999999")), ["anyInteger minimum -99999999999999999999"]);
  assert.deepEqual(await wrong(get("severityMin=99999999999999999999")), ["severityMin maximum 99999999999999999999"]);
  assert.equal((await read("ratio=0.25")).ratio, 0.25);
  for (const text of ["", ".5", "5.", "1e3", "Infinity"])
    assert.equal((await wrong(get(`ratio=${text}`))).length, 1, text);
  assert.equal((await read("isActive=false")).isActive, false);
  for (const text of ["", "TRUE", "1", "yes"]) assert.equal((await wrong(get(`isActive=${text}`))).length, 1, text);
  assert.deepEqual((await read("types=log")).types, ["log"]);
  assert.deepEqual((await read("types=log&types=span")).types, ["log", "span"]);
  assert.deepEqual(await wrong(get("types=log&types=log&types=log&types=log")), ["types max_items"]);
});

test("a value given twice, and percent-encoding that is none", async (t) => {
  const { get, wrong } = await start(t);
  assert.deepEqual(await wrong(get("limit=5&limit=5")), ["limit type"]);
  assert.deepEqual(await wrong(get("serviceName=a&serviceName=b")), ["serviceName type"]);
  assert.deepEqual(await wrong(get("serviceName=%zz&limit=x")), ["limit type x", "serviceName format"]);
  assert.deepEqual(await wrong(get("serviceName=%ff")), ["serviceName format"]);
  assert.deepEqual(await wrong(get("a%zz=1")), ["a%zz unknown_parameter"]);
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    assert.deepEqual(await wrong(get(`${name}=1`)), [`${name} unknown_parameter`]);
  }
});

test("text comes through as it was meant", async (t) => {
  const { get } = await start(t);
  const texts = fc.string({ unit: "grapheme", maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const { items } = (await (await get(`serviceName=${encodeURIComponent(text)}`)).json()) as Seen;
      assert.equal(items[0]!.serviceName, text);
      const { items: form } = (await (await get(new URLSearchParams({ serviceName: text }).toString())).json()) as Seen;
      assert.equal(form[0]!.serviceName, text);
    }),
    { numRuns: 50 },
  );
});

test("a name that is nearly right is answered with the right one", async (t) => {
  const { get, post, message } = await start(t);
  for (const name of ["servicename", "service_name", "ServiceName", "serviceNam", "srviceName"]) {
    assert.match(await message(get(`${name}=a`)), /did you mean `serviceName`\?/, name);
  }
  assert.doesNotMatch(await message(get("zebra=a")), /mean/);
  assert.match(await message(post({ query: "q", attributeFilters: [] })), /did you mean `attribute_filters`\?/);
  assert.match(await message(get("orderBy=timestampDesc")), /did you mean timestamp_desc\?/);
  assert.match(await message(get("startTime=2026-01-26T09:30:00+01:00")), /%2B/);
});

test("rules across fields are told together with the rest, and only of fields that are right", async (t) => {
  const { get, post, wrong } = await start(t);
  const [early, late] = ["2026-01-26T09:30:00Z", "2026-01-26T09:30:00.000000001Z"];
  assert.equal((await get(`startTime=${early}&endTime=${late}`)).status, 200);
  assert.deepEqual(await wrong(get(`startTime=${late}&endTime=${early}&limit=0`)), [
    "limit minimum 0",
    `startTime time_range.invalid ${late}`,
  ]);
  assert.deepEqual(await wrong(get(`startTime=${early}&endTime=2026-01-26T10:30:00%2B01:00`)), [
    `startTime time_range.invalid ${early}`,
  ]);
  assert.deepEqual(await wrong(get(`startTime=${late}&endTime=x`)), ["endTime format x"]);
  assert.equal((await get("severityMin=9&severityMax=9")).status, 200);
  assert.deepEqual(await wrong(get("severityMin=10&severityMax=9")), ["severityMin range.invalid 10"]);
  assert.deepEqual(await wrong(get("severityMin=10&severityMax=99")), ["severityMax maximum 99"]);
  assert.deepEqual(await wrong(post({ query: "q", time_start: late, time_end: early })), [
    `time_start time_range.invalid ${late}`,
  ]);
});

test("cursors belong to their route, filters and order, and to no limit", async (t) => {
  const { get, post, wrong } = await start(t);
  const first = (await (await get("serviceName=a&limit=1")).json()) as Seen;
  const cursor = `cursor=${first.next_cursor}`;
  const again = (await (await get(`serviceName=a&limit=50&orderBy=timestamp_desc&${cursor}`)).json()) as Seen;
  assert.deepEqual(again.items[0]!.keys, ["7"]);
  for (const query of [
    cursor,
    `serviceName=b&${cursor}`,
    `serviceName=a&orderBy=timestamp_asc&${cursor}`,
    `serviceName=a&severityMin=0&${cursor}`,
    "serviceName=a&cursor=",
  ]) {
    assert.deepEqual(await wrong(get(query)), ["cursor cursor.invalid"], query);
  }
  assert.deepEqual(await wrong(get(`serviceName=a&${cursor}`, trace.replace("0", "1"))), ["cursor cursor.invalid"]);
  assert.deepEqual(await wrong(get(`serviceName=b&limit=0&${cursor}`)), ["cursor cursor.invalid", "limit minimum 0"]);
  assert.deepEqual(await wrong(get(`serviceName=b&severityMin=x&${cursor}`)), ["severityMin type x"]);

  const found = (await (await post({ query: "q", limit: 1 })).json()) as Seen;
  const more = (await (await post({ query: "q", cursor: found.next_cursor })).json()) as Seen;
  assert.deepEqual(more.items[0]!.keys, ["7"]);
  assert.deepEqual(await wrong(post({ query: "other", cursor: found.next_cursor })), ["cursor cursor.invalid"]);
  assert.deepEqual(await wrong(get(`serviceName=a&cursor=${found.next_cursor}`)), ["cursor cursor.invalid"]);
});

test("what may be a secret is never repeated, and nothing at length", async (t) => {
  const { get, post } = await start(t);
  const text = await (
    await post({ query: "q", code_verifier: "hunter2", password: "hunter2" }, "?access_token=hunter2")
  ).text();
  assert.doesNotMatch(text, /hunter2/);
  assert.doesNotMatch(await (await get("apiToken=hunter2&acessToken=hunter2")).text(), /hunter2/);
  const { errors } = await problemIn(await get(`serviceName=${"%F0%9F%99%82".repeat(301)}`));
  assert.equal(errors![0]!.rejected_value, "🙂".repeat(200));
});

test("a thousand wrong items are answered with a bounded list", async (t) => {
  const { post } = await start(t);
  const body = { query: "q", attribute_filters: Array.from({ length: 5000 }, () => ({})) };
  const { errors } = await problemIn(await post(body));
  assert.ok(errors!.length >= 100 && errors!.length <= 300, String(errors!.length));
});

test("no body and no query makes the server fail", async (t) => {
  const { get, post } = await start(t);
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue({ maxDepth: 4 }),
      fc.dictionary(
        fc.constantFrom("query", "limit", "target", "tags", "attribute_filters", "cursor", "time_start"),
        fc.jsonValue(),
      ),
      async (any, fields) => {
        for (const body of [any, fields]) {
          const { status } = await post(body);
          assert.ok(status === 200 || status === 400, JSON.stringify(body));
        }
      },
    ),
    { numRuns: 100 },
  );
  await fc.assert(
    fc.asyncProperty(fc.webQueryParameters(), async (query) => {
      const { status } = await get(query.slice(0, 2000));
      assert.ok(status === 200 || status === 400, query);
    }),
    { numRuns: 50 },
  );
});

test("a declaration that would let something pass silently is refused", async (t) => {
  const { app } = await startTestApi(t);
  const shared = { method: "POST", summary: "s", tag: "Test", response: Type.Unknown(), handler: () => ({}) } as const;
  assert.throws(() => defineRoute(app, { ...shared, path: "/a", body: Type.Object({}) }), /open object/);
  assert.throws(
    () => defineRoute(app, { ...shared, path: "/b", body: closed({ inner: Type.Array(Type.Object({})) }) }),
    /body\.inner\[\] is an open object/,
  );
  assert.throws(
    () => defineRoute(app, { ...shared, path: "/c", query: { n: Type.Integer({ multipleOf: 3 }) } }),
    /multipleOf/,
  );
  assert.throws(() => defineRoute(app, { ...shared, path: "/d", query: pageParameters(10, 5) }), /cursorKeys/);
  assert.throws(() => defineRoute(app, { ...shared, path: "/e/:id" }), /parameters/);
});
