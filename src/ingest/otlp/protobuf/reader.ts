import { MalformedPayload } from "./malformed-payload.ts";

/** Messages inside messages; the deepest that OTLP itself has, with nested attribute values, stays far below. */
const maxGroupDepth = 32;

/**
 * Reads protobuf's wire format from front to back. Each read is told the end of the message that it is in, and
 * throws MalformedPayload where it would go past it. A read leaves what is more than one number in the fields.
 */
export class Reader {
  readonly view: DataView;
  pos = 0;
  /** The range of the last length-delimited field. */
  from = 0;
  to = 0;
  /** The last 64-bit value, in signed 32-bit halves (a signed one fits a machine word, an unsigned one may not). */
  hi = 0;
  lo = 0;

  constructor(view: DataView) {
    this.view = view;
  }

  /** A field's number and wire type, as they were sent: number × 8 + type. */
  tag(end: number): number {
    const { pos } = this;
    if (pos < end) {
      const byte = this.view.getUint8(pos);
      if (byte < 0x80) {
        this.pos = pos + 1;
        return byte;
      }
    }
    this.varint64(end);
    if (this.hi !== 0) throw new MalformedPayload("A protobuf field has a number that is too large.");
    return this.lo >>> 0;
  }

  /** A varint's low 32 bits, signed. */
  int32(end: number): number {
    const { pos } = this;
    if (pos < end) {
      const byte = this.view.getUint8(pos);
      if (byte < 0x80) {
        this.pos = pos + 1;
        return byte;
      }
    }
    this.varint64(end);
    return this.lo;
  }

  /** A varint, into `hi` and `lo`. */
  varint64(end: number): void {
    const { view } = this;
    let pos = this.pos;
    let hi = 0;
    let lo = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (pos >= end) throw truncated();
      const byte = view.getUint8(pos++);
      const bits = byte & 0x7f;
      if (shift < 28) {
        lo |= bits << shift;
      } else if (shift === 28) {
        lo |= bits << 28;
        hi = bits >>> 4;
      } else {
        hi |= bits << (shift - 32);
      }
      if (byte < 0x80) {
        this.pos = pos;
        this.hi = hi;
        this.lo = lo;
        return;
      }
    }
    throw new MalformedPayload("A protobuf number has more than ten bytes.");
  }

  /** The bits of a float or fixed32, signed. */
  fixed32(end: number): number {
    const { pos } = this;
    if (pos + 4 > end) throw truncated();
    this.pos = pos + 4;
    return this.view.getInt32(pos, true);
  }

  /** Eight bytes, into `hi` and `lo`. */
  fixed64(end: number): void {
    const { pos } = this;
    if (pos + 8 > end) throw truncated();
    this.pos = pos + 8;
    this.lo = this.view.getInt32(pos, true);
    this.hi = this.view.getInt32(pos + 4, true);
  }

  double(end: number): number {
    const { pos } = this;
    if (pos + 8 > end) throw truncated();
    this.pos = pos + 8;
    return this.view.getFloat64(pos, true);
  }

  /** Goes to the start of a length-delimited field's content and returns its end; the range is in `from` and `to`. */
  enter(end: number): number {
    const { pos } = this;
    let size = -1;
    if (pos < end) {
      size = this.view.getUint8(pos);
      if (size < 0x80) {
        this.pos = pos + 1;
      } else {
        this.varint64(end);
        size = this.hi === 0 ? this.lo : -1;
      }
    }
    const from = this.pos;
    if (size < 0 || size > end - from) throw truncated();
    this.from = from;
    return (this.to = from + size);
  }

  /** Goes past a length-delimited field's content, whose range is in `from` and `to`. */
  pass(end: number): void {
    this.pos = this.enter(end);
  }

  /** The range in `from` and `to` is one of whole values of `width` bytes. */
  checkPacked(width: number): void {
    if ((this.to - this.from) % width !== 0) throw truncated();
  }

  /**
   * Goes past a field that the message does not have.
   *
   * @param known the fields that it has, bit n for number n: with these numbers, the wire type is wrong
   */
  skip(tag: number, end: number, known: number): void {
    const number = tag >>> 3;
    if (number === 0) throw new MalformedPayload("A protobuf field has the number 0.");
    if (number < 32 && ((known >>> number) & 1) === 1) {
      throw new MalformedPayload(`The protobuf field ${number} has the wire type ${tag & 7}, which is not its own.`);
    }
    this.#skipContent(tag, end, 0);
  }

  #skipContent(tag: number, end: number, depth: number): void {
    switch (tag & 7) {
      case 0:
        this.varint64(end);
        return;
      case 1:
        this.fixed64(end);
        return;
      case 2:
        this.pass(end);
        return;
      case 3:
        if (depth === maxGroupDepth) throw new MalformedPayload("Protobuf groups are nested too deeply.");
        for (;;) {
          const inner = this.tag(end);
          if ((inner & 7) === 4) {
            if (inner >>> 3 !== tag >>> 3) throw new MalformedPayload("A protobuf group ends that has not begun.");
            return;
          }
          this.#skipContent(inner, end, depth + 1);
        }
      case 5:
        this.fixed32(end);
        return;
      default:
        throw new MalformedPayload(`A protobuf field has the wire type ${tag & 7}, which does not exist here.`);
    }
  }
}

function truncated(): MalformedPayload {
  return new MalformedPayload("The protobuf message ends in the middle of a field.");
}
