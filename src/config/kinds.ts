import { OperatorError } from "../core/errors.ts";

/** How one kind of value is read. `read` takes what a file, a flag or the environment gave, and throws Misfit. */
export interface Kind<T> {
  /** What is allowed, as the end of "must be …". */
  readonly allowed: string;
  read(value: unknown): T;
}

/** The value is not of its kind; the loader adds which option it was, where it came from, and what is allowed. */
class Misfit extends Error {}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** HOST:PORT, IPv6 in brackets; port 0 lets the system choose. */
export const address: Kind<Address> = {
  allowed: "HOST:PORT, for example 127.0.0.1:4318 or [::1]:4318",
  read(value) {
    const match = typeof value === "string" ? /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]+)):(\d{1,5})$/.exec(value) : null;
    const port = Number(match?.[3]);
    if (!match || port > 65535) throw new Misfit();
    return { host: (match[1] ?? match[2])!, port };
  },
};

/** An address, or null for "off". */
export const addressOrOff: Kind<Address | null> = {
  allowed: `${address.allowed}, or off`,
  read: (value) => (value === "off" ? null : address.read(value)),
};

export const text: Kind<string> = {
  allowed: "text",
  read(value) {
    if (typeof value !== "string") throw new Misfit();
    return value;
  },
};

/** An http or https address, or nothing. */
export const httpUrl: Kind<string> = {
  allowed: "an http:// or https:// address, for example http://user:password@clickhouse:8123",
  read(value) {
    if (value === "") return "";
    if (typeof value !== "string" || !URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
      throw new Misfit();
    return value;
  },
};

export const postgresUrl: Kind<string> = {
  allowed: "a postgres:// address, for example postgres://user:password@db:5432/vigil",
  read(value) {
    if (value === "") return "";
    if (typeof value !== "string" || !URL.canParse(value) || !/^postgres(ql)?:$/.test(new URL(value).protocol))
      throw new Misfit();
    return value;
  },
};

export const flag: Kind<boolean> = {
  allowed: "true or false",
  read(value) {
    if (typeof value === "boolean") return value;
    if (value === "true" || value === "1") return true;
    if (value === "false" || value === "0") return false;
    throw new Misfit();
  },
};

export function oneOf<const T extends string>(...values: readonly T[]): Kind<T> {
  return {
    allowed: values.length === 1 ? `${values[0]}` : `one of ${values.join(", ")}`,
    read(value) {
      const found = values.find((v) => v === value);
      if (found === undefined) throw new Misfit();
      return found;
    },
  };
}

const daySeconds = 86_400;
const unitSeconds: Readonly<Record<string, number>> = { h: 3600, d: daySeconds, w: 7 * daySeconds };

/** A time to keep data for, in whole days: "30d", "4w", "72h" (rounded up to days), at least one day. */
export const days: Kind<number> = {
  allowed: "a time of at least a day, for example 30d, 4w or 72h",
  read(value) {
    const match = typeof value === "string" ? /^(\d{1,6})([hdw])$/.exec(value) : null;
    const seconds = match ? Number(match[1]) * unitSeconds[match[2]!]! : 0;
    if (seconds < daySeconds) throw new Misfit();
    return Math.ceil(seconds / daySeconds);
  },
};

const unitBytes: Readonly<Record<string, number>> = { "": 1, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30, tb: 2 ** 40 };

/** A size in bytes: a whole number, or text such as "64MB" (1 MB = 2^20 bytes). At least 1 KB. */
export const bytes: Kind<number> = {
  allowed: "a size of at least 1KB, for example 64MB",
  read(value) {
    const match = /^(\d{1,15})\s*([kmgt]?)i?(b?)$/i.exec(String(value));
    const unit = match ? (match[2] ? `${match[2]}b` : "").toLowerCase() : "";
    const size = match ? Number(match[1]) * unitBytes[unit]! : 0;
    if (size < 1024 || !Number.isSafeInteger(size)) throw new Misfit();
    return size;
  },
};

/** A share of the disk ("5%") or a size; 0 turns it off. */
export const diskShare: Kind<string> = {
  allowed: "a share of the disk such as 5%, a size such as 10GB, or 0",
  read(value) {
    const share = /^(\d{1,2}(?:\.\d{1,3})?)%$/.exec(String(value));
    if (share || value === 0 || value === "0") return String(value);
    return String(bytes.read(value));
  },
};

/** Browser origins: scheme://host[:port], a list in the file, commas between them elsewhere. */
export const origins: Kind<readonly string[]> = {
  allowed: "browser origins such as https://app.example.com, with commas between them",
  read(value) {
    const list = Array.isArray(value)
      ? value
      : typeof value === "string"
        ? value.split(",").filter((v) => v !== "")
        : null;
    if (list === null) throw new Misfit();
    return list.map((item: unknown) => {
      const trimmed = typeof item === "string" ? item.trim() : "";
      if (!URL.canParse(trimmed) || new URL(trimmed).origin !== trimmed.replace(/\/$/, "").toLowerCase())
        throw new Misfit();
      return new URL(trimmed).origin;
    });
  },
};

/** Turns a Misfit into a sentence that names the option, its source and what is allowed. */
export function readValue<T>(kind: Kind<T>, value: unknown, name: string): T {
  try {
    return kind.read(value);
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    const shown = JSON.stringify(value) ?? String(value);
    throw new OperatorError(
      `${name} must be ${kind.allowed}; it is ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}.`,
    );
  }
}
