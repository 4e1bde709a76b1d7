import assert from "node:assert/strict";
import { after, test } from "node:test";
import { SpanBlock } from "../../../telemetry/blocks/span-block.ts";
import { decodeTraces } from "./decode-traces.ts";
import type { Attributes } from "./messages-for-tests.ts";
import { attributes, field, request, spanIds } from "./messages-for-tests.ts";
import { openStoredRows, type StoredRow } from "./stored-rows-for-tests.ts";

const stored = openStoredRows();
after(() => stored.close());

const block = new SpanBlock();

/** What the engine has of a request's spans. */
function storedSpans(bytes: Uint8Array): StoredRow[] {
  block.reset();
  decodeTraces(bytes, block, { workspace: "acme", project: "web" });
  return stored.of("spans", block);
}

test("rows of several resources and scopes keep theirs, wherever a sender puts the description", () => {
  const span = (name: string) => [...spanIds, field.bytes(5, name)];
  const group = (service: string, scope: string, name: string) => ({
    resource: attributes(1, [["service.name", service]]),
    scope: [field.bytes(1, scope)],
    items: [span(name)],
  });
  // The description behind the items, and in two parts, which are to be merged.
  const lateAndSplit = field.message(
    1,
    field.message(
      2,
      field.message(2, ...span("late")),
      field.message(1, field.bytes(1, "scope")),
      field.message(1, field.bytes(2, "9")),
    ),
    field.message(1, ...attributes(1, [["service.name", "late"]])),
    field.message(1, ...attributes(1, [["service.version", "7"]])),
  );
  const rows = storedSpans(
    Buffer.concat([request(group("a", "x", "1"), group("b", "x", "2"), group("a", "y", "3")), lateAndSplit]),
  );
  const shown = rows.map((row) => [
    row.name,
    row.service_name,
    row.service_version,
    (JSON.parse(row.scope as string) as { name: string; version: string }).name,
    (JSON.parse(row.scope as string) as { name: string; version?: string }).version,
  ]);
  assert.deepEqual(shown, [
    ["1", "a", "", "x", undefined],
    ["2", "b", "", "x", undefined],
    ["3", "a", "", "y", undefined],
    ["late", "late", "7", "scope", "9"],
  ]);
});

test("instance, environment and process id come from what the resource has", () => {
  const shared = (pairs: Attributes) => {
    const row = storedSpans(request({ resource: attributes(1, pairs), items: [[...spanIds]] }))[0]!;
    return {
      instance: row.service_instance,
      environment: row.environment,
      resource: JSON.parse(row.resource as string) as object,
    };
  };
  assert.equal(
    shared([
      ["k8s.pod.name", "pod"],
      ["k8s.pod.uid", "uid"],
      ["host.name", "h"],
    ]).instance,
    "uid",
  );
  assert.equal(
    shared([
      ["host.id", "h"],
      ["process.pid", 12n],
      ["container.id", "c"],
    ]).instance,
    "h:12",
  );
  assert.equal(
    shared([
      ["host.name", "h"],
      ["container.id", "c"],
    ]).instance,
    "c",
  );
  assert.equal(shared([["deployment.environment", "old"]]).environment, "old");
  assert.equal(
    shared([
      ["deployment.environment", "old"],
      ["deployment.environment.name", "new"],
    ]).environment,
    "new",
  );
  assert.deepEqual(
    shared([
      ["process.pid", "x12"],
      ["host.name", "a"],
      ["host.name", "b"],
    ]).resource,
    {
      "host.name": "a",
      attributes: [
        { key: "process.pid", value: "x12" },
        { key: "host.name", value: "b" },
      ],
      dropped_attributes_count: 0,
    },
  );
});

test("a session is the span's own, else its resource's", () => {
  const resource = attributes(1, [["session.id", "resource"]]);
  const long = "s".repeat(1000);
  const cases: Attributes[] = [
    [],
    [["session.id", "own"]],
    [["session.id", 42n]],
    [["session.id", long]],
    [["session.id", ""]],
  ];
  const items = cases.map((pairs) => [...spanIds, ...attributes(9, pairs)]);
  const rows = storedSpans(request({ resource, items }));
  assert.deepEqual(
    rows.map((row) => row.session_id),
    ["resource", "own", "42", long, "resource"],
  );
});
