import { day, type Signal } from "./dataset.ts";
import type { Variant } from "./table.ts";

/** One question, asked several times with other values. */
export interface Question {
  readonly name: string;
  readonly sql: readonly string[];
}

/** What the staging table is asked for once, so that the questions are about rows that exist. */
export interface Examples {
  /** Hexadecimal. */
  readonly traces: readonly string[];
  readonly popularServices: readonly string[];
  readonly rareServices: readonly string[];
  readonly requestIds: readonly string[];
  readonly users: readonly string[];
  readonly sessions: readonly string[];
}

const text = (value: string) => `'${value.replaceAll("'", "\\'")}'`;
const workspace = "workspace = 'default'";
const newest = "ORDER BY ts DESC, seq DESC LIMIT 101";
const at = (hour: number) => `toDateTime64('${day} ${String(hour).padStart(2, "0")}:17:31.5', 9, 'UTC')`;
const window = `ts >= toDateTime64('${day} 00:00:00', 9, 'UTC') AND ts < toDateTime64('${day} 00:00:00', 9, 'UTC') + INTERVAL 1 DAY`;

/**
 * Conditions that depend on a table's form. `{key}`, `{value}`, `{word}` stand for text, `{path}` for the
 * key as a JSON path; every condition is exact,
 * so that all forms answer alike.
 */
const conditions: Readonly<Record<string, string>> = {
  attribute: "attributes[{key}] = {value}",
  word: "hasAllTokens(lower(body), lower({word}))",
  trace: "trace_id = unhex({value})",
};

