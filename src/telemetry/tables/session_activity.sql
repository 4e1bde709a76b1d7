-- Who was there: one row a session and day of arrival, so that sessions are counted and listed without reading the
-- telemetry of a month. Filled by materialised views, which are not atomic with what they read from: it can be built
-- again from spans and logs, and is never the only truth. Records without a session are not in it. What statistics read
-- is left at LZ4, which takes a tenth off their time.
CREATE TABLE {table}
(
    `workspace`           LowCardinality(String),
    `session_id`          String CODEC(ZSTD),
    -- what statistics join and group by: over the rows of a month it is read and looked up sooner than the text
    `session_hash`        UInt64 MATERIALIZED sipHash64(session_id) CODEC(NONE),
    -- of arrival, as the partitions of the tables that it is built from
    `day`                 Date,
    -- the records' own times, the end of a span included; none, or one over 5 minutes after arrival, counts as arrival
    `first_seen`          SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
    `last_seen`           SimpleAggregateFunction(max, DateTime64(9, 'UTC')),
    `spans`               SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
    `root_spans`          SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
    `logs`                SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
    -- records that tell of an error, as those that issues are made of
    `errors`              SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
    -- 1: a span has an attribute gen_ai.*
    `genai`               SimpleAggregateFunction(max, UInt8),
    -- hashes of trace ids and pages. A thousand of each are told apart, so that a session that never ends, of millions of
    -- users, is a row like others
    `traces`              SimpleAggregateFunction(groupUniqArrayArray(1000), Array(UInt64)) CODEC(ZSTD),
    `pages`               SimpleAggregateFunction(groupUniqArrayArray(1000), Array(UInt64)),
    `users`               SimpleAggregateFunction(groupUniqArrayArray(1000), Array(String)),
    `services`            SimpleAggregateFunction(groupUniqArrayArray(1000), Array(String)) CODEC(ZSTD),
    -- Texts behind the time at which they were said, in 19 digits of Unix nanoseconds, so that the least is the first
    -- and the greatest the last. Tuples of both would take five times as long to compare.
    -- the user named last; empty: nobody was
    `user`                SimpleAggregateFunction(max, String) CODEC(ZSTD),
    -- the country named first; '~', which is after all digits: none was
    `country`             SimpleAggregateFunction(min, String),
    -- behind a 1 the device type named first, else behind a 2 the user agent named first, which is that of a person and
    -- not of one service calling another; '~': neither was
    `device`              SimpleAggregateFunction(min, String)
)
ENGINE = {aggregating_engine}
PARTITION BY day
ORDER BY (workspace, session_id, day)
-- two inserts may well sum up to the same row; a replicated table would drop the second as a repetition
SETTINGS replicated_deduplication_window = 0
