-- What a block of spans adds to service_activity.
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
FROM {source}
GROUP BY workspace, project, service_namespace, service_name, service_version, service_instance, environment, hour
