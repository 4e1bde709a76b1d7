import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseTimestamp, unixNano } from "./timestamp.ts";

test("date-times are read exactly, to the nanosecond", () => {
  const cases: [string, bigint][] = [
    ["1970-01-01T00:00:00Z", 0n],
    ["1970-01-01T00:00:00.000000001Z", 1n],
    ["1969-12-31T23:59:59.999999999Z", -1n],
    ["2026-01-26T09:30:00.5Z", 1_769_419_800_500_000_000n],
    ["2026-01-26T09:30:00.123456789Z", 1_769_419_800_123_456_789n],
    ["2026-01-26T10:30:00+01:00", 1_769_419_800_000_000_000n],
    ["2026-01-26T04:00:00-05:30", 1_769_419_800_000_000_000n],
    ["2026-01-26t09:30:00z", 1_769_419_800_000_000_000n],
    ["2026-01-26T09:30:00-00:00", 1_769_419_800_000_000_000n],
    ["2024-02-29T00:00:00Z", 1_709_164_800_000_000_000n],
    ["2000-02-29T00:00:00Z", 951_782_400_000_000_000n],
    ["0000-01-01T00:00:00Z", -62_167_219_200_000_000_000n],
    ["9999-12-31T23:59:59Z", 253_402_300_799_000_000_000n],
  ];
  for (const [text, nanos] of cases) assert.equal(parseTimestamp(text), nanos, text);
});

test("what RFC 3339 or the calendar does not have is refused", () => {
  const cases = [
    "",
    "now",
    "2026-01-26",
    "2026-01-26T09:30Z",
    "2026-01-26T09:30:00",
    "2026-01-26 09:30:00Z",
    " 2026-01-26T09:30:00Z",
    "2026-01-26T09:30:00Z ",
    "2026-01-26T09:30:00 01:00",
    "2026-1-26T09:30:00Z",
    "26-01-26T09:30:00Z",
    "+002026-01-26T09:30:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-32T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-01-26T24:00:00Z",
    "2026-01-26T09:60:00Z",
    "2026-01-26T09:30:61Z",
    "2026-01-26T09:30:00.Z",
    "2026-01-26T09:30:00.1234567890Z",
    "2026-01-26T09:30:00,5Z",
    "2026-01-26T09:30:00+24:00",
    "2026-01-26T09:30:00+01:60",
    "2026-01-26T09:30:00+0100",
    "2026-01-26T09:30:00Z[Europe/Berlin]",
    "٢٠٢٦-01-26T09:30:00Z",
  ];
  for (const text of cases) assert.equal(parseTimestamp(text), undefined, text);
});

test("a leap second counts as the second after it, and is taken only where one can be", () => {
  const after = parseTimestamp("2017-01-01T00:00:00Z")!;
  assert.equal(parseTimestamp("2016-12-31T23:59:60Z"), after);
  assert.equal(parseTimestamp("2016-12-31T23:59:60.25Z"), after + 250_000_000n);
  assert.equal(parseTimestamp("2017-01-01T00:59:60+01:00"), after);
  assert.equal(parseTimestamp("2016-12-31T18:59:60-05:00"), after);
  for (const text of [
    "2016-12-30T23:59:60Z",
    "2016-12-31T22:59:60Z",
    "2016-12-31T23:58:60Z",
    "2016-12-31T23:59:60+01:00",
  ]) {
    assert.equal(parseTimestamp(text), undefined, text);
  }
});

test("every instant that Date can print reads back as itself, whatever the offset", () => {
  const instants = fc.date({
    min: new Date("0000-01-02T00:00:00Z"),
    max: new Date("9999-12-30T00:00:00Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(
      instants,
      fc.integer({ min: -1439, max: 1439 }),
      fc.integer({ min: 0, max: 999_999 }),
      (date, offset, below) => {
        const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) =>
          String(part).padStart(2, "0"),
        );
        const text = `${local}${String(below).padStart(6, "0")}${offset < 0 ? "-" : "+"}${hours}:${minutes}`;
        assert.equal(parseTimestamp(text), BigInt(date.getTime()) * 1_000_000n + BigInt(below));
      },
    ),
  );
});

test("times past what an int64 holds are held to its ends", () => {
  assert.equal(unixNano("9999-12-31T23:59:59Z"), 2n ** 63n - 1n);
  assert.equal(unixNano("0001-01-01T00:00:00Z"), -(2n ** 63n));
  assert.equal(unixNano("2026-01-26T09:30:00Z"), 1_769_419_800_000_000_000n);
  assert.throws(() => unixNano("yesterday"), TypeError);
});
