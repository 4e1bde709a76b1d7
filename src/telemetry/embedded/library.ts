import { createRequire } from "node:module";
import { OperatorError } from "../../core/errors.ts";

/**
 * Says which engine library is installed, without loading it.
 *
 * @throws OperatorError where there is none for this machine
 */
export function engineLibrary(): string {
  const require = createRequire(createRequire(import.meta.url).resolve("chdb"));
  const platform = `${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}`;
  try {
    const { name, version } = require(`@chdb/lib-${platform}/package.json`) as { name: string; version: string };
    return `${name} ${version}`;
  } catch {
    throw new OperatorError(
      `There is no embedded engine for ${platform}. Name a ClickHouse server in stores.clickhouse.url (VIGIL_CLICKHOUSE_URL).`,
    );
  }
}
