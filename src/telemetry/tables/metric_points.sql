-- One row a data point of any of OTLP's five metric types; what a type does not have stays at its default.
CREATE TABLE {table}
(
    `workspace`           LowCardinality(String),
    `project`             LowCardinality(String),
    `received`            DateTime('UTC') CODEC(Delta, ZSTD),
    `seq`                 UInt64 CODEC(Delta, ZSTD),
    `metric_name`         LowCardinality(String),
    `description`         LowCardinality(String),
    `unit`                LowCardinality(String),
    -- gauge, sum, histogram, exponential_histogram, summary
    `type`                LowCardinality(String),
    -- 0 unspecified, 1 delta, 2 cumulative (OTLP AggregationTemporality)
    `temporality`         UInt8,
    `is_monotonic`        UInt8,
    -- Metric.metadata as a JSON object; empty where there is none
    `metadata`            LowCardinality(String),
    `start_ts`            DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    `ts`                  DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    `flags`               UInt32 CODEC(ZSTD),
    -- d double, i int, n none: which of value and value_int the point carried (value holds both kinds)
    `value_type`          LowCardinality(String),
    `value`               Float64 CODEC(ZSTD),
    `value_int`           Int64 CODEC(ZSTD),
    `count`               UInt64 CODEC(ZSTD),
    `sum`                 Float64 CODEC(ZSTD),
    `min`                 Float64 CODEC(ZSTD),
    `max`                 Float64 CODEC(ZSTD),
    -- bit 1 sum, bit 2 min, bit 4 max: which of these optional fields the point carried
    `present`             UInt8,
    `bucket_counts`       Array(UInt64) CODEC(ZSTD),
    `explicit_bounds`     Array(Float64) CODEC(ZSTD),
    `scale`               Int32 CODEC(ZSTD),
    `zero_count`          UInt64 CODEC(ZSTD),
    `zero_threshold`      Float64 CODEC(ZSTD),
    `positive_offset`     Int32 CODEC(ZSTD),
    `positive_counts`     Array(UInt64) CODEC(ZSTD),
    `negative_offset`     Int32 CODEC(ZSTD),
    `negative_counts`     Array(UInt64) CODEC(ZSTD),
    `quantiles`           Array(Float64) CODEC(ZSTD),
    `quantile_values`     Array(Float64) CODEC(ZSTD),
    -- JSON array: [{"time_unix_nano","value","value_type","trace_id","span_id","attributes":[…],"types"}]; empty where none
    `exemplars`           String CODEC(ZSTD),
    `service_namespace`   LowCardinality(String),
    `service_name`        LowCardinality(String),
    `service_version`     LowCardinality(String),
    `service_instance`    LowCardinality(String),
    `environment`         LowCardinality(String),
    `resource`            LowCardinality(String),
    `scope`               LowCardinality(String),
    `resource_meta`       LowCardinality(String),
    `scope_meta`          LowCardinality(String),
    `attributes`          Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    `attribute_types`     LowCardinality(String),
    -- one number for one time series, whatever order its labels came in
    `series`              UInt64 MATERIALIZED cityHash64(resource, scope, metric_name, mapSort(attributes)) CODEC(ZSTD)
)
ENGINE = {engine}
PARTITION BY toDate(received)
ORDER BY (workspace, metric_name, service_name, series, ts)
-- an answered insert survives a power cut; what an insert brings stays one file, which is half its cost
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728
