/**
 * A day of telemetry, made by the engine itself with hashes in place of random numbers, so that every run and every
 * variant gets the same rows. A block is what a variant is handed at once. Rows stand in order of arrival, which is
 * that of their time but for export delays of up to five seconds and one trace in a hundred that is minutes late.
 */
export const day = "2026-11-02";
const dayNs = `toUnixTimestamp64Nano(toDateTime64('${day} 00:00:00', 9, 'UTC'))`;
const meanSpans = 7;

export interface Dataset {
  readonly rows: number;
  readonly blocks: number;
}

/** How often the word of the rare-word query stands in the logs. */
export const rareWordRows = 50;

const list = (words: readonly string[]) => `[${words.map((w) => `'${w.replaceAll("'", "\\'")}'`).join(", ")}]`;
const pick = (words: readonly string[], index: string) => `${list(words)}[1 + (${index}) % ${words.length}]`;

const serviceNames =
  "gateway web-bff mobile-bff admin-bff partner-api checkout cart catalog pricing inventory orders payments fraud " +
  "shipping returns notifications email sms search recommendations reviews users auth sessions profiles loyalty " +
  "coupons tax invoices ledger warehouse routing geocoder media thumbnails feature-flags experiments audit reports exports";
const services = serviceNames.split(" ");
const things = "order cart product user invoice payment shipment coupon review session label stock".split(" ");
const agents = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15",
  "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83",
  "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
  "okhttp/5.1.0",
  "shop-ios/8.14.2 (build 20261)",
  "axios/1.12.2",
  "python-requests/2.32.5",
  "Go-http-client/2.0",
];
const templates = [
  "Request completed method=GET path=/api/<thing>s/<n> status=200 duration_ms=<ms>",
  "Request completed method=POST path=/api/<thing>s status=201 duration_ms=<ms>",
  "Fetched <thing> <n> from cache in <ms> ms",
  "Cache miss for key <thing>:<n>, loading from database",
  "Executing query SELECT * FROM <thing>s WHERE id = <n>",
  "Query returned <ms> rows in <ms> ms",
  "User <user> signed in from <ip>",
  "User <user> updated <thing> <n>",
  "Published event <thing>.updated to partition <ms> offset <n>",
  "Consumed message <id> from topic <thing>s",
  "Starting job <thing>-sync run <id>",
  "Job <thing>-sync finished: <n> processed, <ms> skipped",
  "Connection pool: <ms> active, <ms> idle",
  "Health check passed in <ms> ms",
  "Acquired lock <thing>-<n> after <ms> ms",
  "Session <id> extended for user <user>",
  "Sending email to user <user> with template <thing>_confirmation",
  "Computed recommendations for user <user>: <ms> candidates",
  "Token refreshed for client <id>",
  "Stored object s3://media/<thing>/<id>.webp (<n> bytes)",
  "Feature flag evaluation <thing>_v2 for user <user>: enabled",
  "GC pause of <ms> ms, heap <n> KiB",
  "Slow query (<n> ms): SELECT * FROM <thing>s ORDER BY created_at",
  "Retrying request <id> to <thing>-service, attempt <ms>",
  "Rate limit at <ms> % for client <ip>",
  "Deprecated endpoint /v1/<thing>s called by <ip>",
  "Circuit breaker for <thing>-service is half open",
  "Payment <id> declined by issuer: insufficient funds",
  "Timeout after <n> ms calling http://<thing>-service:8080/internal/<n>",
  "java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available, request timed out after <n>ms\\n" +
    "\\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:686)\\n" +
    "\\tat com.shop.<thing>.Repository.find(Repository.java:<ms>)",
  "Failed to process <thing> <n>: upstream connect error, reset reason: connection termination",
  "Unhandled exception in worker <ms>: ValueError: invalid literal for int(): <id>",
];

