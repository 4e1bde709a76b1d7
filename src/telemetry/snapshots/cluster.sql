CREATE DATABASE IF NOT EXISTS `vigil` ON CLUSTER `main`;

CREATE TABLE IF NOT EXISTS vigil_migrations ON CLUSTER `main` (id UInt32, name String, checksum String, applied_at DateTime64(3, 'UTC')) ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/vigil/vigil_migrations', '{shard}-{replica}') ORDER BY id;

CREATE TABLE IF NOT EXISTS spans_local ON CLUSTER `main`
(
    `workspace` LowCardinality(String),
    `project` LowCardinality(String),
    `received` DateTime('UTC') CODEC(Delta, ZSTD),
    `seq` UInt64 CODEC(Delta, ZSTD),
    `ts` DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    `duration_ns` Int64 CODEC(ZSTD),
    `trace_id` FixedString(16) CODEC(ZSTD),
    `span_id` FixedString(8) CODEC(ZSTD),
    `parent_span_id` FixedString(8) CODEC(ZSTD),
    `trace_state` String CODEC(ZSTD),
    `flags` UInt32 CODEC(ZSTD),
    `name` LowCardinality(String),
    `kind` UInt8,
    `status_code` UInt8,
    `status_message` String CODEC(ZSTD),
    `service_namespace` LowCardinality(String),
    `service_name` LowCardinality(String),
    `service_version` LowCardinality(String),
    `service_instance` LowCardinality(String),
    `environment` LowCardinality(String),
    `session_id` String CODEC(ZSTD),
    `resource` LowCardinality(String),
    `scope` LowCardinality(String),
    `resource_meta` LowCardinality(String),
    `scope_meta` LowCardinality(String),
    `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    `attribute_types` LowCardinality(String),
    `dropped_attributes` UInt32 CODEC(ZSTD),
    `events` String CODEC(ZSTD),
    `event_types` LowCardinality(String),
    `dropped_events` UInt32 CODEC(ZSTD),
    `links` String CODEC(ZSTD),
    `link_types` LowCardinality(String),
    `dropped_links` UInt32 CODEC(ZSTD),
    `peer` LowCardinality(String) MATERIALIZED if(
        kind IN (3, 4),
        arrayFirst(
            candidate -> candidate != '',
            [
                attributes['peer.service'], attributes['db.system.name'], attributes['db.system'],
                attributes['messaging.system'], attributes['server.address'], attributes['net.peer.name']
            ]
        ),
        ''
    ) CODEC(ZSTD),
    INDEX trace_id_bloom trace_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX session_id_bloom session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX attribute_values_bloom mapValues(attributes) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/vigil/spans_local', '{replica}')
PARTITION BY toDate(received)
ORDER BY (workspace, ts, seq)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728;

CREATE TABLE IF NOT EXISTS spans ON CLUSTER `main` AS spans_local ENGINE = Distributed('main', 'vigil', 'spans_local', cityHash64(trace_id));

CREATE TABLE IF NOT EXISTS logs_local ON CLUSTER `main`
(
    `workspace` LowCardinality(String),
    `project` LowCardinality(String),
    `received` DateTime('UTC') CODEC(Delta, ZSTD),
    `seq` UInt64 CODEC(Delta, ZSTD),
    `ts` DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    `observed_ts` DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    `severity_number` UInt8,
    `severity_text` LowCardinality(String),
    `event_name` LowCardinality(String),
    `body` String CODEC(ZSTD),
    `body_mask` UInt64 CODEC(ZSTD),
    `body_type` LowCardinality(String),
    `trace_id` FixedString(16) CODEC(ZSTD),
    `span_id` FixedString(8) CODEC(ZSTD),
    `flags` UInt32 CODEC(ZSTD),
    `service_namespace` LowCardinality(String),
    `service_name` LowCardinality(String),
    `service_version` LowCardinality(String),
    `service_instance` LowCardinality(String),
    `environment` LowCardinality(String),
    `session_id` String CODEC(ZSTD),
    `resource` LowCardinality(String),
    `scope` LowCardinality(String),
    `resource_meta` LowCardinality(String),
    `scope_meta` LowCardinality(String),
    `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    `attribute_types` LowCardinality(String),
    `dropped_attributes` UInt32 CODEC(ZSTD),
    INDEX trace_id_bloom trace_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX session_id_bloom session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX attribute_values_bloom mapValues(attributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX body_mask_bloom body_mask TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX body_words lower(body) TYPE text(tokenizer = 'splitByNonAlpha', posting_list_codec = 'bitpacking')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/vigil/logs_local', '{replica}')
PARTITION BY toDate(received)
ORDER BY (workspace, ts, seq)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728;

CREATE TABLE IF NOT EXISTS logs ON CLUSTER `main` AS logs_local ENGINE = Distributed('main', 'vigil', 'logs_local', rand());

CREATE TABLE IF NOT EXISTS metric_points_local ON CLUSTER `main`
(
    `workspace` LowCardinality(String),
    `project` LowCardinality(String),
    `received` DateTime('UTC') CODEC(Delta, ZSTD),
    `seq` UInt64 CODEC(Delta, ZSTD),
    `metric_name` LowCardinality(String),
    `description` LowCardinality(String),
    `unit` LowCardinality(String),
    `type` LowCardinality(String),
    `temporality` UInt8,
    `is_monotonic` UInt8,
    `metadata` LowCardinality(String),
    `start_ts` DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    `ts` DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    `flags` UInt32 CODEC(ZSTD),
    `value_type` LowCardinality(String),
    `value` Float64 CODEC(ZSTD),
    `value_int` Int64 CODEC(ZSTD),
    `count` UInt64 CODEC(ZSTD),
    `sum` Float64 CODEC(ZSTD),
    `min` Float64 CODEC(ZSTD),
    `max` Float64 CODEC(ZSTD),
    `present` UInt8,
    `bucket_counts` Array(UInt64) CODEC(ZSTD),
    `explicit_bounds` Array(Float64) CODEC(ZSTD),
    `scale` Int32 CODEC(ZSTD),
    `zero_count` UInt64 CODEC(ZSTD),
    `zero_threshold` Float64 CODEC(ZSTD),
    `positive_offset` Int32 CODEC(ZSTD),
    `positive_counts` Array(UInt64) CODEC(ZSTD),
    `negative_offset` Int32 CODEC(ZSTD),
    `negative_counts` Array(UInt64) CODEC(ZSTD),
    `quantiles` Array(Float64) CODEC(ZSTD),
    `quantile_values` Array(Float64) CODEC(ZSTD),
    `exemplars` String CODEC(ZSTD),
    `service_namespace` LowCardinality(String),
    `service_name` LowCardinality(String),
    `service_version` LowCardinality(String),
    `service_instance` LowCardinality(String),
    `environment` LowCardinality(String),
    `resource` LowCardinality(String),
    `scope` LowCardinality(String),
    `resource_meta` LowCardinality(String),
    `scope_meta` LowCardinality(String),
    `attributes` Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    `attribute_types` LowCardinality(String),
    `series` UInt64 MATERIALIZED cityHash64(resource, scope, metric_name, mapSort(attributes)) CODEC(ZSTD)
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/vigil/metric_points_local', '{replica}')
PARTITION BY toDate(received)
ORDER BY (workspace, metric_name, service_name, series, ts)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728;

CREATE TABLE IF NOT EXISTS metric_points ON CLUSTER `main` AS metric_points_local ENGINE = Distributed('main', 'vigil', 'metric_points_local', rand());

CREATE TABLE IF NOT EXISTS service_activity_local ON CLUSTER `main`
(
    `workspace` LowCardinality(String),
    `project` LowCardinality(String),
    `service_namespace` LowCardinality(String),
    `service_name` LowCardinality(String),
    `service_version` LowCardinality(String),
    `service_instance` String,
    `environment` LowCardinality(String),
    `hour` DateTime('UTC') CODEC(Delta, ZSTD),
    `first_seen` SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
    `last_seen` SimpleAggregateFunction(max, DateTime64(9, 'UTC')),
    `spans` SimpleAggregateFunction(sum, UInt64),
    `error_spans` SimpleAggregateFunction(sum, UInt64),
    `logs` SimpleAggregateFunction(sum, UInt64),
    `error_logs` SimpleAggregateFunction(sum, UInt64),
    `metric_points` SimpleAggregateFunction(sum, UInt64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/vigil/service_activity_local', '{replica}')
PARTITION BY toDate(hour)
ORDER BY (workspace, service_namespace, service_name, service_version, service_instance, environment, project, hour)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS service_activity ON CLUSTER `main` AS service_activity_local ENGINE = Distributed('main', 'vigil', 'service_activity_local', rand());

CREATE TABLE IF NOT EXISTS log_stats_local ON CLUSTER `main`
(
    `workspace` LowCardinality(String),
    `day` Date,
    `minute` Int32 CODEC(Delta, ZSTD),
    `service_name` LowCardinality(String),
    `severity_text` LowCardinality(String),
    `logs` SimpleAggregateFunction(sum, UInt64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/vigil/log_stats_local', '{replica}')
PARTITION BY day
ORDER BY (workspace, minute, service_name, severity_text, day)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS log_stats ON CLUSTER `main` AS log_stats_local ENGINE = Distributed('main', 'vigil', 'log_stats_local', rand());

CREATE TABLE IF NOT EXISTS span_stats_local ON CLUSTER `main`
(
    `workspace` LowCardinality(String),
    `day` Date,
    `hour` Int32 CODEC(Delta, ZSTD),
    `service_namespace` LowCardinality(String),
    `service_name` LowCardinality(String),
    `name` LowCardinality(String),
    `kind` UInt8,
    `is_root` UInt8,
    `scope` LowCardinality(String),
    `spans` SimpleAggregateFunction(sum, UInt64),
    `error_spans` SimpleAggregateFunction(sum, UInt64),
    `duration_ns` SimpleAggregateFunction(sum, Float64),
    `duration_p99` AggregateFunction(quantileBFloat16(0.99), Int64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/vigil/span_stats_local', '{replica}')
PARTITION BY day
ORDER BY (workspace, service_name, service_namespace, hour, name, kind, is_root, scope, day)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS span_stats ON CLUSTER `main` AS span_stats_local ENGINE = Distributed('main', 'vigil', 'span_stats_local', rand());

CREATE TABLE IF NOT EXISTS session_activity_local ON CLUSTER `main`
(
    `workspace` LowCardinality(String),
    `session_id` String CODEC(ZSTD),
    `session_hash` UInt64 MATERIALIZED sipHash64(session_id) CODEC(NONE),
    `day` Date,
    `first_seen` SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
    `last_seen` SimpleAggregateFunction(max, DateTime64(9, 'UTC')),
    `spans` SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
    `root_spans` SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
    `logs` SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
    `errors` SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
    `genai` SimpleAggregateFunction(max, UInt8),
    `traces` SimpleAggregateFunction(groupUniqArrayArray(1000), Array(UInt64)) CODEC(ZSTD),
    `pages` SimpleAggregateFunction(groupUniqArrayArray(1000), Array(UInt64)),
    `users` SimpleAggregateFunction(groupUniqArrayArray(1000), Array(String)),
    `services` SimpleAggregateFunction(groupUniqArrayArray(1000), Array(String)) CODEC(ZSTD),
    `user` SimpleAggregateFunction(max, String) CODEC(ZSTD),
    `country` SimpleAggregateFunction(min, String),
    `device` SimpleAggregateFunction(min, String)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/vigil/session_activity_local', '{replica}')
PARTITION BY day
ORDER BY (workspace, session_id, day)
SETTINGS replicated_deduplication_window = 0;

CREATE TABLE IF NOT EXISTS session_activity ON CLUSTER `main` AS session_activity_local ENGINE = Distributed('main', 'vigil', 'session_activity_local', rand());

CREATE MATERIALIZED VIEW IF NOT EXISTS service_activity_from_spans ON CLUSTER `main` TO service_activity_local AS
SELECT
    workspace,
    project,
    service_namespace,
    service_name,
    service_version,
    service_instance,
    environment,
    toStartOfHour(received) AS hour,
    min(if(ts >= received + 1 OR toUnixTimestamp64Nano(ts) <= 0, toDateTime64(received, 9, 'UTC'), ts)) AS first_seen,
    max(if(ts >= received + 1 OR toUnixTimestamp64Nano(ts) <= 0, toDateTime64(received, 9, 'UTC'), ts)) AS last_seen,
    count() AS spans,
    countIf(status_code = 2) AS error_spans,
    toUInt64(0) AS logs,
    toUInt64(0) AS error_logs,
    toUInt64(0) AS metric_points
FROM spans_local
GROUP BY workspace, project, service_namespace, service_name, service_version, service_instance, environment, hour;

CREATE MATERIALIZED VIEW IF NOT EXISTS service_activity_from_logs ON CLUSTER `main` TO service_activity_local AS
SELECT
    workspace,
    project,
    service_namespace,
    service_name,
    service_version,
    service_instance,
    environment,
    toStartOfHour(received) AS hour,
    min(if(ts >= received + 1 OR toUnixTimestamp64Nano(ts) <= 0, toDateTime64(received, 9, 'UTC'), ts)) AS first_seen,
    max(if(ts >= received + 1 OR toUnixTimestamp64Nano(ts) <= 0, toDateTime64(received, 9, 'UTC'), ts)) AS last_seen,
    toUInt64(0) AS spans,
    toUInt64(0) AS error_spans,
    count() AS logs,
    countIf(severity_text IN ('ERROR', 'FATAL')) AS error_logs,
    toUInt64(0) AS metric_points
FROM logs_local
GROUP BY workspace, project, service_namespace, service_name, service_version, service_instance, environment, hour;

CREATE MATERIALIZED VIEW IF NOT EXISTS service_activity_from_metric_points ON CLUSTER `main` TO service_activity_local AS
SELECT
    workspace,
    project,
    service_namespace,
    service_name,
    service_version,
    service_instance,
    environment,
    toStartOfHour(received) AS hour,
    min(if(ts >= received + 1 OR toUnixTimestamp64Nano(ts) <= 0, toDateTime64(received, 9, 'UTC'), ts)) AS first_seen,
    max(if(ts >= received + 1 OR toUnixTimestamp64Nano(ts) <= 0, toDateTime64(received, 9, 'UTC'), ts)) AS last_seen,
    toUInt64(0) AS spans,
    toUInt64(0) AS error_spans,
    toUInt64(0) AS logs,
    toUInt64(0) AS error_logs,
    count() AS metric_points
FROM metric_points_local
GROUP BY workspace, project, service_namespace, service_name, service_version, service_instance, environment, hour;

CREATE MATERIALIZED VIEW IF NOT EXISTS log_stats_from_logs ON CLUSTER `main` TO log_stats_local AS
SELECT
    workspace,
    toDate(received) AS day,
    toInt32(intDiv(toUnixTimestamp64Nano(ts), 60000000000) - (toUnixTimestamp64Nano(ts) % toInt64(60000000000) < 0)) AS minute,
    service_name,
    severity_text,
    count() AS logs
FROM logs_local
GROUP BY workspace, day, minute, service_name, severity_text;

CREATE MATERIALIZED VIEW IF NOT EXISTS span_stats_from_spans ON CLUSTER `main` TO span_stats_local AS
SELECT
    workspace,
    toDate(received) AS day,
    toInt32(intDiv(toUnixTimestamp64Nano(ts), 3600000000000) - (modulo(toUnixTimestamp64Nano(ts), 3600000000000) < 0)) AS hour,
    service_namespace,
    service_name,
    name,
    kind,
    parent_span_id = toFixedString('', 8) AS is_root,
    scope,
    count() AS spans,
    countIf(status_code = 2) AS error_spans,
    sum(toFloat64(spans_of.duration_ns)) AS duration_ns,
    quantileBFloat16State(0.99)(spans_of.duration_ns) AS duration_p99
FROM spans_local AS spans_of
GROUP BY workspace, day, hour, service_namespace, service_name, name, kind, is_root, scope;

CREATE MATERIALIZED VIEW IF NOT EXISTS session_activity_from_spans ON CLUSTER `main` TO session_activity_local AS
SELECT
    workspace,
    session_id,
    day,
    min(least(began, ended)) AS first_seen,
    max(greatest(began, ended)) AS last_seen,
    count() AS spans,
    countIf(is_root) AS root_spans,
    toUInt64(0) AS logs,
    countIf(is_error) AS errors,
    max(is_genai) AS genai,
    groupUniqArray(1000)(sipHash64(trace_id)) AS traces,
    groupUniqArrayIf(1000)(sipHash64(page), page != '') AS pages,
    groupUniqArrayIf(1000)(named_user, named_user != '') AS users,
    groupUniqArray(1000)(service) AS services,
    max(if(named_user = '', '', concat(said, named_user))) AS user,
    min(if(match(named_country, '^[A-Z][A-Z]$'), concat(said, named_country), '~')) AS country,
    min(multiIf(
        named_device IN ('desktop', 'mobile', 'tablet', 'tv', 'console', 'wearable', 'iot', 'bot'), concat('1', said, named_device),
        named_agent != '', concat('2', said, named_agent),
        '~')) AS device
FROM
(
    SELECT
        workspace,
        session_id,
        toDate(received) AS day,
        trace_id,
        toString(service_name) AS service,
        if(ts > received + 300 OR toUnixTimestamp64Nano(ts) <= 0, toDateTime64(received, 9, 'UTC'), ts) AS began,
        fromUnixTimestamp64Nano(toUnixTimestamp64Nano(ts) + greatest(duration_ns, 0), 'UTC') AS own_end,
        if(own_end > received + 300 OR toUnixTimestamp64Nano(own_end) <= 0, toDateTime64(received, 9, 'UTC'), own_end) AS ended,
        leftPad(toString(toUnixTimestamp64Nano(began)), 19, '0') AS said,
        parent_span_id = toFixedString('', 8) AS is_root,
        status_code = 2 OR position(events, '{"name":"exception"') > 0 AS is_error,
        arrayExists(key -> startsWith(key, 'gen_ai.'), mapKeys(attributes)) AS is_genai,
        JSONExtractString(resource, 'telemetry.sdk.language') = 'webjs' AS is_view,
        multiIf(
            NOT is_view, '',
            attributes['url.path'] != '', attributes['url.path'],
            attributes['url.full'] = '', '',
            path(attributes['url.full']) = '', '/',
            path(attributes['url.full'])) AS page,
        multiIf(
            attributes['user.id'] != '', attributes['user.id'],
            attributes['enduser.id'] != '', attributes['enduser.id'],
            attributes['user.email'] != '', attributes['user.email'],
            JSONExtractString(extract(resource, '"key":"(?:user[.]id|enduser[.]id|user[.]email)","value":("(?:[^"\\\\]|\\\\.)*")'))) AS named_user,
        upper(if(attributes['geo.country.iso_code'] != '', attributes['geo.country.iso_code'],
            JSONExtractString(extract(resource, '"key":"geo[.]country[.]iso_code","value":("(?:[^"\\\\]|\\\\.)*")')))) AS named_country,
        lower(if(attributes['device.type'] != '', attributes['device.type'],
            JSONExtractString(extract(resource, '"key":"device[.]type","value":("(?:[^"\\\\]|\\\\.)*")')))) AS named_device,
        if(attributes['user_agent.original'] != '', attributes['user_agent.original'],
            JSONExtractString(extract(resource, '"key":"user_agent[.]original","value":("(?:[^"\\\\]|\\\\.)*")'))) AS named_agent
    FROM spans_local
    WHERE session_id != ''
)
GROUP BY workspace, session_id, day;

CREATE MATERIALIZED VIEW IF NOT EXISTS session_activity_from_logs ON CLUSTER `main` TO session_activity_local AS
SELECT
    workspace,
    session_id,
    day,
    min(began) AS first_seen,
    max(began) AS last_seen,
    toUInt64(0) AS spans,
    toUInt64(0) AS root_spans,
    count() AS logs,
    countIf(is_error) AS errors,
    toUInt8(0) AS genai,
    CAST([], 'Array(UInt64)') AS traces,
    groupUniqArrayIf(1000)(sipHash64(page), page != '') AS pages,
    groupUniqArrayIf(1000)(named_user, named_user != '') AS users,
    groupUniqArray(1000)(service) AS services,
    max(if(named_user = '', '', concat(said, named_user))) AS user,
    min(if(match(named_country, '^[A-Z][A-Z]$'), concat(said, named_country), '~')) AS country,
    min(multiIf(
        named_device IN ('desktop', 'mobile', 'tablet', 'tv', 'console', 'wearable', 'iot', 'bot'), concat('1', said, named_device),
        named_agent != '', concat('2', said, named_agent),
        '~')) AS device
FROM
(
    SELECT
        workspace,
        session_id,
        toDate(received) AS day,
        toString(service_name) AS service,
        if(ts > received + 300 OR toUnixTimestamp64Nano(ts) <= 0, toDateTime64(received, 9, 'UTC'), ts) AS began,
        leftPad(toString(toUnixTimestamp64Nano(began)), 19, '0') AS said,
        severity_number >= 17 OR arrayExists(key -> startsWith(key, 'exception.'), mapKeys(attributes)) AS is_error,
        event_name IN ('page_view', 'browser.page_view')
            OR JSONExtractString(resource, 'telemetry.sdk.language') = 'webjs' AS is_view,
        multiIf(
            NOT is_view, '',
            attributes['url.path'] != '', attributes['url.path'],
            attributes['url.full'] = '', '',
            path(attributes['url.full']) = '', '/',
            path(attributes['url.full'])) AS page,
        multiIf(
            attributes['user.id'] != '', attributes['user.id'],
            attributes['enduser.id'] != '', attributes['enduser.id'],
            attributes['user.email'] != '', attributes['user.email'],
            JSONExtractString(extract(resource, '"key":"(?:user[.]id|enduser[.]id|user[.]email)","value":("(?:[^"\\\\]|\\\\.)*")'))) AS named_user,
        upper(if(attributes['geo.country.iso_code'] != '', attributes['geo.country.iso_code'],
            JSONExtractString(extract(resource, '"key":"geo[.]country[.]iso_code","value":("(?:[^"\\\\]|\\\\.)*")')))) AS named_country,
        lower(if(attributes['device.type'] != '', attributes['device.type'],
            JSONExtractString(extract(resource, '"key":"device[.]type","value":("(?:[^"\\\\]|\\\\.)*")')))) AS named_device,
        if(attributes['user_agent.original'] != '', attributes['user_agent.original'],
            JSONExtractString(extract(resource, '"key":"user_agent[.]original","value":("(?:[^"\\\\]|\\\\.)*")'))) AS named_agent
    FROM logs_local
    WHERE session_id != ''
)
GROUP BY workspace, session_id, day;
