-- What a block of spans adds to span_stats.
SELECT
    workspace,
    toDate(received) AS day,
    -- rounded down, negative times too
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
FROM {source} AS spans_of
GROUP BY workspace, day, hour, service_namespace, service_name, name, kind, is_root, scope