/** Columns that both signals have, from the expressions `service`, `h` (a hash of the row) and `arrival_ns`. */
const common = `
  'default' AS workspace, 'default' AS project,
  toDateTime(intDiv(arrival_ns, 1000000000), 'UTC') AS received,
  bitShiftLeft(toUInt64(intDiv(arrival_ns, 1000000)), 22) AS arrival_seq,
  'shop' AS service_namespace, service AS service_name,
  concat('3.', toString(sipHash64(service) % 9), '.', toString(if(arrival_ns - ${dayNs} < 40000000000000, 0, 1))) AS service_version,
  concat(service, '-', lower(hex(toUInt32(sipHash64(service, h % 4)))), '-', toString(h % 4)) AS service_instance,
  'production' AS environment,
  concat('[{"key":"service.name","value":"', service, '"},{"key":"service.namespace","value":"shop"},{"key":"service.version","value":"',
    service_version, '"},{"key":"service.instance.id","value":"', service_instance,
    '"},{"key":"deployment.environment.name","value":"production"},{"key":"host.name","value":"node-', toString(sipHash64(service_instance) % 24),
    '"},{"key":"k8s.pod.name","value":"', service_instance, '"},{"key":"k8s.namespace.name","value":"shop"},{"key":"os.type","value":"linux"}',
    ',{"key":"telemetry.sdk.language","value":"nodejs"},{"key":"telemetry.sdk.name","value":"opentelemetry"},{"key":"telemetry.sdk.version","value":"2.2.0"}]') AS resource,
  '{"name":"@shop/instrumentation","version":"0.207.0"}' AS scope, '{"schema_url":"https://opentelemetry.io/schemas/1.37.0"}' AS resource_meta, '' AS scope_meta,
  toUInt32(0) AS dropped_attributes`;

const columns = {
  spans:
    "workspace, project, received, seq, ts, duration_ns, trace_id, span_id, parent_span_id, trace_state, flags, name, kind, " +
    "status_code, status_message, service_namespace, service_name, service_version, service_instance, environment, session_id, " +
    "resource, scope, resource_meta, scope_meta, attributes, attribute_types, dropped_attributes, events, event_types, " +
    "dropped_events, links, link_types, dropped_links",
  logs:
    "workspace, project, received, seq, ts, observed_ts, severity_number, severity_text, event_name, body, body_type, body_mask, trace_id, " +
    "span_id, flags, service_namespace, service_name, service_version, service_instance, environment, session_id, resource, " +
    "scope, resource_meta, scope_meta, attributes, attribute_types, dropped_attributes",
} as const;

export type Signal = keyof typeof columns;

/** Creates `<signal>_staging` with `definitions` (name and definition) and the number of the block, in order of arrival. */
export function createStaging(
  signal: Signal,
  definitions: readonly (readonly [name: string, definition: string])[],
): string {
  const bare = definitions
    .filter(([, definition]) => !definition.includes(" MATERIALIZED "))
    .map(([name, definition]) => `\`${name}\` ${definition.replace(/ CODEC\([^]*\)$/, "")}`);
  return `CREATE TABLE ${signal}_staging (block UInt32, ${bare.join(", ")}) ENGINE = MergeTree ORDER BY block`;
}

export function fillStaging(signal: Signal, data: Dataset, block: number): string {
  const select = signal === "spans" ? selectSpans(data, block) : selectLogs(data, block);
  const numbered = `SELECT *, arrival_seq + 256 * (rowNumberInAllBlocks() % 16384) AS seq FROM (${select}) SETTINGS max_threads = 1`;
  return `INSERT INTO ${signal}_staging (block, ${columns[signal]}) SELECT ${block}, ${columns[signal]} FROM (${numbered})`;
}

