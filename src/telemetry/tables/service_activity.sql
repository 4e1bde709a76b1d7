-- Who was seen when: one row an hour and distinct service, version, instance and environment, so that listing
-- services reads thousands of rows and not the telemetry of a month. Filled by materialised views, which are not
-- atomic with what they read from: it can be built again from spans, logs and metric_points, and is never the only truth.
CREATE TABLE {table}
(
    `workspace`           LowCardinality(String),
    `project`             LowCardinality(String),
    `service_namespace`   LowCardinality(String),
    `service_name`        LowCardinality(String),
    `service_version`     LowCardinality(String),
    `service_instance`    String,
    `environment`         LowCardinality(String),
    -- of arrival, as the partitions of the tables that it is built from
    `hour`                DateTime('UTC') CODEC(Delta, ZSTD),
    -- the records' own times; a time after arrival, or none, counts as arrival
    `first_seen`          SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
    `last_seen`           SimpleAggregateFunction(max, DateTime64(9, 'UTC')),
    `spans`               SimpleAggregateFunction(sum, UInt64),
    -- spans whose status is error
    `error_spans`         SimpleAggregateFunction(sum, UInt64),
    `logs`                SimpleAggregateFunction(sum, UInt64),
    -- logs at ERROR or above
    `error_logs`          SimpleAggregateFunction(sum, UInt64),
    `metric_points`       SimpleAggregateFunction(sum, UInt64)
)
ENGINE = {aggregating_engine}
PARTITION BY toDate(hour)
ORDER BY (workspace, service_namespace, service_name, service_version, service_instance, environment, project, hour)
-- two inserts may well sum up to the same row; a replicated table would drop the second as a repetition
SETTINGS replicated_deduplication_window = 0
