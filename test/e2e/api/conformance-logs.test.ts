// The routes of log records: every field, filter, limit and order that the specification names.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startVigil } from "../start-vigil.ts";
import type { RunningVigil } from "../start-vigil.ts";
import { createClient, walk } from "./client.ts";
import type { Client, Page, Query } from "./client.ts";
import { assertFields, logFields } from "./fields.ts";
import { attributes, nowNano, randomId, rfc3339, sendLogs } from "./send-otlp.ts";

interface LogRecord {
  readonly time_unix_nano: number | bigint;
  readonly observed_time_unix_nano: number | bigint;
  readonly severity_number: number;
  readonly severity_text: string;
  readonly body: { readonly string_value?: string };
  readonly attributes: readonly { key: string; value: string }[];
  readonly resource: Readonly<Record<string, unknown>>;
  readonly trace_id?: string;
}

let vigil: RunningVigil;
let client: Client;
const logs = "/api/v1/logs";
/** A multiple of ten seconds, an hour ago: what several tests count from. */
const base = (nowNano() / 10_000_000_000n) * 10_000_000_000n - 3_600_000_000_000n;

before(async () => {
  vigil = await startVigil();
  client = createClient(vigil.url);
});
after(() => vigil.stop());

const list = (query: Query) => client.read<Page<LogRecord>>(logs, query);
const textsOf = (page: Page<LogRecord>) => page.items.map(({ body }) => body.string_value);
const search = (body: object) => client.ask<Page<LogRecord>>("POST", `${logs}/search`, { body });

/** Records whose text is their place in the list, a second apart. */
async function store(service: string, records: readonly object[]): Promise<void> {
  const filled = records.map((record, i) => ({
    timeUnixNano: String(base + BigInt(i) * 1_000_000_000n),
    body: { stringValue: `n${i}` },
    ...record,
  }));
  await sendLogs(client, { "service.name": service }, filled);
}

test("a log record has every field, typed, with all digits of its nanoseconds", async () => {
  const [traceId, spanId] = [randomId(16), randomId(8)];
  const time = base + 123_456_789n;
  await sendLogs(
    client,
    {
      "service.name": "full",
      "service.namespace": "shop",
      "service.version": "1.2.3",
      "process.pid": 4711,
      "telemetry.sdk.language": "nodejs",
      "host.arch": "riscv",
      "os.type": "linux",
      "cloud.provider": "aws",
      "deployment.environment.name": "production",
      "k8s.pod.name": "p-1",
      "own.key": true,
    },
    [
      {
        timeUnixNano: String(time),
        observedTimeUnixNano: String(time + 1n),
        severityNumber: 18,
        severityText: "ERROR",
        body: { stringValue: 'hello "quoted" \\ \n tab\t é 漢 😀' },
        traceId,
        spanId,
        flags: 1,
        droppedAttributesCount: 7,
        attributes: [
          ...attributes({ text: "t", yes: true, int: 42, double: 0.5 }),
          { key: "big", value: { intValue: "9223372036854775807" } },
          {
            key: "list",
            value: { arrayValue: { values: [{ stringValue: "a" }, { intValue: "1" }, { boolValue: false }] } },
          },
          { key: "map", value: { kvlistValue: { values: attributes({ a: "b" }) } } },
          { key: "bytes", value: { bytesValue: "AQID" } },
        ],
      },
    ],
    { name: "lib", version: "2.0.0", attributes: attributes({ s: "1" }), droppedAttributesCount: 2 },
  );
  const { text } = await client.send("GET", logs, { query: { serviceName: "full" } });
  assert.ok(text.includes(`"time_unix_nano":${time},`), text);
  assert.ok(text.includes(`"observed_time_unix_nano":${time + 1n},`), text);
  const [record] = (await list({ serviceName: "full" })).items;
  assertFields(record, logFields);
  const { attributes: own, resource, ...rest } = record!;
  assert.deepEqual(Object.fromEntries(own.map(({ key, value }) => [key, value])), {
    text: "t",
    yes: "true",
    int: "42",
    double: "0.5",
    big: "9223372036854775807",
    list: '["a",1,false]',
    map: '{"a":"b"}',
    bytes: "AQID",
  });
  assert.deepEqual(resource, {
    "service.name": "full",
    "service.namespace": "shop",
    "service.version": "1.2.3",
    "process.pid": 4711,
    "telemetry.sdk.language": "nodejs",
    "host.arch": "riscv",
    "os.type": "linux",
    "cloud.provider": "aws",
    "deployment.environment.name": "production",
    "k8s.pod.name": "p-1",
    attributes: [{ key: "own.key", value: "true" }],
    dropped_attributes_count: 0,
  });
  assert.deepEqual(rest, {
    time_unix_nano: time,
    observed_time_unix_nano: time + 1n,
    severity_number: 18,
    severity_text: "ERROR",
    body: { string_value: 'hello "quoted" \\ \n tab\t é 漢 😀' },
    dropped_attributes_count: 7,
    flags: 1,
    trace_id: traceId,
    span_id: spanId,
    instrumentation_scope: {
      name: "lib",
      version: "2.0.0",
      attributes: [{ key: "s", value: "1" }],
      dropped_attributes_count: 2,
    },
  });
});

