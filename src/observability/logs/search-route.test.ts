import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { openLogApi } from "./api-for-tests.ts";
import type { LogApi } from "./api-for-tests.ts";
import { filterOperators, readAttributeFilters } from "./attribute-filter.ts";
import type { AttributeFilter, FilterOperator } from "./attribute-filter.ts";
import { resourceJson } from "./resource-for-tests.ts";

interface LogPage {
  items: { body: { string_value: string } }[];
  has_more: boolean;
  next_cursor: string | null;
  prev_cursor: string | null;
}

interface Stored {
  readonly attributes: Record<string, string>;
  readonly resource: Record<string, string | number>;
}

const noon = 1_763_640_000_000_000_000n;
const numbers = ["0", "-0.5", "7", "12", "12.5", "1e+21", "500", "9007199254740993", "0.30000000000000004"];
const texts = [
  "",
  "a",
  "ab",
  "Ab",
  "b a",
  "a\nb",
  'a"b',
  "a\\b",
  "a%b",
  "a_b",
  "true",
  "inf",
  "NaN",
  "12px",
  "日本",
  "\u0001",
];
const anyValue = fc.constantFrom(...numbers, ...texts);
const anyKey = fc.constantFrom("user.id", "http.status", "key", "value", "service.name", "team", "we'ird", 'q"\\');
const anyAttributes = fc.dictionary(anyKey, anyValue, { maxKeys: 4, noNullPrototype: true });
const anyPid = fc.constantFrom<string | number | undefined>(1, 12, "12", "a", undefined);
const anyRecord: fc.Arbitrary<Stored> = fc.record({
  attributes: anyAttributes,
  resource: fc
    .tuple(anyAttributes, anyPid)
    .map(([others, pid]) => ({ ...others, ...(pid !== undefined && { "process.pid": pid }) })),
});

let api: LogApi;
let records: readonly Stored[];

before(async () => {
  api = await openLogApi();
  records = fc.sample(anyRecord, { numRuns: 400, seed: 5 });
  const common = { workspace: "default", body_type: "s", service_name: "filters" };
  await api.tables.insert(
    "logs",
    records.map(({ attributes, resource }, seq) => ({
      ...common,
      seq,
      ts: noon + BigInt(seq),
      body: `${seq}`,
      attributes,
      resource: resourceJson(resource),
      trace_id: seq === 3 ? "0af7651916cd43dd8448eb211c80319c" : "",
      span_id: seq % 100 === 3 ? "00f067aa0ba902b7" : "",
      severity_number: seq % 25,
    })),
  );
  await api.tables.insert("logs", [{ ...common, workspace: "other", seq: 10_000, ts: noon, body: "hidden" }]);
});

after(() => api.close());

const search = (body: object) => api.post<LogPage>("/logs/search", body);
const refused = (body: object) => api.refusal("/logs/search", body);

async function found(body: object): Promise<number[]> {
  const { items } = await search({ service_name: "filters", order_by: "timestamp_asc", limit: 1_000, ...body });
  return items.map((item) => Number(item.body.string_value));
}

/** What a filter means, over the values that a record has under its key. */
function matches(filter: AttributeFilter, row: Stored): boolean {
  const values = [row.attributes[filter.key], row.resource[filter.key]].flatMap((v) =>
    v === undefined ? [] : [`${v}`],
  );
  switch (filter.operator) {
    case "eq":
      return values.includes(String(filter.value));
    case "neq":
      return !values.includes(String(filter.value));
    case "contains":
      return values.some((value) => value.includes(filter.value));
    case "starts_with":
      return values.some((value) => value.startsWith(filter.value));
    case "ends_with":
      return values.some((value) => value.endsWith(filter.value));
    case "regex":
      return values.some((value) => new RegExp(filter.value, "su").test(value));
    case "in":
      return values.some((value) => filter.value.map(String).includes(value));
    case "not_in":
      return !values.some((value) => filter.value.map(String).includes(value));
    case "exists":
      return values.length > 0;
    case "not_exists":
      return values.length === 0;
    case "gt":
      return values.some((value) => isNumber(value) && Number(value) > filter.value);
    case "gte":
      return values.some((value) => isNumber(value) && Number(value) >= filter.value);
    case "lt":
      return values.some((value) => isNumber(value) && Number(value) < filter.value);
    case "lte":
      return values.some((value) => isNumber(value) && Number(value) <= filter.value);
  }
}

