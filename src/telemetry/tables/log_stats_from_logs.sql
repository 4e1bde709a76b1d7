-- What a block of log records adds to log_stats.
SELECT
    workspace,
    toDate(received) AS day,
    -- rounded down, before the epoch too, where division rounds up; by a signed number, or the remainder has no sign
    toInt32(intDiv(toUnixTimestamp64Nano(ts), 60000000000) - (toUnixTimestamp64Nano(ts) % toInt64(60000000000) < 0)) AS minute,
    service_name,
    severity_text,
    count() AS logs
FROM {source}
GROUP BY workspace, day, minute, service_name, severity_text
