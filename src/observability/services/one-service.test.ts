import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { rebuildRollups } from "../../telemetry/rollups.ts";
import { openTables } from "../logs/tables-for-tests.ts";
import type { Tables } from "../logs/tables-for-tests.ts";
import { createCallReader } from "./calls.ts";
import { dependenciesOf } from "./dependencies.ts";
import { readServiceHealth } from "./detail.ts";
import { operationKeys, readOperations } from "./operations.ts";
import type { Window } from "./window.ts";

interface StoredSpan {
  id: number;
  trace: number;
  /** Number of another span, or -1. */
  parent: number;
  /** What it is linked to. */
  links: number[];
  /** Seconds after noon. */
  at: number;
  duration_ns: number;
  service_name: string;
  service_namespace: string;
  kind: number;
  name: string;
  status_code: number;
  attributes: Record<string, string>;
  scope: string;
}

const noon = 1_763_640_000_000_000_000n;
const hour = 3_600;
let tables: Tables;
let spans: StoredSpan[];

const spanIn = (last: number) =>
  fc.record({
    parent: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: last })),
    link: fc.option(fc.integer({ min: 0, max: last }), { freq: 3 }),
    // Some at full hours exactly, where the rollup and the spans meet.
    at: fc.oneof(fc.integer({ min: -hour, max: 3 * hour }), fc.constantFrom(0, hour, 2 * hour)),
    near: fc.boolean(),
    duration_ns: fc.integer({ min: 0, max: 2_000_000_000 }),
    service_name: fc.constantFrom("shop", "pay", "mail"),
    service_namespace: fc.constantFrom("", "", "", "eu"),
    kind: fc.constantFrom(0, 1, 2, 3, 3, 4, 5),
    name: fc.constantFrom("a", "b"),
    status_code: fc.constantFrom(0, 0, 1, 2),
    attributes: fc.constantFrom<Record<string, string>[]>(
      {},
      { "server.address": "10.0.0.7" },
      { "db.system": "redis", "server.address": "10.0.0.7" },
      { "peer.service": "legacy", "db.system.name": "postgresql" },
    ),
    scope: fc.constantFrom(
      "",
      '{"name":"http","version":"1.2.3","attributes":[],"dropped_attributes_count":0}',
      '{"name":"http","version":"1.2.3","attributes":[{"key":"a","value":"b"}],"dropped_attributes_count":0}',
      '{"name":"pg","attributes":[],"dropped_attributes_count":0}',
    ),
  });

before(async () => {
  tables = await openTables();
  const drawn = fc.sample(spanIn(599), { numRuns: 600, seed: 23 });
  spans = drawn.map(({ parent, link, near, ...rest }, id) => ({
    ...rest,
    id,
    trace: 0,
    parent: parent < id ? parent : -1,
    links: link !== null && link < id ? [link, link] : [],
    // Callers and answers mostly lie together, some too far from each other.
    at: near && parent >= 0 && parent < id ? drawn[parent]!.at + (rest.at % 300) : rest.at,
  }));
  for (const span of spans) span.trace = span.parent < 0 ? span.id : spans[span.parent]!.trace;
  await store(spans);
});

after(() => tables.close());

const spanId = (id: number) => (id < 0 ? "" : (id + 1).toString(16).padStart(16, "0"));
const traceId = (trace: number) => (trace + 1).toString(16).padStart(32, "0");

async function store(some: readonly StoredSpan[], workspace = "w"): Promise<void> {
  const rows = some.map(({ id, trace, parent, links, at, ...rest }) => ({
    ...rest,
    workspace,
    seq: id,
    ts: noon + BigInt(at) * 1_000_000_000n,
    received: Number(noon / 1_000_000_000n) + (id % 2) * 86_400,
    trace_id: traceId(trace),
    span_id: spanId(id),
    parent_span_id: spanId(parent),
    links:
      links.length === 0
        ? ""
        : JSON.stringify(
            links.map((link) => ({
              trace_id: traceId(spans[link]!.trace),
              span_id: spanId(link),
              trace_state: "",
              attributes: [{ key: "trace_id", value: "x" }],
            })),
          ),
  }));
  await tables.insert("spans", rows);
}

const isIn = ({ start, end }: Window, { at }: StoredSpan) => {
  const ts = noon + BigInt(at) * 1_000_000_000n;
  return ts >= start && ts < end;
};
const hourOf = ({ at }: StoredSpan) => Math.floor(at / hour) * hour;

