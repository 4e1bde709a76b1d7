import assert from "node:assert/strict";
import { test } from "node:test";
import { closest } from "./closest.ts";

test("a near name is found whatever its case and separators", () => {
  const names = ["serviceName", "severityMin", "severityMax", "startTime"];
  assert.equal(closest("service_name", names), "serviceName");
  assert.equal(closest("sevrityMin", names), "severityMin");
  assert.equal(closest("severityMni", names), "severityMin");
  assert.equal(closest("service", names), "serviceName");
});

test("nothing is suggested where nothing is near", () => {
  assert.equal(closest("colour", ["serviceName", "limit"]), undefined);
  assert.equal(closest("", ["limit"]), undefined);
  assert.equal(closest("x".repeat(10_000), ["limit"]), undefined);
});
