import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { runVigil, startVigil } from "./start-vigil.ts";

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), "vigil-cli-"));
});
after(() => rmSync(directory, { recursive: true, force: true }));

/** The command must be refused with one sentence that matches, and no stack trace. */
async function refused(args: readonly string[], sentence: RegExp, env?: Record<string, string>): Promise<void> {
  const { code, stderr } = await runVigil(args, env);
  assert.equal(code, 2, stderr);
  assert.match(stderr, sentence);
  assert.doesNotMatch(stderr, /^\s+at |node:internal/m);
}

describe("the command line", () => {
  test("--help names every command and option", async () => {
    const { code, stdout } = await runVigil(["--help"]);
    assert.equal(code, 0);
    for (const word of [
      "serve",
      "config check",
      "doctor",
      "--data DIR",
      "--listen",
      "--grpc-listen",
      "--hooks-listen",
      "--config",
      "VIGIL_CLICKHOUSE_URL",
    ]) {
      assert.ok(stdout.includes(word), word);
    }
    assert.equal((await runVigil(["serve", "--help"])).stdout, stdout);
  });

  test("--version prints the version", async () => {
    assert.match((await runVigil(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
  });

  test("what it does not know is refused with what was probably meant", async () => {
    await refused(["srve"], /There is no command srve; did you mean vigil serve\?/);
    await refused(["serve", "--lisen", "x"], /There is no option --lisen; did you mean --listen\?/);
    await refused(["serve", "--listen", "here"], /--listen must be HOST:PORT.*it is "here"/);
    await refused([], /Which command\?/);
    await refused(["serve", "--listen", "0.0.0.0:0"], /which other machines can reach/);
    await refused(["serve"], /VIGIL_POSTGRES_URL must be a postgres:\/\/ address/, { VIGIL_POSTGRES_URL: "x" });
  });

  test("config check says what is wrong with a file, and that a right one is right", async () => {
    const file = join(directory, "vigil.json5");
    writeFileSync(file, `{ retention: { logs: "7d" }, // a comment\n }`);
    const right = await runVigil(["config", "check", "--config", file]);
    assert.equal(right.code, 0);
    assert.match(right.stdout, /The configuration is right\. Read from .*vigil\.json5/);
    writeFileSync(file, `{ retention: { logz: "7d" } }`);
    await refused(["config", "check", "--config", file], /unknown key retention\.logz; did you mean retention\.logs\?/);
  });

  test("doctor looks at everything and says that all is well", async () => {
    const ports = ["--listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0", "--hooks-listen", "127.0.0.1:0"];
    const { code, stdout } = await runVigil(["doctor", "--data", join(directory, "doctor"), ...ports]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /The embedded engine/);
    assert.match(stdout, /All is well/);
  });

  test("doctor says what is wrong, without a stack trace", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const { code, stdout, stderr } = await runVigil(
      ["doctor", "--data", join(directory, "ill"), "--listen", `127.0.0.1:${port}`],
      {
        VIGIL_CLICKHOUSE_URL: "http://127.0.0.1:9",
        VIGIL_POSTGRES_URL: "postgres://me:hunter2@127.0.0.1:9/vigil",
      },
    );
    taken.close();
    assert.equal(code, 1, stderr);
    assert.match(stdout, /cannot be listened on \(EADDRINUSE\).*--listen/);
    assert.match(stdout, /ClickHouse at http:\/\/127\.0\.0\.1:9 does not answer/);
    assert.match(stdout, /PostgreSQL at 127\.0\.0\.1:9 cannot be used/);
    assert.doesNotMatch(stdout + stderr, /hunter2/);
  });
});

describe("a start that cannot succeed", () => {
  test("a port that is taken is named, with the option to change it", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const at = `127.0.0.1:${port}`;
    const data = join(directory, "taken");
    await refused(
      ["serve", "--data", data, "--grpc-listen", "off", "--listen", at],
      new RegExp(`cannot listen on ${at}.*--listen`),
    );
    await refused(
      ["serve", "--data", data, "--listen", "127.0.0.1:0", "--grpc-listen", at],
      new RegExp(`${at}.*--grpc-listen`),
    );
    taken.close();
  });

  test("a data directory that cannot be made is named", async () => {
    writeFileSync(join(directory, "file"), "");
    await refused(
      ["serve", "--data", join(directory, "file", "data")],
      /The data directory .*file\/data cannot be made \(ENOTDIR\)/,
    );
  });

  test("a data directory that another Vigil holds is named, with that one's process", async () => {
    const vigil = await startVigil();
    try {
      await refused(
        ["serve", "--data", vigil.data, "--listen", "127.0.0.1:0", "--grpc-listen", "off"],
        new RegExp(`in use by another Vigil \\(process ${vigil.process.pid}\\)`),
      );
    } finally {
      assert.equal(await vigil.stop(), 0);
    }
  });

  test("a state database that is no database is named and left as it is", async () => {
    const data = join(directory, "broken");
    mkdirSync(data);
    writeFileSync(join(data, "state.db"), "no database".repeat(1000));
    await refused(["serve", "--data", data, "--listen", "127.0.0.1:0", "--grpc-listen", "off"], /state\.db/);
  });
});

describe("signals", () => {
  test("SIGTERM and SIGINT end it with exit code 0, and what it kept is there after the next start", async () => {
    const data = join(directory, "signals");
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const vigil = await startVigil({ data });
      assert.equal((await fetch(`${vigil.url}/health/ready`)).status, 200);
      vigil.process.kill(signal);
      assert.equal(await vigil.stop(), 0);
    }
  });
});