function isNumber(value: string): boolean {
  return value.trim() !== "" && Number.isFinite(Number(value));
}

const anyScalar = fc.oneof(anyValue, fc.constantFrom(12, 500, 12.5, true, false, 0));
const anyPattern = fc.constantFrom(
  "a",
  "^a",
  "b$",
  "^$",
  "a.b",
  "[0-9]+",
  "^(a|12)$",
  "\\\\",
  "",
  "日.",
  "^\\d{2}$",
  "[^a-z]",
);
const anyFilter: fc.Arbitrary<AttributeFilter> = fc
  .tuple(
    fc.oneof(anyKey, fc.constant("process.pid"), fc.constant("absent")),
    fc.constantFrom(...filterOperators),
    anyScalar,
    fc.array(anyScalar, { minLength: 1, maxLength: 5 }),
    anyPattern,
    fc.constantFrom(0, -0.5, 12, 12.5, 400, 9_007_199_254_740_992, 0.30000000000000004),
  )
  .map(([key, operator, scalar, list, pattern, number]) => {
    const values: Partial<Record<FilterOperator, unknown>> = {
      eq: scalar,
      neq: scalar,
      contains: `${scalar}`,
      starts_with: `${scalar}`,
      ends_with: `${scalar}`,
      regex: pattern,
      gt: number,
      gte: number,
      lt: number,
      lte: number,
      in: list,
      not_in: list,
    };
    const value = values[operator];
    return { key, operator, ...(value !== undefined && { value }) } as AttributeFilter;
  });

test("the engine finds what the filters mean", async () => {
  const told = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(anyFilter, { minLength: 1, maxLength: 3 }), async (filters) => {
      const expected = records.flatMap((row, seq) => (filters.every((filter) => matches(filter, row)) ? [seq] : []));
      if (expected.length > 0 && expected.length < records.length)
        for (const { operator } of filters) told.add(operator);
      assert.deepEqual(await found({ attribute_filters: filters }), expected);
    }),
    { numRuns: 200, seed: 17 },
  );
  assert.deepEqual([...told].toSorted(), filterOperators.toSorted());
});

test("each other field selects what it says, together with the rest", async () => {
  assert.deepEqual(await found({ trace_id: "0af7651916cd43dd8448eb211c80319c" }), [3]);
  assert.deepEqual(await found({ span_id: "00f067aa0ba902b7" }), [3, 103, 203, 303]);
  assert.deepEqual(await found({ span_id: "00f067aa0ba902b7", query: "203" }), [203]);
  assert.deepEqual(
    await found({ severity_min: 24 }),
    records.flatMap((_, seq) => (seq % 25 === 24 ? [seq] : [])),
  );
  const at = (nanos: number) => `2025-11-20T12:00:00.${String(nanos).padStart(9, "0")}Z`;
  assert.deepEqual(await found({ time_start: at(7), time_end: at(10) }), [7, 8, 9]);
  assert.deepEqual(await found({ service_name: "none" }), []);
  assert.equal((await found({})).length, records.length);
});

test("it pages as GET /logs does, with the same records", async () => {
  const filters = [{ key: "http.status", operator: "exists" }];
  const all = (await found({ attribute_filters: filters })).toReversed();
  const body = { service_name: "filters", attribute_filters: filters, limit: 7 };
  const forwards: number[] = [];
  let page = await search(body);
  assert.equal(page.prev_cursor, null);
  for (;;) {
    forwards.push(...page.items.map((item) => Number(item.body.string_value)));
    assert.equal(page.has_more, page.next_cursor !== null);
    if (page.next_cursor === null) break;
    page = await search({ ...body, cursor: page.next_cursor });
  }
  assert.deepEqual(forwards, all);
  const back = await search({ ...body, limit: 3, cursor: page.prev_cursor });
  const earlier = all.slice(0, all.indexOf(Number(page.items[0]!.body.string_value)));
  assert.deepEqual(
    back.items.map((item) => Number(item.body.string_value)),
    earlier.slice(-3),
  );

  const listed = await api.get<LogPage>("/logs?serviceName=filters&limit=3");
  assert.deepEqual(listed.items, (await search({ service_name: "filters", limit: 3 })).items);

  const cursor = (await search(body)).next_cursor;
  assert.deepEqual(await refused({ ...body, cursor, attribute_filters: [{ key: "team", operator: "exists" }] }), [
    "cursor cursor.invalid",
  ]);
  assert.deepEqual(await refused({ ...body, cursor, order_by: "timestamp_asc" }), ["cursor cursor.invalid"]);
});

