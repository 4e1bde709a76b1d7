const mebibyte = 1 << 20;

interface Settings {
  readonly [name: string]: string | number | Settings;
}

/**
 * The engine's server configuration, as XML. ClickHouse's defaults (caches of several gigabytes, dozens of background
 * threads) are made for a machine of its own; here it is a guest.
 *
 * @param memoryLimitBytes past which queries fail with MEMORY_LIMIT_EXCEEDED
 */
export function engineConfig({
  memoryLimitBytes,
  filesDirectory,
}: {
  memoryLimitBytes: number;
  filesDirectory: string;
}): string {
  const share = (part: number, most: number): number => Math.min(Math.floor(memoryLimitBytes / part), most * mebibyte);
  const settings: Settings = {
    max_server_memory_usage: memoryLimitBytes,
    mark_cache_size: share(6, 256),
    index_mark_cache_size: share(12, 128),
    primary_index_cache_size: share(12, 128),
    text_index_tokens_cache_size: share(24, 64),
    text_index_header_cache_size: share(24, 64),
    text_index_postings_cache_size: share(24, 64),
    query_condition_cache_size: share(48, 32),
    compiled_expression_cache_size: share(48, 32),
    // Of things that no table here has.
    uncompressed_cache_size: 0,
    index_uncompressed_cache_size: 0,
    vector_similarity_index_cache_size: 0,
    iceberg_metadata_files_cache_size: 0,
    parquet_metadata_cache_size: 0,
    background_pool_size: 2,
    background_schedule_pool_size: 4,
    background_schedule_pool_initial_size: 4,
    background_common_pool_size: 2,
    background_move_pool_size: 1,
    background_fetches_pool_size: 1,
    asynchronous_metrics_update_period_s: 60,
    timezone: "UTC",
    user_files_path: filesDirectory,
  };
  return xml({ clickhouse: settings });
}

function xml(settings: Settings): string {
  return Object.entries(settings)
    .map(
      ([name, value]) =>
        `<${name}>${typeof value === "object" ? `\n${xml(value)}` : escapeXml(String(value))}</${name}>\n`,
    )
    .join("");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
