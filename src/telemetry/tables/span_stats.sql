-- What services do, how often and how long: one row an hour of the spans' own time, service, operation and day of
-- arrival, so that the statistics of a day read thousands of rows and not millions. Filled by a materialised view, which
-- is not atomic with what it reads from: it can be built again from spans, and is never the only truth.
CREATE TABLE {table}
(
    `workspace`           LowCardinality(String),
    -- of arrival, as the partitions of spans, with which these go
    `day`                 Date,
    -- of the span's start, counted from the Unix epoch, before it negative: a DateTime ends in 2106
    `hour`                Int32 CODEC(Delta, ZSTD),
    `service_namespace`   LowCardinality(String),
    `service_name`        LowCardinality(String),
    `name`                LowCardinality(String),
    `kind`                UInt8,
    -- 1: has no parent
    `is_root`             UInt8,
    `scope`               LowCardinality(String),
    `spans`               SimpleAggregateFunction(sum, UInt64),
    -- spans whose status is error
    `error_spans`         SimpleAggregateFunction(sum, UInt64),
    -- a double: an integer of nanoseconds would overflow at 292 years together
    `duration_ns`         SimpleAggregateFunction(sum, Float64),
    -- counts of durations cut to 8 binary digits: bounded in size, and off by less than 1/128
    `duration_p99`        AggregateFunction(quantileBFloat16(0.99), Int64)
)
ENGINE = {aggregating_engine}
PARTITION BY day
ORDER BY (workspace, service_name, service_namespace, hour, name, kind, is_root, scope, day)
-- two inserts may well sum up to the same row; a replicated table would drop the second as a repetition
SETTINGS replicated_deduplication_window = 0
