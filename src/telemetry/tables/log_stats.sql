-- How many log records there were: one row a minute of their own time, service, severity and day of arrival, so that
-- the statistics of a day read thousands of rows and not millions. Filled by a materialised view, which is not atomic
-- with what it reads from: it can be built again from logs, and is never the only truth.
CREATE TABLE {table}
(
    `workspace`           LowCardinality(String),
    -- of arrival, as the partitions of logs, with which these go
    `day`                 Date,
    -- of the record's own time, counted from the Unix epoch, before it negative: a DateTime ends in 2106
    `minute`              Int32 CODEC(Delta, ZSTD),
    `service_name`        LowCardinality(String),
    `severity_text`       LowCardinality(String),
    `logs`                SimpleAggregateFunction(sum, UInt64)
)
ENGINE = {aggregating_engine}
PARTITION BY day
ORDER BY (workspace, minute, service_name, severity_text, day)
-- two inserts may well sum up to the same row; a replicated table would drop the second as a repetition
SETTINGS replicated_deduplication_window = 0