test("body: a number or boolean is text, other kinds have members of their own", async () => {
  const bodies: [unknown, object][] = [
    [{ stringValue: "" }, { string_value: "" }],
    [{ intValue: "9007199254740993" }, { string_value: "9007199254740993" }],
    [{ doubleValue: 1.5 }, { string_value: "1.5" }],
    [{ boolValue: false }, { string_value: "false" }],
    [{ bytesValue: "/+8=" }, { bytes_value: "/+8=" }],
    [{ arrayValue: { values: [{ stringValue: "a" }, { intValue: "2" }] } }, { array_value: ["a", "2"] }],
    [
      { kvlistValue: { values: attributes({ a: "x", b: 2 }) } },
      {
        kv_list_value: [
          { key: "a", value: "x" },
          { key: "b", value: "2" },
        ],
      },
    ],
  ];
  await store(
    "bodies",
    bodies.map(([body]) => ({ body })),
  );
  const { items } = await list({ serviceName: "bodies", orderBy: "timestamp_asc" });
  assert.deepEqual(
    items.map(({ body }) => body),
    bodies.map(([, body]) => body),
  );
});

test("severity_text is derived from the number, from the text where it is 0; a differing text is kept as an attribute", async () => {
  const cases: [number, string, string, string | undefined][] = [
    [0, "", "UNSPECIFIED", undefined],
    [1, "", "TRACE", undefined],
    [4, "", "TRACE", undefined],
    [5, "", "DEBUG", undefined],
    [8, "", "DEBUG", undefined],
    [9, "", "INFO", undefined],
    [12, "", "INFO", undefined],
    [13, "", "WARN", undefined],
    [16, "", "WARN", undefined],
    [17, "", "ERROR", undefined],
    [20, "", "ERROR", undefined],
    [21, "", "FATAL", undefined],
    [24, "", "FATAL", undefined],
    [0, "ERROR", "ERROR", undefined],
    [9, "notice", "INFO", "notice"],
  ];
  await store(
    "severities",
    cases.map(([severityNumber, severityText]) => ({ severityNumber, severityText })),
  );
  const { items } = await list({ serviceName: "severities", orderBy: "timestamp_asc" });
  for (const [i, [number, , text, own]] of cases.entries()) {
    const kept = items[i]!.attributes.find(({ key }) => key === "vigil.severity_text")?.value;
    assert.deepEqual([items[i]!.severity_text, kept], [text, own], `${number} ${text}`);
    if (cases[i]![1] !== "ERROR") assert.equal(items[i]!.severity_number, number);
  }
});

test("a record without a time has its observed time, else that of its arrival", async () => {
  const from = nowNano();
  await store("timeless", [{ timeUnixNano: "0", observedTimeUnixNano: String(base + 5n) }, { timeUnixNano: "0" }]);
  const [arrived, observed] = (await list({ serviceName: "timeless" })).items;
  assert.equal(observed!.time_unix_nano, base + 5n);
  assert.ok(
    BigInt(arrived!.time_unix_nano) >= from - 1_000_000_000n &&
      BigInt(arrived!.time_unix_nano) <= nowNano() + 1_000_000_000n,
  );
});

test("severityMin and severityMax are inclusive from 0 to 24; one past is 400; min 1 leaves out 0; min above max is range.invalid", async () => {
  await store(
    "levels",
    [0, 1, 9, 17, 24].map((severityNumber) => ({ severityNumber })),
  );
  const numbers = async (query: Query) =>
    (await list({ serviceName: "levels", orderBy: "severity_asc", ...query })).items.map(
      (item) => item.severity_number,
    );
  assert.deepEqual(await numbers({}), [0, 1, 9, 17, 24]);
  assert.deepEqual(await numbers({ severityMin: 0 }), [0, 1, 9, 17, 24]);
  assert.deepEqual(await numbers({ severityMin: 1 }), [1, 9, 17, 24]);
  assert.deepEqual(await numbers({ severityMin: 9, severityMax: 17 }), [9, 17]);
  assert.deepEqual(await numbers({ severityMin: 24, severityMax: 24 }), [24]);
  assert.deepEqual(await numbers({ severityMax: 0 }), [0]);
  for (const name of ["severityMin", "severityMax"]) {
    assert.deepEqual(await client.refusals("GET", logs, { query: { [name]: -1 } }), [`minimum ${name}`]);
    assert.deepEqual(await client.refusals("GET", logs, { query: { [name]: 25 } }), [`maximum ${name}`]);
  }
  assert.deepEqual(await client.refusals("GET", logs, { query: { severityMin: 10, severityMax: 9 } }), [
    "range.invalid severityMin",
  ]);
});

