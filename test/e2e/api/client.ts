import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** What `errors[]` of a 400 holds. */
export interface Violation {
  readonly field: string;
  readonly message: string;
  readonly code: string;
  readonly rejected_value?: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Send {
  readonly query?: Query | string;
  /** Sent as JSON, or as it is where it is text or bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Client {
  /** Any request; nothing is asserted. */
  send(method: string, path: string, send?: Send): Promise<Answer>;
  /** A request that must succeed with JSON. */
  ask<T>(method: string, path: string, send?: Send): Promise<T>;
  /** GET that must succeed. */
  read<T>(path: string, query?: Query): Promise<T>;
  /** A request that must be refused with 400: what its `errors` hold, as `code field`, sorted. */
  refusals(method: string, path: string, send?: Send): Promise<string[]>;
}

/** Speaks HTTP to the product at `url`. */
export function createClient(url: string): Client {
  async function send(method: string, path: string, { query, body, headers = {} }: Send = {}): Promise<Answer> {
    const search = typeof query === "string" ? query : new URLSearchParams(present(query)).toString();
    const isRaw = typeof body === "string" || Buffer.isBuffer(body);
    const bytes = body === undefined ? undefined : Buffer.from(isRaw ? body : JSON.stringify(body));
    const { hostname, port } = new URL(url);
    const sent = request({
      hostname,
      port,
      method,
      path: path + (search === "" ? "" : `?${search}`),
      headers: {
        ...(bytes && { "content-type": "application/json", "content-length": bytes.length }),
        ...headers,
      },
    });
    sent.end(bytes);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return { status: answer.statusCode!, headers: answer.headers, text: await readText(answer) };
  }

  async function ask<T>(method: string, path: string, options?: Send): Promise<T> {
    const answer = await send(method, path, options);
    assert.equal(answer.status, 200, `${method} ${path} ${JSON.stringify(options ?? {})}: ${answer.text}`);
    assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
    return exactJson(answer.text) as T;
  }

  return {
    send,
    ask,
    read: (path, query) => ask("GET", path, { query }),
    async refusals(method, path, options) {
      const answer = await send(method, path, options);
      assert.equal(answer.status, 400, `${method} ${path} ${JSON.stringify(options ?? {})}: ${answer.text}`);
      return violationsOf(answer)
        .map(({ code, field }) => `${code} ${field}`)
        .toSorted();
    },
  };
}

/** The problem that `answer` holds, with every member that problems have by the specification asserted. */
export function problemOf(answer: Answer, path: string): Readonly<Record<string, unknown>> {
  assert.match(answer.headers["content-type"] ?? "", /^application\/problem\+json/);
  const problem = JSON.parse(answer.text) as Record<string, unknown>;
  const titles: Readonly<Record<number, string>> = {
    400: "Validation Failed",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Payload Too Large",
    415: "Unsupported Media Type",
  };
  assert.equal(problem["type"], "about:blank");
  assert.equal(problem["title"], titles[answer.status]);
  assert.equal(problem["status"], answer.status);
  assert.equal(typeof problem["detail"], "string");
  assert.equal(problem["instance"], path);
  assert.ok(Math.abs(Date.parse(String(problem["timestamp"])) - Date.now()) < 60_000, String(problem["timestamp"]));
  return problem;
}

/** The violations that a 400 lists, each of them checked for the members that it must have. */
export function violationsOf(answer: Answer): Violation[] {
  assert.match(answer.headers["content-type"] ?? "", /^application\/problem\+json/);
  const { title, errors } = JSON.parse(answer.text) as { title: string; errors: Violation[] };
  assert.equal(title, "Validation Failed");
  assert.ok(Array.isArray(errors) && errors.length > 0, answer.text);
  for (const { field, message, code, rejected_value: rejected } of errors) {
    assert.deepEqual([typeof field, typeof message, typeof code], ["string", "string", "string"], answer.text);
    assert.ok(rejected === undefined || typeof rejected === "string", answer.text);
  }
  return errors;
}

/** JSON in which an integer that a double cannot hold is read as a bigint, all digits kept. */
export function exactJson(text: string): unknown {
  const revive = (_: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context!.source!)
      : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/**
 * Pages forward from the first page to the last and back again; every page must be the same in both directions, and the
 * wrapper must say what the specification says of first, inner and last pages. Resolves to all items in order.
 */
export async function walk<T>(page: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const pages: Page<T>[] = [];
  for (let cursor: string | null | undefined = undefined; cursor !== null;) {
    const next: Page<T> = await page(cursor);
    assert.deepEqual(Object.keys(next).toSorted(), ["has_more", "items", "next_cursor", "prev_cursor"]);
    assert.equal(next.has_more, next.next_cursor !== null);
    assert.equal(next.prev_cursor === null, pages.length === 0, "prev_cursor is null on the first page alone");
    pages.push(next);
    assert.ok(pages.length < 500, "paging does not end");
    cursor = next.next_cursor;
    if (cursor !== null) assert.match(cursor, /^[A-Za-z0-9_-]+$/);
  }
  let at = pages.length - 1;
  for (let cursor = pages[at]!.prev_cursor; cursor !== null; at--) {
    const back: Page<T> = await page(cursor);
    assert.deepEqual(back.items, pages[at - 1]!.items);
    assert.equal(back.has_more, true);
    cursor = back.prev_cursor;
  }
  assert.equal(at, 0, "paging backward ends at the first page");
  return pages.flatMap(({ items }) => items);
}

function present(query: Query = {}): Record<string, string> {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}
