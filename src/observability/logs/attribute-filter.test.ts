import assert from "node:assert/strict";
import { test } from "node:test";
import { filterOperators, readAttributeFilters } from "./attribute-filter.ts";

function wrong(...items: unknown[]): string[] {
  return readAttributeFilters(items).violations.map(
    ({ field, code }) => `${field.replace("attribute_filters", "")} ${code}`,
  );
}

test("filters that are as their operators want them are taken as they are", () => {
  const values = {
    eq: "a",
    neq: 1,
    contains: "",
    starts_with: "a",
    ends_with: "b",
    regex: "^a.(?i:b)$",
    gt: 1,
    gte: -0.5,
  };
  const more = { lt: 1e300, lte: 0, in: ["a", 1, true], not_in: [""], exists: undefined, not_exists: undefined };
  const items = Object.entries({ ...values, ...more }).map(([operator, value]) => ({
    key: "k",
    operator,
    ...(value !== undefined && { value }),
  }));
  assert.deepEqual(items.map(({ operator }) => operator).toSorted(), filterOperators.toSorted());
  assert.deepEqual(readAttributeFilters(items), { filters: items, violations: [] });
});

test("everything that is wrong with each filter is said, whatever is wrong with the others", () => {
  assert.deepEqual(
    wrong(
      { key: "", operator: "like", value: 1 },
      { key: "a", operator: "gt", value: "1" },
      { key: "a", operator: "exists", value: 1 },
      { operator: "regex", value: 1 },
      5,
      { key: "a", operator: "in", value: [] },
      { key: "a", operator: "not_in", value: ["a", null, {}] },
      { key: "a", operator: "in", value: Array(101).fill("a") },
      { key: "a", operator: "contains", value: ["a"] },
      { key: 1, operator: "eq" },
      { keys: "a", operator: "eq", value: null },
      { key: "a", operator: "constructor", value: "a" },
      {},
    ),
    [
      "[0].key min_length",
      "[0].operator enum",
      "[1].value type",
      "[2].value unknown_field",
      "[3].key required",
      "[3].value type",
      "[4] type",
      "[5].value min_items",
      "[6].value[1] type",
      "[6].value[2] type",
      "[7].value max_items",
      "[8].value type",
      "[9].value required",
      "[9].key type",
      "[10].key required",
      "[10].keys unknown_field",
      "[10].value type",
      "[11].operator enum",
      "[12].key required",
      "[12].operator required",
    ],
  );
});

test("a pattern that is none as RE2 has them is refused with the reason", () => {
  for (const pattern of ["(", "a{2000}", "(?=a)", "\\1", "[z-a]", "*", "(?i", "\\p{Foo}"]) {
    const [violation, ...others] = readAttributeFilters([{ key: "k", operator: "regex", value: pattern }]).violations;
    assert.equal(others.length, 0);
    assert.equal(violation?.field, "attribute_filters[0].value");
    assert.equal(violation?.code, "format");
    assert.match(violation!.message, /^Is not a regular expression as RE2 takes them: \S.*\.$/, pattern);
  }
  assert.deepEqual(wrong({ key: "k", operator: "regex", value: "a".repeat(1_001) }), ["[0].value max_length"]);
});

test("an integer that JSON cannot carry is refused where all its digits count", () => {
  const large = Number("9007199254740993");
  assert.deepEqual(
    wrong({ key: "k", operator: "eq", value: large }, { key: "k", operator: "in", value: ["a", -large] }),
    ["[0].value format", "[1].value[1] format"],
  );
  assert.deepEqual(
    wrong({ key: "k", operator: "gt", value: large }, { key: "k", operator: "eq", value: "9007199254740993" }),
    [],
  );
});

test("all filters together are bounded", () => {
  const filter = (length: number) => ({ key: "k", operator: "eq", value: "x".repeat(length) });
  assert.deepEqual(wrong(filter(9_900)), []);
  assert.deepEqual(wrong(filter(5_000), filter(5_000)), [" max_length"]);
});