test("traceId takes 32 lowercase hexadecimal digits and nothing else", async () => {
  const traceId = randomId(16);
  await store("traced", [{ traceId }, { traceId: randomId(16) }, {}]);
  assert.deepEqual(textsOf(await list({ traceId })), ["n0"]);
  for (const wrong of [traceId.toUpperCase().replace(/^./, "A"), traceId.slice(1), `${traceId}0`, "g".repeat(32), ""]) {
    assert.deepEqual(await client.refusals("GET", logs, { query: { traceId: wrong } }), ["pattern traceId"], wrong);
  }
});

test("startTime is inclusive and endTime exclusive, to the nanosecond", async () => {
  const at = base + 500_000_001n;
  await store(
    "edges",
    [-1n, 0n, 1n].map((shift) => ({ timeUnixNano: String(at + shift) })),
  );
  const seen = async (query: Query) =>
    textsOf(await list({ serviceName: "edges", orderBy: "timestamp_asc", ...query }));
  assert.deepEqual(await seen({ startTime: rfc3339(at) }), ["n1", "n2"]);
  assert.deepEqual(await seen({ endTime: rfc3339(at) }), ["n0"]);
  assert.deepEqual(await seen({ startTime: rfc3339(at), endTime: rfc3339(at + 1n) }), ["n1"]);
  assert.deepEqual(
    (await search({ service_name: "edges", time_start: rfc3339(at), time_end: rfc3339(at + 1n) })).items.length,
    1,
  );
});

test("logs have no default range: what is twenty days old is listed", async () => {
  await store("old", [{ timeUnixNano: String(base - 20n * 86_400_000_000_000n) }]);
  assert.deepEqual(textsOf(await list({ serviceName: "old" })), ["n0"]);
});

test("limit is 1 to 10000, 100 by default", async () => {
  await store(
    "many",
    Array.from({ length: 150 }, () => ({})),
  );
  assert.equal((await list({ serviceName: "many" })).items.length, 100);
  assert.equal((await list({ serviceName: "many", limit: 1 })).items.length, 1);
  assert.equal((await list({ serviceName: "many", limit: 10_000 })).items.length, 150);
  assert.deepEqual(await client.refusals("GET", logs, { query: { limit: 0 } }), ["minimum limit"]);
  assert.deepEqual(await client.refusals("GET", logs, { query: { limit: 10_001 } }), ["maximum limit"]);
  for (const limit of [0, 10_001, 1.5, "5", null]) {
    assert.equal((await client.refusals("POST", `${logs}/search`, { body: { limit } })).length, 1, String(limit));
  }
  assert.equal((await search({ service_name: "many" })).items.length, 100);
});

test("each order pages to the end and back through equal values, severities with the newest first", async () => {
  // Seven times and three severities over forty records: most keys come more than once.
  const records = Array.from({ length: 40 }, (_, i) => ({
    timeUnixNano: String(base + BigInt(i % 7)),
    severityNumber: [9, 17, 5][i % 3],
  }));
  await store("order", records);
  const whole = async (orderBy: string, limit: number) =>
    walk((cursor) => list({ serviceName: "order", orderBy, limit, cursor }));
  for (const orderBy of ["timestamp_asc", "timestamp_desc", "severity_asc", "severity_desc"]) {
    const items = await whole(orderBy, 7);
    assert.equal(new Set(items.map(({ body }) => body.string_value)).size, 40);
    const sign = orderBy.endsWith("asc") ? 1n : -1n;
    for (const [i, next] of items.slice(1).entries()) {
      const [a, b] = [items[i]!, next];
      const time = BigInt(b.time_unix_nano) - BigInt(a.time_unix_nano);
      const severity = BigInt(b.severity_number - a.severity_number);
      if (orderBy.startsWith("timestamp")) assert.ok(time * sign >= 0n, orderBy);
      else assert.ok(severity * sign > 0n || (severity === 0n && time <= 0n), orderBy);
    }
    assert.deepEqual(items, (await list({ serviceName: "order", orderBy, limit: 100 })).items);
  }
  const unordered = await list({ serviceName: "order" });
  assert.deepEqual(unordered.items, await whole("timestamp_desc", 13));
  const searched = await walk((cursor) =>
    search({ service_name: "order", order_by: "severity_asc", limit: 9, ...(cursor && { cursor }) }),
  );
  assert.deepEqual(searched, await whole("severity_asc", 40));
  assert.deepEqual(await client.refusals("GET", logs, { query: { orderBy: "TIMESTAMP_ASC" } }), ["enum orderBy"]);
});

test("rows that arrive while someone pages are neither shown twice nor lost", async () => {
  await store(
    "moving",
    Array.from({ length: 6 }, () => ({})),
  );
  const first = await list({ serviceName: "moving", limit: 3 });
  await store("moving", [{ timeUnixNano: String(base + 60_000_000_000n), body: { stringValue: "newer" } }]);
  const second = await list({ serviceName: "moving", limit: 3, cursor: first.next_cursor! });
  assert.deepEqual([...textsOf(first), ...textsOf(second)], ["n5", "n4", "n3", "n2", "n1", "n0"]);
  assert.equal(second.next_cursor, null);
});