/** Hands one block to a table; `changed` gives columns that the table has in another form. */
export function insertBlock(
  signal: Signal,
  table: string,
  block: number,
  changed: Readonly<Record<string, string>> = {},
): string {
  const select = columns[signal].split(", ").map((name) => changed[name] ?? name);
  const into = select.map((expression) => expression.replace(/.*? AS (\w+)(?=,|$)/gs, "$1, ").replace(/, $/, ""));
  return (
    `INSERT INTO ${table} (${into.join(", ")}) SELECT ${select.join(", ")} FROM ${signal}_staging ` +
    `WHERE block = ${block} SETTINGS max_insert_threads = 1, max_threads = 1, max_block_size = 1000000, ` +
    "min_insert_block_size_rows = 10000000, min_insert_block_size_bytes = 0"
  );
}

/** A service sends what it has once a second, so its rows arrive side by side. */
const exported = (ns: string) =>
  `toInt64(1000000000 * intDiv(${ns}, 1000000000) + 1000000 * (sipHash64(service) % 1000) + 1000000000)`;

const traceId = (trace: string) => `toFixedString(sipHash128(toUInt64(${trace})), 16)`;

function selectSpans({ rows, blocks }: Dataset, block: number): string {
  const traces = Math.floor(rows / meanSpans / blocks);
  const stepNs = Math.floor(86_400e9 / (traces * blocks));
  return `
SELECT *, ${common},
  multiIf(k = 0, concat(method, ' ', route), kind = 2, concat(method, ' ', route), kind = 3, concat('SELECT ', thing, 's'), kind = 4, concat('publish ', thing, '.updated'), concat(thing, '.', step)) AS name,
  if(h % 100 < 5, 2, 0) AS status_code,
  if(status_code = 2, ${pick(["", "upstream connect error", "deadline exceeded", "payment declined"], "h")}, '') AS status_message,
  if(trace_hash % 10 < 3, concat('sess-', lower(hex(toUInt32(sipHash64(trace_hash % 50000))))), '') AS session_id,
  '' AS trace_state, toUInt32(257) AS flags,
  CAST(multiIf(
    kind = 2, ([
      'http.request.method', 'http.route', 'url.path', 'http.response.status_code', 'user.id', 'client.address', 'user_agent.original',
      'server.address', 'server.port', 'network.protocol.version', 'request.id'], [
      method, route, replaceOne(route, '{id}', toString(order_number % 1000000)), if(status_code = 2, '500', '200'), user, user_ip,
      ${pick(agents, "trace_hash")}, concat(service, '.shop.internal'), '8080', '1.1', request_id]),
    kind = 3, ([
      'db.system.name', 'db.namespace', 'db.operation.name', 'db.collection.name', 'db.query.text', 'server.address', 'server.port',
      'network.peer.address', 'thread.id', 'code.function.name', 'db.response.returned_rows'], [
      'postgresql', service, 'SELECT', concat(thing, 's'),
      concat('SELECT id, state, total, created_at FROM ', thing, 's WHERE ', step, '_id = $1 AND tenant = $2 ORDER BY created_at DESC LIMIT 50'),
      concat('pg-', toString(h % 4), '.shop.internal'), '5432', concat('10.4.', toString(h % 4), '.17'), toString(h % 64),
      concat('find', thing, 'By', step), toString(h % 50)]), ([
      'code.function.name', 'code.file.path', 'code.line.number', 'thread.id', 'thread.name', 'order.id', 'tenant', 'feature_flag.key',
      'cart.items', 'cloud.region', 'request.id'], [
      concat(thing, '.', step), concat('/app/src/', thing, '/', step, '.ts'), toString(sipHash64(thing, step) % 400), toString(h % 64),
      concat('worker-', toString(h % 16)), concat('ord_', leftPad(toString(order_number), 9, '0')), concat('tenant-', toString(trace_hash % 500)),
      ${pick(["new_checkout", "dark_mode", "fast_search", "price_test"], "h")}, toString(h % 12), ${pick(["eu-central-1", "us-east-1"], "sipHash64(service)")}, request_id])
  ), 'Map(LowCardinality(String), String)') AS attributes,
  multiIf(kind = 2, 'sssissssiss', kind = 3, 'ssssssisisi', 'ssiissssiss') AS attribute_types,
  multiIf(
    status_code = 2, concat('[{"name":"exception","time_unix_nano":', toString(start_ns), ',"attributes":[{"key":"exception.type","value":"',
      ${pick(["TimeoutError", "TypeError", "PaymentDeclined", "ConnectionReset"], "h")}, '"},{"key":"exception.message","value":"request ', request_id,
      ' failed"},{"key":"exception.stacktrace","value":"Error: request failed\\n    at ', step, ' (/app/src/', thing, '/', step, '.ts:', toString(h % 300),
      ':17)\\n    at async handle (/app/src/http/server.ts:88:5)\\n    at async dispatch (/app/node_modules/router/lib/layer.js:95:3)\\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)"}]}]'),
    h % 100 < 8, concat('[{"name":"message","time_unix_nano":', toString(start_ns), ',"attributes":[{"key":"message.id","value":"', toString(h % 10), '"}]}]'),
    '') AS events,
  if(events = '', '', 'ss') AS event_types, toUInt32(0) AS dropped_events, '' AS links, '' AS link_types, toUInt32(0) AS dropped_links
FROM (
  SELECT *, sipHash64(trace, k) AS h,
    ${traceId("trace")} AS trace_id,
    toFixedString(reinterpretAsString(bitOr(sipHash64(trace, k, 2), 1 + bitShiftLeft(toUInt64(1), 63))), 8) AS span_id,
    if(k = 0, toFixedString('', 8), toFixedString(reinterpretAsString(bitOr(sipHash64(trace, intDiv(k - 1, 2), 2), 1 + bitShiftLeft(toUInt64(1), 63))), 8)) AS parent_span_id,
    toUInt8(multiIf(k = 0, 2, k % 3 = 0, 2, k % 3 = 1, 3, endpoint % 7 = 0, 4, 1)) AS kind,
    ${list(services)}[if(k = 0, 1 + endpoint % 5, 6 + sipHash64(endpoint, intDiv(k, 2)) % ${services.length - 5})] AS service,
    ${pick(things, "sipHash64(endpoint, k)")} AS thing,
    ${pick(["load", "validate", "price", "reserve", "charge", "render", "map", "enrich"], "sipHash64(endpoint, k, 3)")} AS step,
    ${pick(["GET", "GET", "GET", "POST", "PUT", "DELETE"], "sipHash64(endpoint, k, 4)")} AS method,
    concat('/api/v2/', thing, 's/{id}/', step) AS route,
    concat('user-', toString(toUInt32(pow((trace_hash % 1000000) / 1000000, 2) * 20000))) AS user,
    concat('84.', toString(sipHash64(user) % 250), '.', toString(sipHash64(user, 1) % 250), '.', toString(sipHash64(user, 2) % 250)) AS user_ip,
    trace_hash % 1000000000 AS order_number,
    lower(concat(hex(sipHash64(trace, 7)), hex(toUInt32(trace_hash)))) AS request_id,
    trace_start + k * (1 + h % 9) * 1000000 + h % 999983 AS start_ns,
    fromUnixTimestamp64Nano(toInt64(start_ns), 'UTC') AS ts,
    toInt64(100000 * exp((h % 10007) / 10007 * if(k = 0, 9, 6))) AS duration_ns,
    ${exported("start_ns + duration_ns + sipHash64(trace, service) % 5000000000 + if(trace_hash % 100 = 0, trace_hash % 600000000000, 0)")} AS arrival_ns
  FROM (
    SELECT number + ${block * traces} AS trace, sipHash64(trace) AS trace_hash,
      toUInt32(pow((sipHash64(trace, 1) % 10007) / 10007, 2) * 60) AS endpoint,
      ${dayNs} + trace * ${stepNs} + trace_hash % ${stepNs} AS trace_start,
      arrayJoin(range(1 + sipHash64(trace, 5) % ${2 * meanSpans - 1})) AS k
    FROM numbers(${traces})
  )
)
ORDER BY arrival_ns`;
}

