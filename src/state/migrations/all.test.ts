import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { migrations } from "./all.ts";

test("migrations are counted without a gap, and each file's is in the list", () => {
  const names = migrations.map(({ name }) => name);
  assert.deepEqual(
    names.map((name) => Number(/^(\d{4})-[a-z-]+$/.exec(name)?.[1])),
    names.map((_, index) => index + 1),
  );
  const files = globSync("[0-9]*.ts", { cwd: import.meta.dirname }).toSorted();
  assert.deepEqual(
    names,
    files.map((file) => file.replace(/\.ts$/, "")),
  );
});
