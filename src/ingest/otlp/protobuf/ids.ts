export const traceIdBytes = 16;
export const spanIdBytes = 8;

/** Whether the bytes, a multiple of four, are all zero: OTLP's way of saying that there is no id. */
export function isZero(view: DataView, start: number, end: number): boolean {
  let seen = 0;
  for (let p = start; p < end; p += 4) seen |= view.getInt32(p, true);
  return seen === 0;
}
