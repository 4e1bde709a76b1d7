import assert from "node:assert/strict";
import { test } from "node:test";
import { quoteText, readStatement } from "./statement.ts";

test("one statement is one, whatever its quotes and comments hold", () => {
  for (const sql of [
    "SELECT 1",
    "SELECT 1;",
    "SELECT 1 ; -- and no more;\n /* ; */",
    "SELECT ';', ';''', '\\';', \"a;\", `b;`",
    "SELECT 'it''s; x' /* ; /* nested ; */ ; */ -- ;\n, 2",
    "SELECT $tag$ a ; ' b $tag$, $$;$$, ‘;’, “;”",
    "SELECT 1 # ; a comment\n, 2 #! ;",
    "SELECT 'an unclosed ; string",
  ]) {
    assert.equal(readStatement(sql).several, false, sql);
  }
});

test("several statements are seen", () => {
  for (const sql of [
    "SELECT 1; SELECT 2",
    "SELECT ''; DROP TABLE t",
    "SELECT '\\\\'; DROP TABLE t",
    "SELECT 1 -- x\n; DROP TABLE t",
    "SELECT 1 /* a */ ; /* b */ x",
    "SELECT $a$ $b$ $a$; SELECT 2",
    "SELECT 1;;SELECT 2",
  ]) {
    assert.equal(readStatement(sql).several, true, sql);
  }
});

test("the verb and the placeholders are found, those in texts are not", () => {
  const read = readStatement(
    "/* a */ -- b\n select {a:String}, { b : Array(UInt8) }, '{c:String}', {'d': 1}, `{e:Int8}`",
  );
  assert.equal(read.verb, "SELECT");
  assert.deepEqual([...read.placeholders], ["a", "b"]);
  assert.equal(readStatement("WITH 1 AS x SELECT x, 'INSERT'").verb, "WITH");
  assert.equal(readStatement("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x").verb, "INSERT");
});

test("rows beside an INSERT are told from rows in it and from SELECT", () => {
  assert.equal(
    readStatement("INSERT INTO t (a, `format`) FORMAT Native").data?.from("FROM INFILE 'f'"),
    "INSERT INTO t (a, `format`) FROM INFILE 'f' FORMAT Native",
  );
  assert.equal(
    readStatement("insert into t settings a = 1 format JSONEachRow\n;\n").data?.from("FROM INFILE 'f'"),
    "insert into t FROM INFILE 'f' settings a = 1 format JSONEachRow",
  );
  assert.equal(readStatement("INSERT INTO t FORMAT Native").data?.inline, false);
  assert.equal(readStatement('INSERT INTO t FORMAT JSONEachRow {"a":1}\n\n; DROP TABLE t').data?.inline, true);
  for (const sql of [
    "INSERT INTO t SELECT 1 FORMAT Null",
    "INSERT INTO t WITH 1 AS x SELECT x FORMAT Null",
    "INSERT INTO t (a) VALUES (1), ('FORMAT Native')",
    "INSERT INTO t FROM INFILE 'x' FORMAT Native",
    "SELECT 1 FORMAT Native",
  ]) {
    assert.equal(readStatement(sql).data, undefined, sql);
  }
});

test("a quoted text cannot end early", () => {
  assert.equal(quoteText("it's \\ \0 end\\"), String.raw`'it\'s \\ \0 end\\'`);
});