test("what is wrong with a body is said at once", async () => {
  const wrong = {
    query: '"open',
    severity_min: 25,
    trace_id: "x",
    span_id: "00F067AA0BA902B7",
    time_start: "2025-01-02T00:00:00Z",
    time_end: "2025-01-01T00:00:00Z",
    attribute_filters: [
      { key: "a", operator: "gt", value: "b" },
      { key: "a" },
      { key: "a", operator: "regex", value: "(" },
    ],
    limit: 10_001,
    order_by: "newest",
    cursor: "x",
    serviceName: "shop",
  };
  assert.deepEqual((await refused(wrong)).toSorted(), [
    "attribute_filters[0].value type",
    "attribute_filters[1].operator required",
    "attribute_filters[2].value format",
    "cursor cursor.invalid",
    "limit maximum",
    "order_by enum",
    "query query.invalid",
    "serviceName unknown_field",
    "severity_min maximum",
    "span_id pattern",
    "time_start time_range.invalid",
    "trace_id pattern",
  ]);
  const filter = { key: "a", operator: "exists" };
  assert.deepEqual(await refused({ attribute_filters: Array.from({ length: 21 }, () => filter) }), [
    "attribute_filters max_items",
  ]);
  assert.equal((await search({ attribute_filters: Array.from({ length: 20 }, () => filter) })).items.length, 0);
});

test("a pattern that passes the check is one that the engine takes, or its refusal is an answer", async () => {
  const pieces = ["a", "b", "(", ")", "(?:", "(?i)", "(?P<n>", "[", "]", "^", "-", "|", "*", "+", "?", "{2}", "{3,}"];
  const anyText = fc
    .array(fc.constantFrom(...pieces, "{,2}", "\\d", "\\pL", "\\b", "\\Q", "\\E", "\\x{41}", ".", "$", "日"), {
      maxLength: 8,
    })
    .map((parts) => parts.join(""));
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(anyText, async (pattern) => {
      const filter = { key: "team", operator: "regex", value: pattern };
      const isTaken = readAttributeFilters([filter]).violations.length === 0;
      taken += isTaken ? 1 : 0;
      await api.post("/logs/search", { attribute_filters: [filter] }, isTaken ? 200 : 400);
    }),
    { numRuns: 150, seed: 23 },
  );
  assert.ok(taken > 40, `only ${taken} patterns were any`);
  // One that is right, but too large for what the engine spends on a pattern.
  assert.deepEqual(
    await refused({ attribute_filters: [{ key: "team", operator: "regex", value: "\\pL{1000}".repeat(20) }] }),
    ["attribute_filters format"],
  );
});

test("filters as long as may be reach the engine, and no text of theirs becomes SQL", async () => {
  for (const character of ["\u0001", "\\", "'", "日", '"', "%"]) {
    const length = Math.floor(9_900 / (JSON.stringify(character).length - 2));
    for (const operator of ["eq", "contains", "not_in"]) {
      const text = character.repeat(length);
      const filter = { key: "team", operator, value: operator === "not_in" ? [text] : text };
      const expected = operator === "not_in" ? records.length : 0;
      assert.equal((await found({ attribute_filters: [filter] })).length, expected);
    }
  }
  for (const text of ["'", "') OR 1=1 --", "{filter_0:String}", "\\'", "\u0000", "\n\n;\n", "`"]) {
    assert.deepEqual(await found({ attribute_filters: [{ key: text, operator: "eq", value: text }] }), []);
  }
});
