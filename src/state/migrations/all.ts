import type { Migration } from "../migrate.ts";
import { jobs } from "./0001-jobs.ts";
import { deployments } from "./0002-deployments.ts";

/** Every migration, oldest first. New ones go to the end; one that was released is never changed. */
export const migrations: readonly Migration[] = [jobs, deployments];
