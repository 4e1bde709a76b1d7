import { createWriteStream, mkdirSync, rmSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { engineError } from "./engine-error.ts";

export interface Incoming {
  /** Writes all of `body` to a file. The file is in no need of an fsync: it is read once, by this process. */
  receive(body: Readable): Promise<ReceivedFile>;
}

interface ReceivedFile {
  readonly path: string;
  readonly byteLength: number;
  remove(): Promise<void>;
}

/**
 * Rows on their way into the engine, which reads binary formats from files only. What an earlier process left in
 * `directory` was never acknowledged and is removed.
 */
export function openIncoming(
  directory: string,
  { maxBytes, maxFiles }: { maxBytes: number; maxFiles: number },
): Incoming {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let files = 0;
  let count = 0;

  async function receive(body: Readable): Promise<ReceivedFile> {
    if (files >= maxFiles) throw engineError(202, "TOO_MANY_SIMULTANEOUS_QUERIES", "Too many inserts at once.");
    files++;
    const path = join(directory, `${++count}.rows`);
    const remove = async (): Promise<void> => {
      files--;
      await unlink(path).catch(() => {});
    };
    let byteLength = 0;
    async function* counted(): AsyncGenerator<Buffer> {
      // Destroying a request destroys its socket, and the refusal could not be sent.
      for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        byteLength += chunk.length;
        if (byteLength > maxBytes) {
          throw engineError(307, "TOO_MANY_BYTES", `The rows of one insert take more than ${maxBytes} bytes.`);
        }
        yield chunk;
      }
    }
    try {
      await pipeline(counted(), createWriteStream(path, { mode: 0o600, highWaterMark: 1 << 20 }));
    } catch (error) {
      await remove();
      throw error;
    }
    return { path, byteLength, remove };
  }

  return { receive };
}