function selectLogs({ rows, blocks }: Dataset, block: number): string {
  const size = Math.floor(rows / blocks);
  const stepNs = Math.floor(86_400e9 / (size * blocks));
  const traces = Math.floor(rows / meanSpans);
  // Half of all lines are of the first few templates, one in a thousand is a declined payment.
  const index = `multiIf(level = 'DEBUG', 3 + h % 4, level = 'INFO', 1 + toUInt32(pow((h % 10007) / 10007, 1.7) * 22), level = 'WARN', 23 + h % 5, h % 40 = 0, 28, 29 + h % 4)`;
  return `
SELECT *, ${common},
  multiIf(level = 'DEBUG', 5, level = 'INFO', 9, level = 'WARN', 13, level = 'ERROR', 17, 21) AS severity_number, level AS severity_text,
  '' AS event_name, 's' AS body_type,
  concat(
    replaceAll(replaceAll(replaceAll(replaceAll(replaceAll(replaceAll(${list(templates)}[${index} AS template],
      '<thing>', thing), '<n>', toString(sipHash64(line, 3) % 100000)), '<ms>', toString(sipHash64(line, 4) % 300)), '<user>', user),
      '<ip>', concat('84.', toString(sipHash64(user) % 250), '.', toString(sipHash64(user, 1) % 250), '.', toString(sipHash64(user, 2) % 250))),
      '<id>', lower(hex(sipHash64(line, 5)))),
    if(line % ${Math.max(1, Math.floor(rows / rareWordRows))} = 17, ' near Zebrafish', '')) AS body,
  sipHash64(template, thing) AS body_mask,
  if(h % 10 < 6, ${traceId("trace")}, toFixedString('', 16)) AS trace_id,
  if(h % 10 < 6, toFixedString(reinterpretAsString(sipHash64(trace, line % 7, 2)), 8), toFixedString('', 8)) AS span_id,
  toUInt32(h % 10 < 6) AS flags,
  if(sipHash64(trace) % 10 < 3, concat('sess-', lower(hex(toUInt32(sipHash64(sipHash64(trace) % 50000))))), '') AS session_id,
  CAST((['logger.name', 'code.file.path', 'code.line.number', 'thread.name', 'request.id', 'user.id'],
    [concat('shop.', service, '.', thing), concat('/app/src/', thing, '/', service, '.ts'), toString(sipHash64(thing, level) % 400),
     concat('worker-', toString(h % 16)), lower(concat(hex(sipHash64(trace, 7)), hex(toUInt32(sipHash64(trace))))), user]),
    'Map(LowCardinality(String), String)') AS attributes,
  'ssisss' AS attribute_types
FROM (
  SELECT number + ${block * size} AS line, sipHash64(line, 11) AS h,
    least(toUInt64(line / ${rows} * ${traces}) + h % 50, ${traces - 1}) AS trace,
    ${list(services)}[1 + toUInt32(pow((sipHash64(line, 1) % 10007) / 10007, 1.5) * ${services.length})] AS service,
    ${pick(things, "sipHash64(line, 2)")} AS thing,
    multiIf(h % 1000 < 150, 'DEBUG', h % 1000 < 850, 'INFO', h % 1000 < 950, 'WARN', h % 1000 < 999, 'ERROR', 'FATAL') AS level,
    concat('user-', toString(toUInt32(pow((sipHash64(trace) % 1000000) / 1000000, 2) * 20000))) AS user,
    ${dayNs} + line * ${stepNs} + h % ${stepNs} AS start_ns,
    fromUnixTimestamp64Nano(toInt64(start_ns), 'UTC') AS ts,
    fromUnixTimestamp64Nano(toInt64(start_ns + h % 90000), 'UTC') AS observed_ts,
    ${exported("start_ns + sipHash64(intDiv(line, 512), service) % 5000000000 + if(intDiv(line, 512) % 100 = 0, 240000000000, 0)")} AS arrival_ns
  FROM numbers(${size})
)
ORDER BY arrival_ns`;
}
