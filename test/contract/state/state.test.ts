import { after, before, describe } from "node:test";
import { postgresDriver, sqliteDriver } from "./drivers.ts";
import type { TestDriver } from "./drivers.ts";
import { jobModelSuite } from "./job-model-suite.ts";
import { jobQueueSuite } from "./job-queue-suite.ts";
import { jobScheduleSuite } from "./job-schedule-suite.ts";
import { jobWorkerSuite } from "./job-worker-suite.ts";
import { storeSuite } from "./store-suite.ts";

for (const [name, make] of [
  ["SQLite", sqliteDriver],
  ["PostgreSQL", postgresDriver],
] as const) {
  describe(`state in ${name}`, () => {
    let driver: TestDriver;
    before(async () => {
      driver = await make();
    });
    after(() => driver.close());
    describe("the store", () => storeSuite(() => driver));
    describe("the job queue", () => jobQueueSuite(() => driver));
    describe("workers", () => jobWorkerSuite(() => driver));
    describe("schedules", () => jobScheduleSuite(() => driver));
    describe("a job's states", () => jobModelSuite(() => driver));
  });
}
