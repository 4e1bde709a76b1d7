export const exampleSession = {
  session_id: "7c1d0f3a-0a52-4b6e-9d7f-5b1f2e8c9a10",
  user_id: "user-17",
  start_time: "2026-11-20T10:00:00.000000000Z",
  end_time: "2026-11-20T10:04:12.500000000Z",
  duration_ms: 252_500,
  is_active: false,
  trace_count: 6,
  span_count: 41,
  log_count: 12,
  error_count: 1,
  page_count: 3,
  device_type: "mobile",
  country_code: "DE",
  services: ["checkout", "web"],
  has_genai: false,
};

export const exampleStats = {
  active_sessions: 14,
  total_sessions: 230,
  unique_users: 171,
  avg_duration_ms: 187_400.5,
  sessions_with_errors: 12,
  sessions_with_genai: 3,
  bounce_rate: 0.31,
  by_device_type: [
    { device_type: "desktop", count: 138, percentage: 60 },
    { device_type: "mobile", count: 92, percentage: 40 },
  ],
  by_country: [{ country_code: "DE", country_name: "Germany", count: 230, percentage: 100 }],
};

const exampleSpan = {
  span_id: "eee19b7ec3c1b174",
  trace_id: "5b8efff798038103d269b633813fc60c",
  name: "click buy",
  kind: 1,
  start_time_unix_nano: 1_763_632_800_000_000_000n,
  end_time_unix_nano: 1_763_632_803_000_412_000n,
  status: { code: 0 },
  resource: { "service.name": "web", "service.version": "3.4.1", attributes: [], dropped_attributes_count: 0 },
  attributes: [{ key: "url.path", value: "/items/17" }],
  dropped_attributes_count: 0,
  events: [],
  dropped_events_count: 0,
  links: [],
  dropped_links_count: 0,
  flags: 1,
  instrumentation_scope: { name: "shop-web", attributes: [], dropped_attributes_count: 0 },
};

export const exampleSessionTrace = {
  trace_id: "5b8efff798038103d269b633813fc60c",
  spans: [exampleSpan],
  span_count: 1,
  duration_ns: 3_000_412_000n,
  start_time: "2025-11-20T10:00:00.000000000Z",
  end_time: "2025-11-20T10:00:03.000412000Z",
  services: ["web"],
  has_error: false,
  root_span: exampleSpan,
};
