import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TObject, TProperties, TSchema } from "typebox";
import type { Access } from "./access.ts";
import { cursorBinding, pageRequest, readCursor } from "./paging.ts";
import type { CursorKey, PageRequest } from "./paging.ts";
import { NotFoundProblem, ValidationProblem } from "./problem.ts";
import type { Violation } from "./problem.ts";
import { requestPath, uriReference } from "./request-path.ts";
import type { Rule } from "./rules.ts";
import { compileValidation } from "./validation.ts";

type Fields<P extends TProperties> = Static<TObject<P>>;
type FieldNames<Q extends TProperties, B extends TSchema> = keyof Q | (B extends TObject<infer P> ? keyof P : never);

/** What a handler is given; all of it is valid, and defaults are filled in. */
interface ApiRequest<P extends TProperties, Q extends TProperties, B extends TSchema> {
  readonly params: Fields<P>;
  readonly query: Fields<Q>;
  readonly body: Static<B>;
  /** The page asked for, where the route has a parameter `cursor`. */
  readonly page: "cursor" extends FieldNames<Q, B> ? PageRequest : undefined;
  readonly access: Access;
  /** The request's id, as X-Request-Id answers it. */
  readonly id: string;
  readonly log: FastifyBaseLogger;
  /** Aborts when the client goes away before the answer: pass it to the store. */
  readonly signal: AbortSignal;
}

/** A route: one declaration for routing, validation and the OpenAPI document. */
export interface Route<P extends TProperties, Q extends TProperties, B extends TSchema, R extends TSchema> {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Below /api/v1, with parameters as `:traceId`: `/traces/:traceId/spans`. */
  readonly path: string;
  /** A second prefix under which the route answers: `/v1`, or `/` for the root. */
  readonly alsoUnder?: "/v1" | "/";
  /** A few words for the table of contents. */
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  /** The heading under which the document lists the route. */
  readonly tag: string;
  readonly params?: P;
  /** A property with a `default` may be left out by the client and is always there for the handler. */
  readonly query?: Q;
  /** Objects in it must be closed (schemas.ts), or records. */
  readonly body?: B;
  readonly rules?: readonly Rule<Fields<P>, Fields<Q>, Static<B>>[];
  /** What the sort keys in the route's cursors look like, in order. Needed with a parameter `cursor`. */
  readonly cursorKeys?: readonly CursorKey[];
  readonly response: R;
  readonly bodyExample?: unknown;
  readonly example?: unknown;
  /** Statuses other than 400, 403, 500 and 503, which are documented by themselves. */
  readonly errors?: readonly number[];
  /** Returns the answer, or its JSON as bytes; throws Problem. */
  handler(request: ApiRequest<P, Q, B>, reply: FastifyReply): Answer<R> | Promise<Answer<R>>;
}

type Answer<R extends TSchema> = Static<R> | Buffer;

/** What the OpenAPI document needs of a route. */
export interface DocumentedRoute extends Pick<
  Route<TProperties, TProperties, TSchema, TSchema>,
  | "method"
  | "path"
  | "summary"
  | "description"
  | "tag"
  | "params"
  | "query"
  | "body"
  | "response"
  | "bodyExample"
  | "example"
  | "errors"
> {
  /** With its prefix. */
  readonly fullPath: string;
}

declare module "fastify" {
  interface FastifyInstance {
    /** Every route declared by `defineRoute`. */
    readonly documentedRoutes: DocumentedRoute[];
  }
}

/** Adds a route to an app that `createApi` made. */
export function defineRoute<
  P extends TProperties = Record<never, never>,
  Q extends TProperties = Record<never, never>,
  B extends TSchema = TSchema,
  R extends TSchema = TSchema,
>(app: FastifyInstance, route: Route<P, Q, B, R>): void {
  const { cursorKeys = [] } = route;
  const named = [...route.path.matchAll(/:([A-Za-z0-9_]+)/g)].map((match) => match[1]!);
  if (
    named.toSorted().join() !==
    Object.keys(route.params ?? {})
      .toSorted()
      .join()
  ) {
    throw new TypeError(`The parameters of ${route.method} ${route.path} are not those that its schema declares.`);
  }
  const paged = pagedPart(route);
  if ((paged !== undefined) !== cursorKeys.length > 0) {
    throw new TypeError(`${route.method} ${route.path} needs both a parameter cursor and cursorKeys, or neither.`);
  }
  const validate = compileValidation({ ...route, rules: route.rules as readonly Rule[] | undefined });

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    // The router lets a parameter be empty; there is nothing of that name.
    if (Object.values(request.params as Record<string, string>).includes("")) {
      throw new NotFoundProblem("route", uriReference(requestPath(request.raw.url ?? "/")));
    }
    const { valid, invalid, violations } = validate(request);
    const found: Violation[] = [...violations];
    let page: PageRequest | undefined;
    if (paged) {
      const { params, query, body } = valid;
      const { cursor: text, limit } = (paged === "query" ? query : (body ?? {})) as { cursor?: string; limit?: number };
      const name = `${request.access.workspace} ${route.method} ${route.path}`;
      const filters = { ...params, ...query, ...(body as object | undefined), cursor: undefined, limit: undefined };
      // While a filter is wrong there is nothing to compare the cursor's binding with.
      const isKnown = [...invalid].every((field) => field === "limit");
      const binding = cursorBinding(name, filters);
      const cursor = readCursor(text, isKnown ? binding : undefined, cursorKeys);
      if (cursor === null) {
        found.push({
          field: "cursor",
          code: "cursor.invalid",
          message: "Is not a cursor of this list with these filters and this order.",
        });
      } else {
        page = pageRequest(cursor, limit as number, binding);
      }
    }
    if (found.length > 0) throw new ValidationProblem(found);

    const answer = await route.handler(
      {
        params: valid.params as Fields<P>,
        query: valid.query as Fields<Q>,
        body: valid.body as Static<B>,
        page: page as ApiRequest<P, Q, B>["page"],
        access: request.access,
        id: request.id,
        log: request.log,
        get signal() {
          return abortSignal(reply);
        },
      },
      reply,
    );
    if (Buffer.isBuffer(answer)) reply.type("application/json; charset=utf-8");
    return answer;
  }

  for (const prefix of ["/api/v1", ...(route.alsoUnder ? [route.alsoUnder] : [])]) {
    const fullPath = `${prefix === "/" ? "" : prefix}${route.path}`;
    app.route({ method: route.method, url: fullPath, handler: handle });
    app.documentedRoutes.push({ ...route, fullPath });
  }
}

/** The part of the request that holds `cursor`, if any does. */
function pagedPart({ query, body }: { query?: TProperties; body?: TSchema }): "query" | "body" | undefined {
  if (query && "cursor" in query) return "query";
  const properties = body && "properties" in body ? (body.properties as TProperties) : {};
  return "cursor" in properties ? "body" : undefined;
}

function abortSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  // Closed before the answer was handed over: the client is gone. (The request's own "close" also comes when its
  // body has been read.)
  reply.raw.once("close", () => {
    if (!reply.raw.writableEnded) controller.abort();
  });
  return controller.signal;
}
