const root = {
  span_id: "b7ad6b7169203331",
  name: "POST /cart/checkout",
  kind: 2,
  service_name: "gateway",
  start_time_unix_nano: 1_763_632_800_000_000_000n,
  duration_ns: 3_012_000_000,
  status: { code: 2 },
};

/** A trace as lists of them show it. */
export const exampleTrace = {
  trace_id: "5b8efff798038103d269b633813fc60c",
  root_span: root,
  start_time: "2025-11-20T10:00:00.000000000Z",
  end_time: "2025-11-20T10:00:03.012000000Z",
  duration_ns: 3_012_000_000,
  span_count: 7,
  error_count: 3,
  has_error: true,
  services: ["checkout", "gateway"],
};

export const exampleTraceDetail = {
  ...exampleTrace,
  first_error: {
    span_id: "eee19b7ec3c1b174",
    parent_span_id: "b7ad6b7169203331",
    name: "POST /charge",
    kind: 3,
    service_name: "checkout",
    start_time_unix_nano: 1_763_632_800_005_000_000n,
    duration_ns: 3_000_412_000,
    status: { code: 2, message: "payment provider timed out" },
  },
  by_service: [
    { service_name: "gateway", span_count: 1, error_count: 1, offset_ns: 0, duration_ns: 3_012_000_000 },
    { service_name: "checkout", span_count: 6, error_count: 2, offset_ns: 2_000_000, duration_ns: 3_008_000_000 },
  ],
};

/** A span whole. */
export const exampleSpan = {
  span_id: "eee19b7ec3c1b174",
  trace_id: "5b8efff798038103d269b633813fc60c",
  parent_span_id: "b7ad6b7169203331",
  name: "POST /charge",
  kind: 3,
  start_time_unix_nano: 1_763_632_800_005_000_000n,
  end_time_unix_nano: 1_763_632_803_005_412_000n,
  status: { code: 2, message: "payment provider timed out" },
  resource: { "service.name": "checkout", "service.version": "2.4.1", attributes: [], dropped_attributes_count: 0 },
  attributes: [{ key: "server.address", value: "pay.example" }],
  dropped_attributes_count: 0,
  events: [],
  dropped_events_count: 0,
  links: [],
  dropped_links_count: 0,
  flags: 1,
  instrumentation_scope: { name: "checkout.http", attributes: [], dropped_attributes_count: 0 },
};
