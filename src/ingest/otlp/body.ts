import type { IncomingMessage } from "node:http";
import type { Duplex, Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { Refused } from "./failure.ts";

export interface BodyLimits {
  /** Of a body, as it is sent and as it is decompressed. */
  readonly maxBodyBytes: number;
  /** How long a body may stand still while it arrives. */
  readonly bodyTimeoutMs: number;
}

/** Counts the bytes of all bodies that are held; throws StoreOverloaded where they become too many. */
export type HoldBytes = (count: number) => void;

type Decoder = Duplex & { readonly bytesWritten: number };

/** Fewer and larger pieces than by default: each piece is one trip to a thread of the pool. */
const chunkSize = 64 * 1024;

/** RFC 9659: as a content coding, zstd's window is at most 8 MiB; more would let a sender choose our memory. */
const zstdWindowLog = 23;

const decoders: Readonly<Record<string, () => Decoder>> = {
  gzip: () => createGunzip({ chunkSize }),
  "x-gzip": () => createGunzip({ chunkSize }),
  deflate: () => createInflate({ chunkSize }),
  br: () => createBrotliDecompress({ chunkSize }),
  zstd: () => createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLog } }),
};

/** More codings in a row than any sender has a reason for. */
const maxCodings = 4;

/** Makes what undoes the codings of a Content-Encoding header, the last one first. */
function openDecoders(header: string | undefined): Decoder[] {
  const names = (header ?? "").split(",").map((name) => name.trim().toLowerCase());
  const codings = names.filter((name) => name !== "" && name !== "identity");
  const unknown = codings.find((name) => !Object.hasOwn(decoders, name));
  if (unknown !== undefined || codings.length > maxCodings) {
    const what =
      unknown === undefined ? "So many codings in a row are" : `The content encoding ${unknown.slice(0, 50)} is`;
    throw new Refused(415, `${what} not supported; use gzip, deflate, br, zstd or identity.`);
  }
  return codings.toReversed().map((name) => decoders[name]!());
}

const tooLarge = (limit: number) =>
  new Refused(413, `The payload is larger than ${limit} bytes, as sent or decompressed.`);

/**
 * Reads the request's body and decompresses it as it arrives, off the event loop. Stops at the first byte over a
 * limit. Rejects with Refused, and with what `hold` throws; the request is then paused, with the rest still to come.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, hold: HoldBytes): Promise<Buffer> {
  const { maxBodyBytes, bodyTimeoutMs } = limits;
  if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return Promise.reject(tooLarge(maxBodyBytes));

  return new Promise((resolve, reject) => {
    const stages = openDecoders(request.headers["content-encoding"]);
    const sources: readonly Readable[] = [request, ...stages];
    /** Bytes that each source has given so far. */
    const given = sources.map(() => 0);
    const chunks: Buffer[] = [];
    let settled = false;
    const timer = setTimeout(() => {
      fail(new Refused(503, `The body did not go on arriving within ${bodyTimeoutMs} ms.`, 1));
    }, bodyTimeoutMs);
    const listeners = sources.map((source, i) => (chunk: Buffer) => {
      try {
        take(source, i, chunk);
      } catch (error) {
        fail(error as Error);
      }
    });
    const onClose = () => {
      if (!request.readableEnded)
        fail(new Refused(400, "The connection was closed before the whole body had arrived."));
    };

    function take(source: Readable, i: number, chunk: Buffer): void {
      given[i]! += chunk.length;
      if (given[i]! > maxBodyBytes) throw tooLarge(maxBodyBytes);
      if (source === request) timer.refresh();
      if (i < stages.length) return;
      hold(chunk.length);
      chunks.push(chunk);
    }
    function stop(): void {
      settled = true;
      clearTimeout(timer);
      request.off("close", onClose).off("error", onClose).unpipe();
      sources.forEach((source, i) => source.off("data", listeners[i]!));
      for (const stage of stages) stage.destroy();
    }
    function fail(error: Error): void {
      if (settled) return;
      stop();
      request.pause();
      reject(error);
    }
    function finish(): void {
      if (settled) return;
      // Node's decoders end quietly where the compressed data ends; what follows would be lost without a word.
      if (stages.some((stage, i) => stage.bytesWritten < given[i]!)) {
        fail(new Refused(400, "The body goes on after the end of its compressed data."));
        return;
      }
      stop();
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    }

    request.on("close", onClose).on("error", onClose);
    sources.forEach((source, i) => source.on("data", listeners[i]!));
    stages.reduce<Readable>((source, stage) => {
      stage.on("error", () =>
        fail(new Refused(400, "The body is not what its Content-Encoding says: decompressing failed.")),
      );
      return source.pipe(stage);
    }, request);
    sources.at(-1)!.on("end", finish);
  });
}
