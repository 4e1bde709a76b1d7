// What a span costs from OTLP's bytes to the engine: decoding, and then inserting, beside the usual ways.
//
//   node bench/decode/run.ts [--seconds 4]
//
// Decoding is measured as the CPU time of one thread, inserting as that of the engine with all its threads. A row is
// measured in several rounds, which alternate, and the best of them counts, since others on the machine only add.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Session } from "chdb";
import { decodeTraces } from "../../src/ingest/otlp/protobuf/decode-traces.ts";
import { SpanBlock } from "../../src/telemetry/blocks/span-block.ts";
import { createTable } from "../../src/telemetry/ddl.ts";
import { decodeToObjects } from "./objects.ts";
import { exportRequest, spansPerRequest } from "./payload.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "4" } } });
const secondsEach = Number(values.seconds);
const rounds = 5;

/** A block of the size at which the writer inserts under load. */
const requestsPerBlock = 20;
const requests = Array.from({ length: requestsPerBlock }, (_, i) => new Uint8Array(exportRequest(i + 1)));
const rowsPerBlock = requestsPerBlock * spansPerRequest;
const context = { workspace: "default", project: "default", nowMs: 1_790_000_000_000 };
const arrival = { receivedSeconds: 1_790_000_000, seq: { hi: 1, lo: 0 } };

/** CPU seconds for a million rows: the least of all rounds. */
function measure(ways: Readonly<Record<string, () => void>>): Map<string, number> {
  const best = new Map<string, number>();
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries(ways)) {
      const until = performance.now() + (secondsEach * 1000) / (rounds + 1);
      const before = process.cpuUsage();
      let times = 0;
      do {
        run();
        times++;
      } while (performance.now() < until);
      const { user, system } = process.cpuUsage(before);
      const cost = (user + system) / (times * rowsPerBlock);
      if (round > 0) best.set(name, Math.min(cost, best.get(name) ?? Infinity));
    }
  }
  return best;
}

function print(title: string, costs: Map<string, number>, bytes?: Map<string, number>): void {
  const [[, first]] = [...costs] as [[string, number]];
  const rows = [...costs].map(([way, cost]) => ({
    [title]: way,
    "CPU s per million": cost.toFixed(2),
    "rows per CPU s": Math.round(1e6 / cost).toLocaleString("en"),
    ...(bytes && { "bytes per row": Math.round(bytes.get(way)! / rowsPerBlock) }),
    ratio: `${(cost / first).toFixed(2)} ×`,
  }));
  console.table(rows);
}

const block = new SpanBlock();
const fill = () => {
  for (const request of requests) decodeTraces(request, block, context);
  return block.seal(arrival);
};

const requestBytes = requests.reduce((sum, { length }) => sum + length, 0);
console.log(
  `A request: ${spansPerRequest} spans of 11 attributes, ${Math.round(requestBytes / rowsPerBlock)} bytes a span.`,
);
print(
  "decode",
  measure({
    "Vigil: to Native columns": () => {
      fill();
      block.reset();
    },
    "protobufjs: to objects, no further": () => {
      for (const request of requests) decodeToObjects(request);
    },
  }),
);

const directory = mkdtempSync(join(tmpdir(), "vigil-decode-"));
const session = new Session(join(directory, "engine"));
try {
  const run = (sql: string) => session.query(sql, "Null");
  for (const sql of createTable({ database: "default" }, "spans")) run(sql);
  run("SYSTEM STOP MERGES spans");
  const file = (format: string) => join(directory, `rows.${format}`);
  writeFileSync(file("Native"), Buffer.concat(fill()));
  const columns = block.columns.map(({ name }) => name).join(", ");
  const insert = (format: string) =>
    run(`INSERT INTO spans (${columns}) FROM INFILE '${file(format)}' FORMAT ${format}`);
  insert("Native");
  const others = ["RowBinary", "JSONEachRow"];
  for (const format of others) run(`SELECT ${columns} FROM spans INTO OUTFILE '${file(format)}' FORMAT ${format}`);
  const formats = ["Native", ...others];
  print(
    "insert",
    measure(
      Object.fromEntries(
        formats.map((format) => [
          format,
          () => {
            insert(format);
            run("TRUNCATE TABLE spans");
          },
        ]),
      ),
    ),
    new Map(formats.map((format) => [format, statSync(file(format)).size])),
  );
} finally {
  session.cleanup();
  rmSync(directory, { recursive: true, force: true });
}
