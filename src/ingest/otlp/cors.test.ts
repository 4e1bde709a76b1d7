import assert from "node:assert/strict";
import { test } from "node:test";
import { createCors } from "./cors.ts";

const cors = createCors(["https://app.example.com"]);

test("pages of loopback and of listed origins may send", () => {
  const origins = [
    "http://localhost",
    "http://localhost:5173",
    "https://shop.localhost:8443",
    "https://127.0.0.1",
    "http://127.8.9.10:80",
    "http://[::1]:8080",
    "https://app.example.com",
  ];
  for (const origin of origins) {
    const answer = cors({ origin });
    assert.equal(answer["access-control-allow-origin"], origin);
    assert.equal(answer.vary, "Origin");
    assert.equal(answer["access-control-allow-methods"], undefined);
  }
});

test("a preflight is told what may be sent", () => {
  const asked = "Content-Type, x-api-key,cookie2, x-bad header,X-Tenant";
  const answer = cors({
    origin: "http://localhost:5173",
    "access-control-request-method": "POST",
    "access-control-request-headers": asked,
  });
  assert.equal(answer["access-control-allow-methods"], "POST");
  assert.equal(answer["access-control-max-age"], "7200");
  assert.equal(
    answer["access-control-allow-headers"],
    "content-type, content-encoding, authorization, traceparent, tracestate, baggage, x-api-key, x-tenant",
  );
});

test("other origins get no CORS headers, and neither do requests without one", () => {
  const foreign = [
    undefined,
    "null",
    "https://evil.example",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://notlocalhost",
    "ftp://localhost",
    "http://app.example.com",
    "https://app.example.com:444",
    "https://app.example.com.evil.example",
  ];
  for (const origin of foreign) {
    assert.deepEqual(cors({ origin, "access-control-request-method": "POST" }), { vary: "Origin" });
  }
});
