import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OperatorError } from "../core/errors.ts";

export interface DataDirectory {
  readonly path: string;
  /** Lets another process have it. */
  close(): void;
}

/**
 * Makes the data directory if it is missing (mode 0700), and holds it for this process alone until it ends,
 * however it ends: the lock is SQLite's, which the operating system drops with the process.
 *
 * @throws OperatorError where it cannot be made or written, or another Vigil holds it
 */
export function openDataDirectory(path: string): DataDirectory {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `The data directory ${path} cannot be ${code === "EACCES" || code === "EROFS" ? "written" : "made"} (${code}). Choose another with --data DIR.`,
    );
  }
  const holder = join(path, "vigil.pid");
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(path, "vigil.lock"), { timeout: 0 });
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    if (!/locked/.test((error as Error).message)) {
      throw new OperatorError(
        `The data directory ${path} cannot be locked (${(error as Error).message}). Choose another with --data DIR.`,
      );
    }
    throw new OperatorError(
      `The data directory ${path} is in use by another Vigil${heldBy(holder)}. Stop that one, or choose another directory with --data DIR.`,
    );
  }
  writeFileSync(holder, `${process.pid}\n`, { mode: 0o600 });
  return { path, close: () => lock.close() };
}

function heldBy(file: string): string {
  try {
    return ` (process ${Number.parseInt(readFileSync(file, "utf8"), 10)})`;
  } catch {
    return "";
  }
}
