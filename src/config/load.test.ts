import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { OperatorError } from "../core/errors.ts";
import { loadConfig } from "./load.ts";

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), "vigil-config-"));
});
after(() => rmSync(directory, { recursive: true, force: true }));

function file(text: string): string {
  const path = join(directory, `${Math.random().toString(36).slice(2)}.json5`);
  writeFileSync(path, text);
  return path;
}

/** The sentence that a configuration is refused with. */
function refusal(flags: Record<string, string>, env: Record<string, string> = {}): string {
  let message = "";
  assert.throws(
    () => loadConfig({ data: directory, ...flags }, env),
    (error) => {
      assert.ok(error instanceof OperatorError);
      message = error.message;
      return true;
    },
  );
  return message;
}

test("without anything, the defaults hold", () => {
  const config = loadConfig({ data: directory }, {});
  assert.deepEqual(config.listen, { host: "127.0.0.1", port: 4318 });
  assert.deepEqual(config.grpcListen, { host: "127.0.0.1", port: 4317 });
  assert.equal(config["retention.logs"], 30);
  assert.equal(config["ingest.maxBodyBytes"], 64 * 2 ** 20);
  assert.equal(config.configFile, undefined);
  assert.ok(Object.isFrozen(config));
});

test("a flag wins over the environment, that over the file, that over the default", () => {
  const config = file(`{ listen: "127.0.0.1:1", grpcListen: "127.0.0.1:2", retention: { logs: "3d" } }`);
  const read = loadConfig(
    { data: directory, config, listen: "127.0.0.1:3" },
    { VIGIL_LISTEN: "127.0.0.1:4", VIGIL_GRPC_LISTEN: "off" },
  );
  assert.equal(read.listen.port, 3);
  assert.equal(read.grpcListen, null);
  assert.equal(read["retention.logs"], 3);
  assert.equal(read["retention.traces"], 30);
});

test("every mistake is named at once, with where it stands and what is allowed", () => {
  const config = file(`{ lisen: "x", retention: { logs: "soon" }, stores: 3 }`);
  const message = refusal({ config, "grpc-listen": "nowhere" }, { VIGIL_LOG_LEVEL: "loud" });
  assert.match(message, /unknown key lisen; did you mean listen\?/);
  assert.match(message, /retention\.logs in .*json5 must be a time of at least a day.*; it is "soon"/);
  assert.match(message, /stores in .* must be an object/);
  assert.match(message, /--grpc-listen must be HOST:PORT.*or off; it is "nowhere"/);
  assert.match(message, /VIGIL_LOG_LEVEL must be one of trace, debug/);
});

test("a value may come from the environment or a file, and an unset one is refused", () => {
  writeFileSync(join(directory, "url.txt"), "postgres://u:p@h/db\n");
  const config = file(`{ stores: { postgres: { url: { file: "url.txt" } }, clickhouse: { url: "\${CH}" } } }`);
  const read = loadConfig({ data: directory, config }, { CH: "http://ch:8123" });
  assert.equal(read["stores.postgres.url"], "postgres://u:p@h/db");
  assert.equal(read["stores.clickhouse.url"], "http://ch:8123");
  assert.match(refusal({ config }), /stores\.clickhouse\.url in .* takes \$\{CH\}, which is not set/);
});

test("a wrong secret is refused without being shown", () => {
  const message = refusal({}, { VIGIL_POSTGRES_URL: "mysql://root:hunter2@db" });
  assert.match(message, /VIGIL_POSTGRES_URL must be a postgres:\/\/ address/);
  assert.doesNotMatch(message, /hunter2/);
});

test("a file that is asked for must exist and be JSON5", () => {
  assert.match(refusal({ config: join(directory, "none.json5") }), /does not exist/);
  assert.match(refusal({ config: file("{ listen: ") }), /is not valid JSON5/);
  assert.match(refusal({ config: file("[]") }), /must hold one object/);
});

test("a relative data directory in a file is relative to that file", () => {
  const config = file(`{ dataDir: "kept" }`);
  assert.equal(loadConfig({ config }, {}).dataDir, join(directory, "kept"));
});

test("sizes, times and origins are read strictly", () => {
  const read = (env: Record<string, string>) => loadConfig({ data: directory }, env);
  assert.equal(read({ VIGIL_INGEST_MAX_BODY_BYTES: "1GB" })["ingest.maxBodyBytes"], 2 ** 30);
  assert.equal(read({ VIGIL_INGEST_MAX_BODY_BYTES: "2048" })["ingest.maxBodyBytes"], 2048);
  assert.equal(read({ VIGIL_RETENTION_LOGS: "25h" })["retention.logs"], 2);
  assert.deepEqual(
    read({ VIGIL_INGEST_CORS_ORIGINS: "https://a.example,http://b.example:8080" })["ingest.corsOrigins"],
    ["https://a.example", "http://b.example:8080"],
  );
  for (const [name, value] of [
    ["VIGIL_INGEST_MAX_BODY_BYTES", "12"],
    ["VIGIL_INGEST_MAX_BODY_BYTES", "-1MB"],
    ["VIGIL_RETENTION_LOGS", "1h"],
    ["VIGIL_INGEST_CORS_ORIGINS", "https://a.example/path"],
    ["VIGIL_LISTEN", "127.0.0.1:70000"],
    ["VIGIL_CLICKHOUSE_URL", "ftp://x"],
  ] as const) {
    assert.match(refusal({}, { [name]: value }), new RegExp(`${name} must be`));
  }
});

test("an address that other machines can reach is refused while nobody is asked who they are", () => {
  assert.match(refusal({ listen: "0.0.0.0:4318" }), /--listen is 0\.0\.0\.0:4318, which other machines can reach/);
  assert.match(refusal({}, { VIGIL_GRPC_LISTEN: "[::]:4317" }), /VIGIL_GRPC_LISTEN is :::4317/);
  assert.equal(loadConfig({ data: directory, listen: "[::1]:4318" }, {}).listen.host, "::1");
});
