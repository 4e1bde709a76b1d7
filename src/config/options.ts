import {
  addressOrOff,
  address,
  bytes,
  days,
  diskShare,
  flag,
  httpUrl,
  oneOf,
  origins,
  postgresUrl,
  text,
} from "./kinds.ts";
import type { Kind } from "./kinds.ts";

export interface Option<T = unknown> {
  readonly kind: Kind<T>;
  /** As it would be written in a file; read through `kind` like everything else. */
  readonly default: unknown;
  /** One line for `--help` and the reference. */
  readonly help: string;
  /** The long command-line flag, for the options that are worth one. */
  readonly flag?: string;
  readonly env: string;
  /** The value may hold a password, and is not shown. */
  readonly secret?: boolean;
}

function option<T>(kind: Kind<T>, rest: Omit<Option<T>, "kind">): Option<T> {
  return { kind, ...rest };
}

/** Every option of Vigil, by its path in the configuration file. */
export const options = {
  listen: option(address, {
    default: "127.0.0.1:4318",
    flag: "listen",
    env: "VIGIL_LISTEN",
    help: "address of the API, the web pages and OTLP/HTTP",
  }),
  grpcListen: option(addressOrOff, {
    default: "127.0.0.1:4317",
    flag: "grpc-listen",
    env: "VIGIL_GRPC_LISTEN",
    help: "address of OTLP/gRPC; off turns it off",
  }),
  "gateway.listen": option(address, {
    default: "127.0.0.1:18789",
    flag: "hooks-listen",
    env: "VIGIL_HOOKS_LISTEN",
    help: "address of the gateway's webhook ingress; it listens once hooks are enabled",
  }),
  dataDir: option(text, {
    default: "./data",
    flag: "data",
    env: "VIGIL_DATA",
    help: "directory that holds everything Vigil keeps",
  }),
  "auth.mode": option(oneOf("local"), {
    default: "local",
    env: "VIGIL_AUTH_MODE",
    help: "who may call the API: local = anyone on this machine, over loopback",
  }),
  "stores.clickhouse.url": option(httpUrl, {
    default: "",
    env: "VIGIL_CLICKHOUSE_URL",
    help: "a ClickHouse server for telemetry; empty = the embedded engine",
    secret: true,
  }),
  "stores.clickhouse.cluster": option(text, {
    default: "",
    env: "VIGIL_CLICKHOUSE_CLUSTER",
    help: "the ClickHouse cluster's name; turns on replicated and distributed tables",
  }),
  "stores.postgres.url": option(postgresUrl, {
    default: "",
    env: "VIGIL_POSTGRES_URL",
    help: "a PostgreSQL for state; empty = SQLite in the data directory",
    secret: true,
  }),
  "retention.logs": option(days, { default: "30d", env: "VIGIL_RETENTION_LOGS", help: "how long logs are kept" }),
  "retention.traces": option(days, { default: "30d", env: "VIGIL_RETENTION_TRACES", help: "how long spans are kept" }),
  "retention.metrics": option(days, {
    default: "30d",
    env: "VIGIL_RETENTION_METRICS",
    help: "how long metric points are kept",
  }),
  "retention.minFreeDisk": option(diskShare, {
    default: "5%",
    env: "VIGIL_RETENTION_MIN_FREE_DISK",
    help: "below this much free disk the oldest day goes; 0 turns it off",
  }),
  "ingest.maxBodyBytes": option(bytes, {
    default: "64MB",
    env: "VIGIL_INGEST_MAX_BODY_BYTES",
    help: "largest telemetry payload, as sent and decompressed",
  }),
  "ingest.maxWaitingBytes": option(bytes, {
    default: "128MB",
    env: "VIGIL_INGEST_MAX_WAITING_BYTES",
    help: "most memory that rows waiting to be stored may take; past it senders get 503",
  }),
  "ingest.corsOrigins": option(origins, {
    default: [],
    env: "VIGIL_INGEST_CORS_ORIGINS",
    help: "browser origins that may send telemetry, besides loopback",
  }),
  "engine.memory": option(bytes, {
    default: "1536MB",
    env: "VIGIL_ENGINE_MEMORY",
    help: "most memory that the embedded engine may take",
  }),
  selfTracing: option(flag, {
    default: false,
    env: "VIGIL_SELF_TRACING",
    help: "trace Vigil's own requests with OpenTelemetry and store them in itself",
  }),
  logLevel: option(oneOf("trace", "debug", "info", "warn", "error", "silent"), {
    default: "info",
    flag: "log-level",
    env: "VIGIL_LOG_LEVEL",
    help: "least severe lines to log",
  }),
} as const;

export type OptionName = keyof typeof options;
export type OptionValues = { readonly [K in OptionName]: (typeof options)[K] extends Option<infer T> ? T : never };
