-- One row a log record.
CREATE TABLE {table}
(
    `workspace`           LowCardinality(String),
    `project`             LowCardinality(String),
    `received`            DateTime('UTC') CODEC(Delta, ZSTD),
    `seq`                 UInt64 CODEC(Delta, ZSTD),
    `ts`                  DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    `observed_ts`         DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    `severity_number`     UInt8,
    -- the API's enumeration, derived when stored
    `severity_text`       LowCardinality(String),
    `event_name`          LowCardinality(String),
    -- text, or JSON where body_type says so
    `body`                String CODEC(ZSTD),
    -- hash of the body with what varies masked (src/telemetry/masks): what patterns are counted by
    `body_mask`           UInt64 CODEC(ZSTD),
    -- s string, b bool, i int, d double, m key-value list, a array, y bytes (base64), n none
    `body_type`           LowCardinality(String),
    `trace_id`            FixedString(16) CODEC(ZSTD),
    `span_id`             FixedString(8) CODEC(ZSTD),
    `flags`               UInt32 CODEC(ZSTD),
    `service_namespace`   LowCardinality(String),
    `service_name`        LowCardinality(String),
    `service_version`     LowCardinality(String),
    `service_instance`    LowCardinality(String),
    `environment`         LowCardinality(String),
    `session_id`          String CODEC(ZSTD),
    `resource`            LowCardinality(String),
    `scope`               LowCardinality(String),
    `resource_meta`       LowCardinality(String),
    `scope_meta`          LowCardinality(String),
    `attributes`          Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    `attribute_types`     LowCardinality(String),
    `dropped_attributes`  UInt32 CODEC(ZSTD),
    -- docs/adr/0004 has what each of these costs and saves, and which condition makes use of it
    INDEX trace_id_bloom trace_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX session_id_bloom session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX attribute_values_bloom mapValues(attributes) TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX body_mask_bloom body_mask TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX body_words lower(body) TYPE text(tokenizer = 'splitByNonAlpha', posting_list_codec = 'bitpacking')
)
ENGINE = {engine}
PARTITION BY toDate(received)
ORDER BY (workspace, ts, seq)
-- small granules, since what is looked for (a word, an attribute, a trace) stands in few and scattered rows;
-- an answered insert survives a power cut; what an insert brings stays one file, which is half its cost
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728
