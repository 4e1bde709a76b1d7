import assert from "node:assert/strict";
import { test } from "node:test";
import type { Query } from "./contract.ts";
import type { Sql } from "./migrations.ts";
import { parseServer, prepareDatabase } from "./server.ts";

test("an address names server, user, password and database", () => {
  assert.deepEqual(parseServer("https://vi%40gil:p%2Fw%3A@db.example:9443/own%20name", "main"), {
    url: "https://db.example:9443",
    username: "vi@gil",
    password: "p/w:",
    layout: { database: "own name", cluster: "main" },
  });
});

test("what an address does not name has a default", () => {
  const expected = {
    url: "http://db:8123",
    username: "default",
    password: "",
    layout: { database: "vigil", cluster: undefined },
  };
  assert.deepEqual(parseServer("http://db:8123"), expected);
  assert.deepEqual(parseServer("http://db:8123/", ""), expected);
});

class FakeServer implements Sql {
  readonly commands: string[] = [];
  readonly #version: string;
  readonly #databases: string[];
  constructor(version: string, databases: string[] = []) {
    this.#version = version;
    this.#databases = databases;
  }
  async command(sql: string): Promise<void> {
    this.commands.push(sql);
  }
  async rows<T>({ sql, params }: Query): Promise<T[]> {
    if (sql.includes("version()")) return [{ version: this.#version }] as T[];
    return this.#databases.filter((name) => name === params?.name) as T[];
  }
}

test("the database is made, on every server of a cluster, unless it is there", async () => {
  const empty = new FakeServer("26.7.2.1");
  await prepareDatabase(empty, parseServer("http://db:8123/own", "main"));
  assert.deepEqual(empty.commands, ["CREATE DATABASE IF NOT EXISTS `own` ON CLUSTER `main`"]);
  const given = new FakeServer("27.1.1.1", ["own"]);
  await prepareDatabase(given, parseServer("http://db:8123/own"));
  assert.deepEqual(given.commands, []);
});

test("a server that is too old is refused with its version and what to do", async () => {
  for (const version of ["25.12.1.1", "26.6.9.9", ""]) {
    await assert.rejects(
      prepareDatabase(new FakeServer(version), parseServer("http://user:secret@db:8123")),
      (error: Error) => {
        assert.equal(error.name, "OperatorError");
        assert.match(error.message, /^ClickHouse at http:\/\/db:8123 is version .*; Vigil needs 26\.7 or newer\./);
        return true;
      },
    );
  }
  for (const version of ["26.7.1.1", "26.10.1.1", "27.1.1.1"])
    await prepareDatabase(new FakeServer(version), parseServer("http://db:8123"));
});
