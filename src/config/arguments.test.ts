import assert from "node:assert/strict";
import { test } from "node:test";
import { readArguments } from "./arguments.ts";

test("words and flags are told apart in any order", () => {
  const read = readArguments(["config", "--data", "x", "check", "--listen=127.0.0.1:1"]);
  assert.deepEqual(read.words, ["config", "check"]);
  assert.deepEqual({ ...read.flags }, { data: "x", listen: "127.0.0.1:1" });
  assert.equal(readArguments(["-h"]).help, true);
});

test("an unknown flag is refused with the one that was probably meant", () => {
  assert.throws(() => readArguments(["--lisen", "x"]), /There is no option --lisen; did you mean --listen\?/);
  assert.throws(() => readArguments(["--zzzzzzz"]), /vigil --help lists them all/);
  assert.throws(() => readArguments(["-x"]), /There is no option -x/);
});

test("a flag without its value is refused", () => {
  assert.throws(() => readArguments(["serve", "--data"]), /--data needs a value: --data DIR/);
  assert.throws(() => readArguments(["--data", "--listen", "x"]), /--data needs a value/);
});
