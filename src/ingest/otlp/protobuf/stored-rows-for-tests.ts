import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Session } from "chdb";
import type { Block } from "../../../telemetry/blocks/block.ts";
import { type BaseTable, createTable } from "../../../telemetry/ddl.ts";

export type StoredRow = Readonly<Record<string, unknown>>;

export interface StoredRows {
  /** Seals `block`, lets the engine store it, and returns what the engine has, in the order of appending. */
  of(table: BaseTable, block: Block): StoredRow[];
  close(): void;
}

const hexColumns = ["trace_id", "span_id", "parent_span_id"];

/**
 * An engine in this process, to see blocks as it sees them. In the rows, times are nanoseconds in text, 64-bit
 * integers are text, ids are hexadecimal, a map is its keys and values in order.
 */
export function openStoredRows(): StoredRows {
  const directory = mkdtempSync(join(tmpdir(), "vigil-blocks-"));
  const session = new Session(join(directory, "engine"));
  const file = join(directory, "block.native");
  const answer = join(directory, "rows.json");
  const created = new Set<BaseTable>();

  return {
    of(table, block) {
      if (!created.has(table)) {
        for (const sql of createTable({ database: "default" }, table)) session.query(sql, "Null");
        created.add(table);
      }
      const names = block.columns.map((column) => column.name);
      const types = new Map(block.columns.map((column) => [column.name, column.type]));
      const shown = names.map((name) => {
        const type = types.get(name)!;
        if (hexColumns.includes(name)) return `lower(hex(${name})) AS ${name}`;
        if (type.startsWith("DateTime64")) return `toString(toUnixTimestamp64Nano(${name})) AS ${name}`;
        if (type.startsWith("DateTime")) return `toUnixTimestamp(${name}) AS ${name}`;
        if (type.startsWith("Map")) return `arrayZip(mapKeys(${name}), mapValues(${name})) AS ${name}`;
        return name;
      });
      writeFileSync(
        file,
        Buffer.concat(block.seal({ receivedSeconds: 1_800_000_000, seq: { hi: 0, lo: 0xfffffe00 } })),
      );
      session.query(`TRUNCATE TABLE ${table}`, "Null");
      session.query(`INSERT INTO ${table} FROM INFILE '${file}' FORMAT Native`, "Null");
      // Read from a file, since what is no UTF-8 would be repaired on its way here.
      session.query(
        `SELECT ${shown.join(", ")} FROM ${table} ORDER BY ${table}.seq INTO OUTFILE '${answer}' TRUNCATE FORMAT JSONEachRow ` +
          "SETTINGS output_format_json_quote_64bit_integers = 1, output_format_json_quote_denormals = 1, " +
          "output_format_json_validate_utf8 = 0",
        "Null",
      );
      const bytes = readFileSync(answer);
      assert.ok(isUtf8(bytes), "the engine holds text that is not UTF-8");
      return bytes
        .toString()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as StoredRow);
    },
    close() {
      session.cleanup();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
