-- What a block of spans adds to session_activity.
SELECT
    workspace,
    session_id,
    day,
    min(least(began, ended)) AS first_seen,
    max(greatest(began, ended)) AS last_seen,
    count() AS spans,
    countIf(is_root) AS root_spans,
    toUInt64(0) AS logs,
    countIf(is_error) AS errors,
    max(is_genai) AS genai,
    groupUniqArray(1000)(sipHash64(trace_id)) AS traces,
    groupUniqArrayIf(1000)(sipHash64(page), page != '') AS pages,
    groupUniqArrayIf(1000)(named_user, named_user != '') AS users,
    groupUniqArray(1000)(service) AS services,
    max(if(named_user = '', '', concat(said, named_user))) AS user,
    min(if(match(named_country, '^[A-Z][A-Z]$'), concat(said, named_country), '~')) AS country,
    min(multiIf(
        -- a word that the API does not know names nothing
        named_device IN ('desktop', 'mobile', 'tablet', 'tv', 'console', 'wearable', 'iot', 'bot'), concat('1', said, named_device),
        named_agent != '', concat('2', said, named_agent),
        '~')) AS device
FROM
(
    SELECT
        workspace,
        session_id,
        toDate(received) AS day,
        trace_id,
        toString(service_name) AS service,
        if(ts > received + 300 OR toUnixTimestamp64Nano(ts) <= 0, toDateTime64(received, 9, 'UTC'), ts) AS began,
        fromUnixTimestamp64Nano(toUnixTimestamp64Nano(ts) + greatest(duration_ns, 0), 'UTC') AS own_end,
        if(own_end > received + 300 OR toUnixTimestamp64Nano(own_end) <= 0, toDateTime64(received, 9, 'UTC'), own_end) AS ended,
        leftPad(toString(toUnixTimestamp64Nano(began)), 19, '0') AS said,
        parent_span_id = toFixedString('', 8) AS is_root,
        status_code = 2 OR position(events, '{"name":"exception"') > 0 AS is_error,
        arrayExists(key -> startsWith(key, 'gen_ai.'), mapKeys(attributes)) AS is_genai,
        JSONExtractString(resource, 'telemetry.sdk.language') = 'webjs' AS is_view,
        -- an address without a path is that of its root
        multiIf(
            NOT is_view, '',
            attributes['url.path'] != '', attributes['url.path'],
            attributes['url.full'] = '', '',
            path(attributes['url.full']) = '', '/',
            path(attributes['url.full'])) AS page,
        -- what the record does not say, its resource may
        multiIf(
            attributes['user.id'] != '', attributes['user.id'],
            attributes['enduser.id'] != '', attributes['enduser.id'],
            attributes['user.email'] != '', attributes['user.email'],
            JSONExtractString(extract(resource, '"key":"(?:user[.]id|enduser[.]id|user[.]email)","value":("(?:[^"\\\\]|\\\\.)*")'))) AS named_user,
        upper(if(attributes['geo.country.iso_code'] != '', attributes['geo.country.iso_code'],
            JSONExtractString(extract(resource, '"key":"geo[.]country[.]iso_code","value":("(?:[^"\\\\]|\\\\.)*")')))) AS named_country,
        lower(if(attributes['device.type'] != '', attributes['device.type'],
            JSONExtractString(extract(resource, '"key":"device[.]type","value":("(?:[^"\\\\]|\\\\.)*")')))) AS named_device,
        if(attributes['user_agent.original'] != '', attributes['user_agent.original'],
            JSONExtractString(extract(resource, '"key":"user_agent[.]original","value":("(?:[^"\\\\]|\\\\.)*")'))) AS named_agent
    FROM {source}
    WHERE session_id != ''
)
GROUP BY workspace, session_id, day
