-- One row a span. See docs/adr for what was measured before this layout was chosen.
CREATE TABLE {table}
(
    `workspace`           LowCardinality(String),
    `project`             LowCardinality(String),
    -- when the row arrived; rows are partitioned and expire by it, so that a span that claims
    -- to be from 1970 or 2100 neither opens a partition of its own nor lives for ever
    `received`            DateTime('UTC') CODEC(Delta, ZSTD),
    -- arrival order and unique row id: the last key of every order and cursor
    `seq`                 UInt64 CODEC(Delta, ZSTD),
    `ts`                  DateTime64(9, 'UTC') CODEC(Delta, ZSTD),
    -- end minus start; negative where a clock jumped
    `duration_ns`         Int64 CODEC(ZSTD),
    `trace_id`            FixedString(16) CODEC(ZSTD),
    `span_id`             FixedString(8) CODEC(ZSTD),
    -- eight zero bytes: a root
    `parent_span_id`      FixedString(8) CODEC(ZSTD),
    `trace_state`         String CODEC(ZSTD),
    `flags`               UInt32 CODEC(ZSTD),
    `name`                LowCardinality(String),
    `kind`                UInt8,
    `status_code`         UInt8,
    `status_message`      String CODEC(ZSTD),
    `service_namespace`   LowCardinality(String),
    `service_name`        LowCardinality(String),
    `service_version`     LowCardinality(String),
    `service_instance`    LowCardinality(String),
    `environment`         LowCardinality(String),
    `session_id`          String CODEC(ZSTD),
    -- the API's own JSON of the resource and of the instrumentation scope, ready to pass through
    `resource`            LowCardinality(String),
    `scope`               LowCardinality(String),
    -- what the API does not show of both: schema URLs, value types, entity references (JSON)
    `resource_meta`       LowCardinality(String),
    `scope_meta`          LowCardinality(String),
    `attributes`          Map(LowCardinality(String), String) CODEC(ZSTD(3)),
    -- a letter an attribute (s b i d y m n, capitals for arrays of one type, a for mixed ones);
    -- empty where all are strings
    `attribute_types`     LowCardinality(String),
    `dropped_attributes`  UInt32 CODEC(ZSTD),
    -- the API's own JSON arrays; empty where there are none
    `events`              String CODEC(ZSTD),
    `event_types`         LowCardinality(String),
    `dropped_events`      UInt32 CODEC(ZSTD),
    `links`               String CODEC(ZSTD),
    `link_types`          LowCardinality(String),
    `dropped_links`       UInt32 CODEC(ZSTD),
    -- what a call that leaves the service is made to, as far as the caller can say; empty for all other spans
    `peer`                LowCardinality(String) MATERIALIZED if(
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
    -- docs/adr/0004 has what each of these costs and saves, and which condition makes use of it
    INDEX trace_id_bloom trace_id TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX session_id_bloom session_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX attribute_values_bloom mapValues(attributes) TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = {engine}
PARTITION BY toDate(received)
ORDER BY (workspace, ts, seq)
-- an answered insert survives a power cut; what an insert brings stays one file, which is half its cost
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_bytes_for_wide_part = 134217728
