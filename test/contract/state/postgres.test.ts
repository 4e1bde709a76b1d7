import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { OperatorError, StoreUnavailable } from "../../../src/core/errors.ts";
import type { JobKind } from "../../../src/core/job.ts";
import { jobHandler, startWorker } from "../../../src/state/job-worker.ts";
import { createJobQueue } from "../../../src/state/jobs.ts";
import { openAt, postgresDriver, silent, until } from "./drivers.ts";
import type { TestPostgres } from "./postgres.ts";
import { withClient } from "./postgres.ts";

let driver: Awaited<ReturnType<typeof postgresDriver>>;
let server: TestPostgres;
before(async () => {
  driver = await postgresDriver();
  server = driver.server;
});
after(() => driver.close());

function refuses(postgresUrl: string, ...says: RegExp[]): Promise<void> {
  return assert.rejects(openAt({ directory: "/nonexistent", postgresUrl }), (error) => {
    assert.ok(error instanceof OperatorError, String(error));
    for (const pattern of says) assert.match(error.message, pattern);
    assert.ok(!error.message.includes(server.password));
    assert.ok(!error.message.includes("s3cret"));
    return true;
  });
}

test("a PostgreSQL that cannot be used is refused with what to do, and without the password", async () => {
  const { port, user, password } = server;
  await refuses(
    `postgres://${user}:s3cret@127.0.0.1:${port}/postgres`,
    /does not let the user "vigil" in/,
    /VIGIL_POSTGRES_URL/,
  );
  await refuses(`postgres://${user}:${password}@127.0.0.1:${port}/nowhere`, /no database "nowhere"/);
  await refuses(`postgres://${user}:s3cret@127.0.0.1:1/x`, /127\.0\.0\.1:1 cannot be used: ECONNREFUSED/);
  await refuses(`postgres://${user}:s3cret@name.invalid/x`, /name\.invalid:5432 cannot be used: (ENOTFOUND|EAI_AGAIN)/);
  await refuses("postgres://u:s3cret@host:notaport/x", /is not a URL that can be read/);
});

test("a user that may not make tables is told so", async () => {
  const url = await server.createDatabase();
  await withClient(url, (client) => client.query("create role guest login password 's3cret'"));
  const guest = new URL(url);
  guest.username = "guest";
  guest.password = "s3cret";
  await refuses(guest.href, /"guest" may not make tables/);
});

test("a server that goes away is said to be away, and is used again once it is back", { timeout: 60_000 }, async () => {
  const store = await openAt(await driver.fresh());
  const query = () => store.db.selectFrom("jobs").select("id").execute();
  const { promise: held, resolve: hold } = Promise.withResolvers<AbortSignal>();
  const lock = store.withLock("a", async (lost) => {
    hold(lost);
    await new Promise((resolve) => lost.addEventListener("abort", resolve));
  });
  const lost = await held;
  const midway = store.db.transaction().execute(async (trx) => {
    await trx.selectFrom("jobs").select("id").execute();
    await server.crash();
    await trx.selectFrom("jobs").select("id").execute();
  });
  await assert.rejects(midway, StoreUnavailable);
  await assert.rejects(query(), StoreUnavailable);
  await assert.rejects(
    store.withLock("b", async () => {}),
    StoreUnavailable,
  );
  const { status, detail } = store.state();
  assert.equal(status, "away");
  assert.match(detail!, /PostgreSQL at 127\.0\.0\.1:\d+ does not answer/);
  await lock;
  assert.ok(lost.reason instanceof StoreUnavailable, "who held a lock was told that it is lost");
  await server.restart();
  await until(async () => store.state().status === "ready");
  assert.deepEqual(await query(), []);
  await store.withLock("a", async (signal) => assert.equal(signal.aborted, false));
  await store.close();
});

test("connections that the server ends while nobody uses them hurt nobody", async () => {
  const place = await driver.fresh();
  const store = await openAt(place);
  const query = () => store.db.selectFrom("jobs").select("id").execute();
  await Promise.all([query(), query(), query()]);
  await withClient(server.url(), (client) =>
    client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()",
      [new URL(place.postgresUrl!).pathname.slice(1)],
    ),
  );
  // One of them may be used before its end is heard of; after that there are none of the old ones left.
  await until(
    () =>
      query().then(
        () => true,
        (error) => assert.ok(error instanceof StoreUnavailable),
      ) as Promise<true>,
  );
  await until(async () => store.state().status === "ready");
  assert.deepEqual(await query(), []);
  await store.close();
});

test("a job that ends while the server is away is completed once it is back", { timeout: 60_000 }, async () => {
  const store = await openAt(await driver.fresh());
  const queue = createJobQueue(store);
  const kind: JobKind<null> = { name: "through-an-outage" };
  const { promise: finish, resolve: end } = Promise.withResolvers<void>();
  let runs = 0;
  const handler = jobHandler(kind, async () => {
    runs++;
    await finish;
  });
  const worker = startWorker({ queue, handlers: [handler], log: silent, pollMs: 50 });
  const { id } = await queue.enqueue(kind, null);
  await until(async () => runs === 1);
  await server.crash();
  end();
  await until(async () => store.state().status === "away");
  await server.restart();
  await until(async () => (await queue.read(id).catch(() => undefined))?.status === "completed");
  await worker.stop();
  assert.equal(runs, 1);
  await store.close();
});

test("a lock that a killed session held goes to the next", async () => {
  const place = await driver.fresh();
  const one = await openAt(place);
  const two = await openAt(place);
  const { promise: held, resolve: hold } = Promise.withResolvers<void>();
  const first = one.withLock("x", async (lost) => {
    hold();
    await new Promise((resolve) => lost.addEventListener("abort", resolve));
    return "lost";
  });
  await held;
  const second = two.withLock("x", async () => "mine");
  await until(async () => {
    const { rows } = await sql<{
      n: number;
    }>`select count(*) as n from pg_locks where locktype = 'advisory' and not granted`.execute(two.db);
    return rows[0]!.n === 1;
  });
  await withClient(server.url(), (client) =>
    client.query("select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted"),
  );
  assert.deepEqual(await Promise.all([first, second]), ["lost", "mine"]);
  await one.close();
  await two.close();
});
