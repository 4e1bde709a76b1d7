import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { MalformedPayload } from "../protobuf/malformed-payload.ts";
import { signals } from "../signal.ts";
import { randomRequest, space } from "./random-request.ts";
import { transcode } from "./transcode.ts";

for (const signal of signals) {
  test(`any ${signal} request in JSON becomes the same request in protobuf, byte for byte`, () => {
    fc.assert(
      fc.property(fc.gen(), fc.boolean(), (draw, mark) => {
        const { json, protobuf } = randomRequest(draw, signal);
        const text = Buffer.from(`${mark ? "\ufeff" : ""}${space(draw)}${json}${space(draw)}`);
        assert.equal(transcode(signal, text).toString("hex"), protobuf.toString("hex"));
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });
}

test("what JSON.parse refuses is refused, and nothing but MalformedPayload is ever thrown", () => {
  const characters = [...'{}[],:"\\-+.0123456789eEtrufalsn \n\t\u0001é', "null", "true", "spans", "\\u00e9", "\\x"];
  fc.assert(
    fc.property(
      fc.gen(),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.constantFrom(...characters)), { minLength: 1, maxLength: 4 }),
      (draw, edits) => {
        let json = randomRequest(draw, "logs", 2).json;
        for (const [where, removed, added] of edits) {
          const at = where % (json.length + 1);
          json = json.slice(0, at) + added + json.slice(at + removed);
        }
        let valid = true;
        try {
          JSON.parse(json);
        } catch {
          valid = false;
        }
        try {
          transcode("logs", Buffer.from(json));
        } catch (error) {
          assert.ok(error instanceof MalformedPayload, String(error));
          return;
        }
        assert.ok(valid, `taken: ${json}`);
      },
    ),
    { numRuns: 500, endOnFailure: true },
  );
});

/** The sentence with which a traces request is refused. */
function refusal(json: string | Buffer): string {
  try {
    transcode("traces", Buffer.from(json));
  } catch (error) {
    assert.ok(error instanceof MalformedPayload, String(error));
    return error.message;
  }
  return "taken";
}

const span = (members: string) => `{"resourceSpans":[{},{"scopeSpans":[{"spans":[{"name":"a"},{${members}}]}]}]}`;

test("a wrong value is named by its path", () => {
  const where = "The body is not a valid ExportTraceServiceRequest: resourceSpans[1].scopeSpans[0].spans[1]";
  const cases: readonly (readonly [string, string])[] = [
    ['"startTimeUnixNano":"soon"', ".startTimeUnixNano must be an integer."],
    ['"startTimeUnixNano":1.5', ".startTimeUnixNano must be an integer of at most 64 bits."],
    ['"startTimeUnixNano":"18446744073709551616"', ".startTimeUnixNano must be an integer of at most 64 bits."],
    ['"startTimeUnixNano":-1', ".startTimeUnixNano must not be negative."],
    ['"start_time_unix_nano":{}', ".start_time_unix_nano must be an integer."],
    ['"startTimeUnixNano":"007"', ".startTimeUnixNano must be an integer."],
    ['"startTimeUnixNano":""', ".startTimeUnixNano must be an integer."],
    ['"startTimeUnixNano":1e99999999999999999999', ".startTimeUnixNano must be an integer of at most 64 bits."],
    ['"droppedEventsCount":4294967296', ".droppedEventsCount must be an integer from 0 to 4294967295."],
    ['"kind":"SERVER"', ".kind must be an integer or a name such as SPAN_KIND_INTERNAL."],
    ['"kind":true', ".kind must be an integer."],
    ['"name":5', ".name must be a string."],
    ['"traceId":5', ".traceId must be a string of hex digits."],
    ['"attributes":{}', ".attributes must be an array."],
    ['"attributes":[null]', ".attributes[0] must be an object."],
    ['"attributes":[{"key":"a","value":"b"}]', ".attributes[0].value must be an object."],
    ['"attributes":[{"value":{"boolValue":"true"}}]', ".attributes[0].value.boolValue must be true or false."],
    ['"attributes":[{"value":{"bytesValue":"a"}}]', ".attributes[0].value.bytesValue must be a string of base64."],
    [
      '"attributes":[{"value":{"doubleValue":"1,5"}}]',
      ".attributes[0].value.doubleValue must be a number that a double can hold.",
    ],
    [
      '"attributes":[{"value":{"doubleValue":1e400}}]',
      ".attributes[0].value.doubleValue must be a number that a double can hold.",
    ],
    [
      '"attributes":[{"value":{"intValue":"9223372036854775808"}}]',
      ".attributes[0].value.intValue must be an integer of at most 64 bits with its sign.",
    ],
    [
      '"attributes":[{"value":{"intValue":-9223372036854775809}}]',
      ".attributes[0].value.intValue must be an integer of at most 64 bits.",
    ],
    ['"unknown":{"a":[1,{"b":[]}]},"status":[]', ".status must be an object."],
    ['"links":[{},{"\\u0073panId":7}]', ".links[1].spanId must be a string of hex digits."],
  ];
  for (const [members, sentence] of cases) assert.equal(refusal(span(members)), where + sentence);
  assert.equal(refusal("[]"), "The body is not a valid ExportTraceServiceRequest: it must be an object.");
  assert.equal(refusal("\ufeffnull"), "The body is not a valid ExportTraceServiceRequest: it must be an object.");
});

test("text that is not JSON is named by its byte", () => {
  assert.equal(refusal(""), "The body is not valid JSON: the text ends too early.");
  assert.equal(refusal('{"resourceSpans":['), "The body is not valid JSON: the text ends too early.");
  assert.equal(refusal('{"a":1,}'), "The body is not valid JSON: a key in double quotes is missing (byte 7).");
  assert.equal(refusal('{"a":01}'), "The body is not valid JSON: this is not a JSON value (byte 5).");
  assert.equal(refusal('{"a":nul}'), "The body is not valid JSON: this is not a JSON value (byte 5).");
  assert.equal(refusal("{} {}"), "The body is not valid JSON: there is text after the end of the object (byte 3).");
  assert.equal(refusal('{"a":"\\q"}'), "The body is not valid JSON: an escape in a string is not valid (byte 5).");
  assert.equal(
    refusal('{"a":"\n"}'),
    "The body is not valid JSON: a control character in a string must be escaped (byte 6).",
  );
});

test("nesting is limited, known fields and unknown ones alike", () => {
  const nested = (open: string, close: string, times: number) => open.repeat(times) + close.repeat(times);
  assert.match(
    refusal(`{"x":${nested("[", "]", 100_000)}}`),
    /^The body is not a valid Export\w+: x(\[0\]){200} is nested deeper than 200 levels\.$/,
  );
  const value = nested('{"arrayValue":{"values":[', "]}}", 50_000);
  assert.match(refusal(span(`"attributes":[{"value":${value}}]`)), /is nested deeper than 200 levels\.$/);
  assert.equal(refusal(`{"x":${nested("[", "]", 150)}}`), "taken");
});

test("an id that is not hex becomes one of a wrong length, for the decoder to reject", () => {
  const base64 = Buffer.alloc(16, 7).toString("base64");
  for (const id of [base64, "xyz", "abc", "0g", "\\u00e9\\u00e9"]) {
    assert.equal(
      transcode("traces", Buffer.from(span(`"traceId":"${id}"`)))
        .toString("hex")
        .slice(-6),
      "0a0100",
      id,
    );
  }
  assert.equal(
    transcode("traces", Buffer.from(span('"traceId":"\\u0061B"')))
      .toString("hex")
      .slice(-6),
    "0a01ab",
  );
});

test("a key that comes twice is written twice: lists are appended, the last scalar wins", () => {
  const twice = transcode(
    "traces",
    Buffer.from('{"resourceSpans":[{"schemaUrl":"a","schema_url":"b"}],"resourceSpans":[{}]}'),
  );
  assert.equal(twice.toString("hex"), "0a061a01611a01620a00");
});

test("lone surrogates become U+FFFD", () => {
  const [, content] = transcode("traces", Buffer.from('{"resourceSpans":[{"schemaUrl":"\\ud800x"}]}'))
    .toString("utf8")
    .split("\x1a\x04");
  assert.equal(content, "\ufffdx");
});
