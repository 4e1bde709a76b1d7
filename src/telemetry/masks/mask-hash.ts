import { mask, maskRoom } from "./mask.ts";

/** A UInt64 in two halves of 32 bits. */
export interface MaskHash {
  hi: number;
  lo: number;
}

const masked = new Uint8Array(maskRoom);
const words = new DataView(masked.buffer);

/**
 * The hash of a text's masked form; 0 of a text that has nothing to show. It is stored, so it must stay what it is:
 * rows that were stored with another one would make a group of their own. It only groups; whoever can choose texts can
 * have two of them grouped together, and no more.
 *
 * @param into takes the hash, so that none needs to be made for each record
 */
export function hashMask(from: Uint8Array, start: number, end: number, into: MaskHash): void {
  const length = mask(from, start, end, masked);
  if (length === 0) {
    into.hi = 0;
    into.lo = 0;
    return;
  }
  masked[length] = masked[length + 1] = masked[length + 2] = 0;
  // Two lanes of a multiply-and-rotate hash, mixed with each other at the end.
  let hi = 0x9e3779b9 ^ length;
  let lo = 0x7f4a7c15;
  for (let at = 0; at < length; at += 4) {
    const word = words.getInt32(at, true);
    hi = Math.imul(hi ^ word, 0x85ebca6b);
    hi = (hi << 13) | (hi >>> 19);
    lo = Math.imul(lo ^ word, 0xc2b2ae35);
    lo = (lo << 17) | (lo >>> 15);
  }
  hi = finish(hi ^ (lo >>> 7));
  into.lo = finish(lo ^ hi);
  into.hi = hi;
}

function finish(lane: number): number {
  let value = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
