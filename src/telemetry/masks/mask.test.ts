import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { mask, maskedBytes, maskRoom, maskText } from "./mask.ts";

/** Texts and their masked forms. */
function masks(name: string, cases: Readonly<Record<string, string>>): void {
  test(name, () => {
    for (const [text, expected] of Object.entries(cases)) assert.equal(maskText(text), expected);
  });
}

masks("numbers, with their units", {
  "took 12 ms": "took <*>",
  "took 1.5s": "took <*>",
  "took 12 seconds": "took <*> seconds",
  "-27 of +5 (99.5%)": "<*> of <*> (<*>)",
  "free 317.5 MB, used 2 GiB.": "free <*>, used <*>.",
  "0x00004ed8 and #17": "<*> and <*>",
  "lifetime <1 sec": "lifetime <*>",
  "sent 1033 bytes (1.00 KB) to it": "sent <*> bytes to it",
  "array<3>": "array<<*>>",
  "5 mice": "<*> mice",
});

masks("ids", {
  "id 3f2c8a10-9d0b-4c55-8a8e-0d7f6c1b2a3e": "id <*>",
  "commit feedfacecafe": "commit <*>",
  "Got blk_-1608999687919862906": "Got blk_<*>",
  "attempt_1445144423722_0020_m_000000_0 ended": "attempt_<*> ended",
  "com.acme.Foo$Bar@1f2e3d": "<*>",
  "thread-7 and worker12": "<*> and <*>",
});

masks("addresses, hosts and paths", {
  "from 10.0.0.1:5432": "from <*>",
  "from /10.0.0.1 to fe80::1ff:fe23:4567:890a": "from <*> to <*>",
  "MAC FF:F2:9F:16:C4:C2.": "MAC <*>.",
  "mail to bob@example.org!": "mail to <*>!",
  "at db.internal, www.example.co.uk and n21.example.net": "at <*> and <*>",
  "open /var/log/app/a.log": "open <*>",
  "open ./run: C:\\Windows\\a.dll and C:/b": "open <*>: <*> and <*>",
  "GET https://shop.example.com/api/orders?id=x&y=z (again)": "GET https://<*> (again)",
  "Input/output error, read/write": "Input/output error, read/write",
  "call com.acme.shop.Cart": "call com.acme.shop.Cart",
});

masks("dates and times", {
  "2026-11-21T03:47:33.123Z ready": "<*> ready",
  "at Sat Sep 17 07:49:04 PDT 2005": "at <*>",
  "on Tuesday, March 3rd": "on <*>",
  "Sat down in may": "Sat down in may",
  "12:30:01 PM": "<*>",
});

masks("lists, however long", {
  "speeds ( 3552 3534 **** 3479 )": "speeds ( <*> )",
  "Rect(0, 0 - 1440, 2560)": "Rect(<*>)",
  "delete blk_1 blk_22, blk_-3": "delete blk_<*>",
  "on node-[40-63, 70] and id[0]=0": "on <*> and id[<*>]=<*>",
  "order 12: 30 ms": "order <*>: <*>",
  "rdd_1 broadcast_2": "rdd_<*> broadcast_<*>",
  "from 1.2.3.4 () at": "from <*> (<*>) at",
  "vibrate=[] init()": "vibrate=[<*>] init()",
});

masks("what a program says stays", {
  "jk2_init() of AirPort_Brcm43xx": "jk2_init() of AirPort_Brcm43xx",
  "r24=0x1 PSR0=00001f01": "r24=<*> PSR0=<*>",
  '{"level":"info","ms":12}': '{"level":"info","ms":<*>}',
  "enable......0": "enable......<*>",
  "Done... really?": "Done... really?",
  "naïve 日本 text": "naïve 日本 text",
  " a\t\n b ": "a b",
  "": "",
});

test("what follows the bytes that are looked at makes no difference", () => {
  const start = "word ".repeat(300);
  assert.equal(maskText(start + "a"), maskText(start + "b".repeat(5000)));
  assert.ok(maskText(start).length <= maskedBytes);
  // Not cut within a character.
  assert.doesNotMatch(maskText("é".repeat(maskedBytes)), /\uFFFD/);
  assert.doesNotMatch(maskText(`x${"é".repeat(maskedBytes)}`), /\uFFFD/);
});

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 3000 }),
  fc
    .array(
      fc.constantFrom(
        "1",
        "22",
        "a",
        "ab",
        "deadbeef",
        ":",
        ",",
        ".",
        "..",
        "-",
        "_",
        "/",
        "\\",
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        "=",
        "@",
        " ",
        "ms",
        "bytes",
        "Jan",
        "é",
      ),
      { maxLength: 600 },
    )
    .map((parts) => parts.join("")),
);

test("any text has a masked form that fits, whatever bytes stand around it", () => {
  fc.assert(
    fc.property(text, fc.uint8Array({ maxLength: 40 }), (given, around) => {
      const bytes = new TextEncoder().encode(given);
      const out = new Uint8Array(maskRoom);
      const length = mask(bytes, 0, bytes.length, out);
      assert.ok(length <= maskRoom);
      const within = new Uint8Array([...around, ...bytes, ...around]);
      const again = new Uint8Array(maskRoom);
      const lengthAgain = mask(within, around.length, around.length + bytes.length, again);
      assert.deepEqual(Buffer.from(again.subarray(0, lengthAgain)), Buffer.from(out.subarray(0, length)));
    }),
  );
});

test("a masked form has no digits but those of names", () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1, maxLength: 5 }), (numbers) => {
      assert.equal(maskText(`got ${numbers.join(" ")} of them`), "got <*> of them");
    }),
  );
});