/** Callers' and callees' names and sums, as the description of the route has them. */
function expectedDependencies(all: readonly StoredSpan[], name: string, namespace: string, window: Window) {
  const sums = new Map<string, { requests: number; errors: number; ms: number }>();
  const add = (source: string, target: string, { status_code, duration_ns }: StoredSpan) => {
    const key = `${source} ${target}`;
    const sum = sums.get(key) ?? { requests: 0, errors: 0, ms: 0 };
    sum.requests++;
    sum.errors += status_code === 2 ? 1 : 0;
    sum.ms += duration_ns / 1e6;
    sums.set(key, sum);
  };
  const isOne = (span: StoredSpan) => span.service_name === name && span.service_namespace === namespace;
  const isSame = (a: StoredSpan, b: StoredSpan) =>
    a.service_name === b.service_name && a.service_namespace === b.service_namespace;
  for (const asked of all.filter((span) => isIn(window, span))) {
    // The part of the window that lies in the caller's hour, a minute before it and an hour after.
    const begin = Math.max(hourOf(asked), Number((window.start - noon) / 1_000_000_000n));
    const close = Math.min(hourOf(asked) + hour, Number((window.end - noon) / 1_000_000_000n));
    const answers = all.filter(({ at, kind, parent, links }) => {
      const isAnswer = [0, 2, 5].includes(kind) && parent === asked.id;
      const isLinked = kind === 5 && links.includes(asked.id) && parent !== asked.id;
      return (isAnswer || isLinked) && at >= begin - 60 && at < close + hour;
    });
    for (const answer of answers)
      if (!isSame(asked, answer) && (isOne(asked) || isOne(answer)))
        add(asked.service_name, answer.service_name, answer);
    const { attributes } = asked;
    const peer =
      attributes["peer.service"] ??
      attributes["db.system.name"] ??
      attributes["db.system"] ??
      attributes["server.address"];
    const leaves = asked.kind === 3 || asked.kind === 4;
    if (answers.length === 0 && leaves && peer !== undefined && isOne(asked)) add(asked.service_name, peer, asked);
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Whole seconds, since that is where the spans lie; at full hours often. */
const windows = fc
  .tuple(
    fc.oneof(fc.integer({ min: -hour, max: 3 * hour }), fc.constantFrom(-hour, 0, hour)),
    fc.oneof(fc.integer({ min: 0, max: 3 * hour }), fc.constantFrom(hour, 2 * hour)),
  )
  .map(([from, length]): Window => ({
    start: noon + BigInt(from) * 1_000_000_000n,
    end: noon + BigInt(from + length) * 1_000_000_000n,
  }));
const services = fc.record({
  workspace: fc.constant("w"),
  namespace: fc.constantFrom("", "eu"),
  name: fc.constantFrom("shop", "pay", "mail"),
});

function isClose(actual: number | null, wanted: number): void {
  assert.ok(actual !== null && Math.abs(actual - wanted) <= 1e-9 * Math.max(1, wanted), `${actual} for ${wanted}`);
}

/** The p99 of doubles with 8 binary digits is within 0.4 % of a duration beside the one whose rank it is. */
function isCloseP99(actual: number | null, durations: readonly number[]): void {
  const sorted = durations.toSorted((a, b) => a - b);
  const rank = 0.99 * sorted.length;
  const low = sorted[Math.max(0, Math.floor(rank) - 1)]! / 1e6;
  const high = sorted[Math.min(sorted.length - 1, Math.ceil(rank))]! / 1e6;
  assert.ok(actual !== null && actual >= low * 0.996 - 1e-9 && actual <= high * 1.004, `${actual}: ${low} … ${high}`);
}

test("dependencies are the calls of the window, whoever sent which part of them first", async () => {
  const readCalls = createCallReader();
  let found = 0;
  await fc.assert(
    fc.asyncProperty(windows, services, async (window, service) => {
      const dependencies = dependenciesOf(service, await readCalls(tables, "w", window));
      const expected = expectedDependencies(spans, service.name, service.namespace, window);
      assert.deepEqual(
        dependencies.map((one) => [`${one.source_service} ${one.target_service}`, one.request_count]),
        expected.map(([key, { requests }]) => [key, requests]),
      );
      for (const [i, [, { requests, errors, ms }]] of expected.entries()) {
        isClose(dependencies[i]!.error_rate, errors / requests);
        isClose(dependencies[i]!.avg_latency_ms, ms / requests);
      }
      found += expected.length;
    }),
    { numRuns: 40, seed: 7 },
  );
  assert.ok(found > 100, `${found} dependencies`);
});

test("an hour that was read before is read again once spans arrive in it or beside it", async () => {
  const readCalls = createCallReader();
  const window = { start: noon, end: noon + BigInt(hour) * 1_000_000_000n };
  const base = { trace: 1, links: [], duration_ns: 5_000_000, service_namespace: "", status_code: 0, scope: "" };
  const caller = {
    ...base,
    id: 1,
    parent: -1,
    at: 10,
    service_name: "shop",
    kind: 3,
    name: "call",
    attributes: { "peer.service": "p" },
  };
  const answer = {
    ...base,
    id: 2,
    parent: 1,
    at: hour + 5,
    service_name: "pay",
    kind: 2,
    name: "serve",
    attributes: {},
  };
  const key = { workspace: "late", namespace: "", name: "shop" };
  const targets = async () =>
    dependenciesOf(key, await readCalls(tables, "late", window)).map((one) => one.target_service);
  assert.deepEqual(await targets(), []);
  await store([caller], "late");
  assert.deepEqual(await targets(), ["p"]);
  assert.deepEqual(await targets(), ["p"]);
  await store([answer], "late");
  assert.deepEqual(await targets(), ["pay"]);
});

test("operations are the spans of the window by name and kind, each once over all pages", async () => {
  await fc.assert(
    fc.asyncProperty(windows, services, fc.integer({ min: 1, max: 6 }), async (window, service, limit) => {
      const of = spans.filter(
        (span) =>
          isIn(window, span) && span.service_name === service.name && span.service_namespace === service.namespace,
      );
      const expected = [...Map.groupBy(of, ({ name, kind }) => `${name} ${kind}`)].toSorted(([a], [b]) =>
        a < b ? -1 : 1,
      );
      for (const direction of ["next", "prev"] as const) {
        const seen = [];
        let keys: readonly string[] | undefined;
        for (;;) {
          const page = { limit, direction, keys, continued: keys !== undefined, binding: "" };
          const rows = await readOperations(tables, service, window, page);
          seen.push(...rows.slice(0, limit));
          if (rows.length <= limit) break;
          keys = operationKeys(rows[limit - 1]!);
        }
        if (direction === "prev") seen.reverse();
        assert.deepEqual(
          seen.map(({ name, span_kind, request_count, error_count }) => [
            `${name} ${span_kind}`,
            request_count,
            error_count,
          ]),
          expected.map(([key, group]) => [key, group.length, group.filter((span) => span.status_code === 2).length]),
        );
        for (const [i, [, group]] of expected.entries()) {
          const durations = group.map(({ duration_ns }) => duration_ns);
          isClose(seen[i]!.avg_duration_ms, durations.reduce((a, b) => a + b, 0) / group.length / 1e6);
          isCloseP99(seen[i]!.p99_duration_ms, durations);
        }
      }
    }),
    { numRuns: 20, seed: 9 },
  );
});

test("rates and latencies are those of server and consumer spans, or else of roots", async () => {
  const worker = spans
    .filter(({ service_name, kind }) => service_name === "mail" && (kind === 1 || kind === 3))
    .map((span) => ({ ...span, service_name: "worker" }));
  await store(worker, "w");
  const names = fc.record({
    workspace: fc.constant("w"),
    namespace: fc.constantFrom("", "eu"),
    name: fc.constantFrom("shop", "pay", "worker"),
  });
  await fc.assert(
    fc.asyncProperty(windows, names, async (window, service) => {
      const of = [...spans, ...worker].filter(
        (span) =>
          isIn(window, span) && span.service_name === service.name && span.service_namespace === service.namespace,
      );
      const entries = of.filter(({ kind }) => kind === 2 || kind === 5);
      const requests = entries.length > 0 ? entries : of.filter(({ parent }) => parent < 0);
      const health = await readServiceHealth(tables, service, window);
      const seconds = Number(window.end - window.start) / 1e9;
      isClose(health.request_rate, requests.length === 0 ? 0 : requests.length / seconds);
      isClose(
        health.error_rate,
        requests.filter((span) => span.status_code === 2).length / Math.max(1, requests.length),
      );
      if (requests.length === 0) {
        assert.deepEqual([health.avg_latency_ms, health.p99_latency_ms], [null, null]);
      } else {
        const durations = requests.map(({ duration_ns }) => duration_ns);
        isClose(health.avg_latency_ms, durations.reduce((a, b) => a + b, 0) / durations.length / 1e6);
        isCloseP99(health.p99_latency_ms, durations);
      }
      const libraries = [
        ...(of.some(({ scope }) => scope.includes('"http"')) ? [{ name: "http", version: "1.2.3" }] : []),
        ...(of.some(({ scope }) => scope.includes('"pg"')) ? [{ name: "pg" }] : []),
      ];
      assert.deepEqual(health.instrumentation_libraries, libraries);
    }),
    { numRuns: 40, seed: 5 },
  );
});

test("the rollup built again from the spans says what it said", async () => {
  const key = { workspace: "w", namespace: "", name: "shop" };
  const window = { start: noon - BigInt(hour) * 1_000_000_000n, end: noon + BigInt(3 * hour) * 1_000_000_000n };
  const page = { limit: 100, direction: "next", keys: undefined, continued: false, binding: "" } as const;
  const first = await readOperations(tables, key, window, page);
  assert.ok(first.length > 5);
  await tables.command("TRUNCATE TABLE span_stats");
  assert.deepEqual(await readOperations(tables, key, window, page), []);
  await rebuildRollups({ sql: tables, layout: { database: "vigil" }, hold: (build) => build() });
  assert.deepEqual(await readOperations(tables, key, window, page), first);
});
