import assert from "node:assert/strict";
import { test } from "node:test";
import { groupingAccuracy } from "./grouping-accuracy.ts";

test("a label counts only where its lines are a group, whole and by themselves", () => {
  assert.equal(groupingAccuracy(["a", "a", "b", "c"], ["x", "x", "y", "z"]), 1);
  assert.equal(groupingAccuracy(["a", "a", "b", "c"], ["x", "w", "y", "z"]), 0.5);
  assert.equal(groupingAccuracy(["a", "a", "b", "c"], ["x", "x", "x", "z"]), 0.25);
  assert.equal(groupingAccuracy(["a", "b", "c", "d"], ["x", "x", "x", "x"]), 0);
});
