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
    `attributes` Map(LowCardinality(String), String) CODEC(ZSTD),
    `attribute_types` LowCardinality(String),
    `dropped_attributes` UInt32 CODEC(ZSTD),
    `events` String CODEC(ZSTD),
    `event_types` LowCardinality(String),
    `dropped_events` UInt32 CODEC(ZSTD),
    `links` String CODEC(ZSTD),
    `link_types` LowCardinality(String),
    `dropped_links` UInt32 CODEC(ZSTD),
    INDEX trace_id_bloom trace_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX session_id_bloom session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX attribute_values_bloom mapValues(attributes) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/vigil/spans_local', '{replica}')
PARTITION BY toDate(received)
ORDER BY (workspace, ts, seq);

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
    `attributes` Map(LowCardinality(String), String) CODEC(ZSTD),
    `attribute_types` LowCardinality(String),
    `dropped_attributes` UInt32 CODEC(ZSTD),
    INDEX trace_id_bloom trace_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX session_id_bloom session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX attribute_values_bloom mapValues(attributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX body_words lower(body) TYPE text(tokenizer = 'splitByNonAlpha', posting_list_codec = 'bitpacking')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/vigil/logs_local', '{replica}')
PARTITION BY toDate(received)
ORDER BY (workspace, ts, seq);

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
    `attributes` Map(LowCardinality(String), String) CODEC(ZSTD),
    `attribute_types` LowCardinality(String),
    `series` UInt64 MATERIALIZED cityHash64(resource, scope, metric_name, mapSort(attributes)) CODEC(ZSTD)
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/vigil/metric_points_local', '{replica}')
PARTITION BY toDate(received)
ORDER BY (workspace, metric_name, service_name, ts);

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