export function questions(variant: Variant, table: string, examples: Examples): Question[] {
  const when = (name: string, values: Readonly<Record<string, string>>) =>
    (variant.conditions?.[name] ?? conditions[name]!).replace(/\{(\w+)\}/g, (_, key: string) =>
      key === "path" ? values["key"]!.replace(/[^.]+/g, "`$&`") : text(values[key]!),
    );
  const list = (where: string, order = newest) => `SELECT * FROM ${table} WHERE ${workspace} AND ${where} ${order}`;
  const attribute = (key: string, value: string) => list(when("attribute", { key, value }));
  const hours = [3, 7, 11, 15, 19, 23];
  const trace = (id: string) => list(when("trace", { value: id }), "ORDER BY ts, seq LIMIT 1001");
  const both: Question[] = [
    { name: "trace", sql: examples.traces.map(trace) },
    { name: "newest", sql: [list("1"), list("1"), list("1"), list("1")] },
    { name: "newest, busy service", sql: examples.popularServices.map((s) => list(`service_name = ${text(s)}`)) },
    { name: "newest, rare service", sql: examples.rareServices.map((s) => list(`service_name = ${text(s)}`)) },
    {
      name: "keyset page",
      sql: hours.map((h) => list(`ts <= ${at(h)} AND (ts, seq) < (${at(h)}, 9223372036854775807)`)),
    },
    {
      name: "page, service",
      sql: hours.map((h, i) =>
        list(
          `service_name = ${text(examples.popularServices[i % examples.popularServices.length]!)} ` +
            `AND ts <= ${at(h)} AND (ts, seq) < (${at(h)}, 9223372036854775807)`,
        ),
      ),
    },
    { name: "rare attribute", sql: examples.requestIds.map((id) => attribute("request.id", id)) },
    { name: "user attribute", sql: examples.users.map((user) => attribute("user.id", user)) },
    { name: "absent attribute", sql: ["a1", "b2", "c3"].map((id) => attribute("request.id", id)) },
    { name: "session", sql: examples.sessions.map((id) => list(`session_id = ${text(id)}`)) },
    {
      name: "services of the day",
      sql: repeat(
        `SELECT service_namespace, service_name, count() FROM ${table} WHERE ${workspace} AND ${window} GROUP BY ALL`,
      ),
    },
  ];
  return variant.signal === "spans" ? [...both, ...spanQuestions()] : [...both, ...logQuestions()];

  function spanQuestions(): Question[] {
    return [
      { name: "common attribute", sql: ["GET", "POST", "PUT"].map((v) => attribute("http.request.method", v)) },
      {
        name: "errors a minute",
        sql: repeat(
          `SELECT toStartOfMinute(ts) AS t, service_name, count(), countIf(status_code = 2) FROM ${table} WHERE ${workspace} AND ${window} GROUP BY t, service_name`,
        ),
      },
      {
        name: "p99 by service",
        sql: repeat(
          `SELECT service_name, quantile(0.99)(duration_ns) FROM ${table} WHERE ${workspace} AND ${window} GROUP BY service_name`,
        ),
      },
      {
        name: "hour of a service",
        sql: examples.popularServices.map(
          (s) =>
            `SELECT toStartOfMinute(ts) AS t, count(), quantile(0.99)(duration_ns) FROM ${table} ` +
            `WHERE ${workspace} AND service_name = ${text(s)} AND ts >= ${at(11)} AND ts < ${at(12)} GROUP BY t`,
        ),
      },
    ];
  }

  function logQuestions(): Question[] {
    const word = (...words: string[]) => list(words.map((w) => when("word", { word: w })).join(" AND "));
    return [
      { name: "common attribute", sql: ["worker-1", "worker-2", "worker-3"].map((v) => attribute("thread.name", v)) },
      { name: "rare word", sql: repeat(word("Zebrafish")) },
      {
        name: "two words",
        sql: [word("payment", "declined"), word("hikaripool", "inventory"), word("breaker", "coupon")],
      },
      { name: "common word", sql: [word("cache"), word("completed"), word("query")] },
      { name: "absent word", sql: [word("giraffe"), word("elephant"), word("ocelot")] },
      { name: "number in body", sql: ["31337", "90210", "77777"].map((n) => word(n)) },
      {
        name: "phrase",
        sql: repeat(
          list(
            `position(body, 'near Zebrafish') > 0 AND ${when("word", { word: "near" })} AND ${when("word", { word: "Zebrafish" })}`,
          ),
        ),
      },
      { name: "newest, errors", sql: repeat(list("severity_number >= 17")) },
      { name: "newest, fatal", sql: repeat(list("severity_number >= 21")) },
      {
        name: "counts a minute",
        sql: repeat(
          `SELECT toStartOfMinute(ts) AS t, severity_text, count() FROM ${table} WHERE ${workspace} AND ${window} GROUP BY t, severity_text`,
        ),
      },
      {
        name: "counts by service",
        sql: repeat(
          `SELECT service_name, severity_text, count() FROM ${table} WHERE ${workspace} AND ${window} GROUP BY service_name, severity_text`,
        ),
      },
      {
        name: "words counted",
        sql: repeat(
          `SELECT count() FROM ${table} WHERE ${workspace} AND ${window} AND ${when("word", { word: "cache" })}`,
        ),
      },
    ];
  }
}

const repeat = (sql: string) => [sql, sql, sql];

/** SQL that gives one row with the fields of Examples. */
export function selectExamples(signal: Signal): string {
  const sample = (expression: string, where: string, n: number, seed: number) =>
    `(SELECT groupArray(x) FROM (SELECT DISTINCT ${expression} AS x FROM ${signal}_staging WHERE ${where} ORDER BY sipHash64(x, ${seed}) LIMIT ${n}))`;
  const services = (order: string) =>
    `(SELECT groupArray(service_name) FROM (SELECT service_name FROM ${signal}_staging GROUP BY service_name ORDER BY count() ${order}, service_name LIMIT 4))`;
  return `SELECT ${sample("hex(trace_id)", "block % 7 = 3 AND trace_id != toFixedString('', 16)", 12, 1)} AS traces,
    ${services("DESC")} AS popularServices, ${services("ASC")} AS rareServices,
    ${sample("attributes['request.id']", "block % 7 = 3 AND mapContains(attributes, 'request.id')", 5, 2)} AS requestIds,
    ${sample("attributes['user.id']", "block % 7 = 3 AND mapContains(attributes, 'user.id')", 5, 3)} AS users,
    ${sample("session_id", "block % 7 = 3 AND session_id != ''", 5, 4)} AS sessions`;
}
