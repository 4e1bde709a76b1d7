import { createHash } from "node:crypto";
import { Kysely, PostgresDialect } from "kysely";
import { Client } from "pg";
import { OperatorError, StoreUnavailable } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/all.ts";
import { away, translateQueryError, translateStartError } from "./postgres-errors.ts";
import type { PostgresPlace } from "./postgres-errors.ts";
import { connectionOptions, everydayLimits, postgresPool } from "./postgres-pool.ts";
import type { PoolListener } from "./postgres-pool.ts";
import type { StateSchema } from "./schema.ts";
import type { StateStatus, StateStore } from "./store.ts";

/** Milliseconds between two looks at a server of which nothing was heard otherwise. */
const probeEvery = { ready: 5000, away: 500 } as const;

/**
 * Opens the PostgreSQL of `url` and brings its schema up to date.
 *
 * @throws OperatorError where it cannot be reached or used, with what to do about it and without the password
 */
export async function openPostgres(url: string, log: Log): Promise<StateStore> {
  const place = placeOf(url);
  try {
    await migrateAlone(url, place, log);
  } catch (error) {
    throw translateStartError(error, place);
  }
  const health = watchHealth(place, log);
  const pool = postgresPool({ ...connectionOptions(url), ...everydayLimits, max: 10 }, health.listener);
  const db = new Kysely<StateSchema>({ dialect: new PostgresDialect({ pool }) });
  const stopProbing = health.probe(async () => {
    const client = await pool.connect();
    await client.query("select 1", []).finally(() => client.release());
  });
  const locks = new Set<Client>();
  return {
    db,
    driver: "postgres",
    withLock: (name, fn) => withAdvisoryLock(url, place, locks, name, fn),
    state: health.state,
    async close() {
      stopProbing();
      await Promise.all([...locks].map((client) => client.end()));
      await db.destroy();
      // Kysely ends a pool only where it has used it.
      await pool.end();
    },
  };
}

/** Migrates on a connection of its own, without the limits of everyday statements. */
async function migrateAlone(url: string, place: PostgresPlace, log: Log): Promise<void> {
  const untranslated: PoolListener = { onAnswer() {}, onError: (error) => error };
  const pool = postgresPool({ ...connectionOptions(url), max: 1 }, untranslated);
  const db = new Kysely<StateSchema>({ dialect: new PostgresDialect({ pool }) });
  try {
    const ran = await migrate(db, "postgres", migrations);
    if (ran.length > 0)
      log.info({ migrations: ran, address: place.address }, "The state database's schema is up to date.");
  } finally {
    await db.destroy();
  }
}

/** The parts of the URL that may be shown, as pg understands them. */
export function placeOf(url: string): PostgresPlace {
  try {
    const { host, port, database, user } = new Client(connectionOptions(url));
    const address = host.startsWith("/") ? host : `${host}:${port}`;
    return { address, database: database ?? "", user: user ?? "" };
  } catch {
    // The error would quote the URL, and with it the password.
    throw new OperatorError(
      "stores.postgres.url (VIGIL_POSTGRES_URL) is not a URL that can be read. It looks like postgres://user:password@host:5432/database, with special characters percent-encoded.",
    );
  }
}

/** Keeps what the last attempt to speak with the server told, and makes one now and then where nobody else does. */
function watchHealth(place: PostgresPlace, log: Log) {
  let status: StateStatus = { status: "ready" };
  let heard = performance.now();
  const listener: PoolListener = {
    onAnswer() {
      heard = performance.now();
      if (status.status === "away") log.info({ address: place.address }, "PostgreSQL is back.");
      status = { status: "ready" };
    },
    onError(error, connecting) {
      const translated = connecting ? away(error, place) : translateQueryError(error, place);
      if (translated instanceof StoreUnavailable) {
        if (status.status === "ready") log.warn({ address: place.address }, translated.message);
        status = { status: "away", detail: translated.message };
      }
      return translated;
    },
  };
  /** Returns what ends the probing. */
  function probe(ask: () => Promise<unknown>): () => void {
    let timer: NodeJS.Timeout;
    let stopped = false;
    const next = () => {
      if (!stopped) timer = setTimeout(() => void look(), probeEvery[status.status]).unref();
    };
    const look = async () => {
      const quiet = status.status === "away" || performance.now() - heard >= probeEvery.ready;
      // A failure has gone to the listener, which is all that there is to do about it.
      if (quiet) await ask().catch(() => {});
      next();
    };
    next();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }
  return { listener, probe, state: () => status };
}

/** The lock belongs to the session, so it has a connection of its own, whose end is the lock's end. */
async function withAdvisoryLock<T>(
  url: string,
  place: PostgresPlace,
  locks: Set<Client>,
  name: string,
  fn: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const client = new Client(connectionOptions(url));
  const lost = new AbortController();
  const lose = (error?: Error) => lost.abort(away(error ?? new Error("the connection ended"), place));
  client.on("error", lose);
  client.on("end", lose);
  locks.add(client);
  try {
    try {
      await client.connect();
      // Where this host vanishes the server has to find out by itself; its default is over two hours.
      await client.query("set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3");
      await client.query("select pg_advisory_lock($1)", [lockNumber(name)]);
    } catch (error) {
      const translated = translateQueryError(error, place);
      throw translated === error ? away(error, place) : translated;
    }
    return await fn(lost.signal);
  } finally {
    locks.delete(client);
    client.off("end", lose);
    await client.end().catch(() => {});
  }
}

/** A signed 64-bit number that stands for `name`, as text. */
function lockNumber(name: string): string {
  return createHash("sha256").update(`vigil:${name}`).digest().readBigInt64BE().toString();
}
