import assert from "node:assert/strict";
import { test } from "node:test";
import { isSemver } from "./semver.ts";

test("versions are those of Semantic Versioning and no others", () => {
  const valid = [
    "0.0.0",
    "1.2.3",
    "10.20.30",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-0A.is.legal",
    "1.0.0--",
    "1.2.3+build.007",
    "1.2.3-rc.1+sha.9fceb02",
    "99999999999999999999.0.0",
  ];
  const invalid = [
    "",
    "1",
    "1.2",
    "1.2.3.4",
    "v1.2.3",
    "01.2.3",
    "1.2.03",
    "1.2.3-",
    "1.2.3+",
    "1.2.3-01",
    "1.2.3-a..b",
    "1.2.3-ä",
    "1.2.3+a+b",
    " 1.2.3",
    "1.2.3\n",
    "latest",
  ];
  assert.deepEqual(
    valid.filter((text) => !isSemver(text)),
    [],
  );
  assert.deepEqual(invalid.filter(isSemver), []);
});
