import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { hexKey, int64Key, makeJsonPage, makePage, textKey } from "../http/paging.ts";
import { NotFoundProblem } from "../http/problem.ts";
import { timeRange } from "../http/rules.ts";
import { pageOf, pageParameters, timestamp } from "../http/schemas.ts";
import { unixNano } from "../http/timestamp.ts";
import { exampleSession, exampleSessionTrace, exampleStats } from "./examples.ts";
import { readPlaces, readSession, readSessions } from "./read-sessions.ts";
import { readSessionStats } from "./read-stats.ts";
import { readSessionTraces } from "./read-traces.ts";
import { Session, SessionStats, SessionTrace } from "./session-schema.ts";
import type { SessionWindow } from "./window.ts";

const tag = "Sessions";
const dayNs = 86_400_000_000_000n;
const onlyPage = { has_more: false, next_cursor: null, prev_cursor: null };

/**
 * Adds `GET /api/v1/sessions`, `/sessions/stats`, `/sessions/{sessionId}` and `/sessions/{sessionId}/traces`. `now` gives
 * Unix milliseconds.
 */
export function sessionRoutes(app: FastifyInstance, reader: TelemetryReader, now: () => number = Date.now): void {
  defineRoute(app, {
    method: "GET",
    path: "/sessions",
    tag,
    summary: "List sessions",
    description:
      "Ordered by last activity, the latest first, then by id. A session is listed with any activity in the time range, " +
      "and its figures are those of the whole session.",
    query: {
      userId: Type.Optional(Type.String({ description: "A user who was named in the session" })),
      isActive: Type.Optional(Type.Boolean({ description: "Whether its last activity is less than 30 minutes ago" })),
      startTime: Type.Optional(timestamp("Inclusive")),
      endTime: Type.Optional(timestamp("Exclusive")),
      ...pageParameters(1000, 100),
    },
    rules: [timeRange("startTime", "endTime")],
    cursorKeys: [int64Key, textKey],
    response: pageOf(Session),
    example: { items: [exampleSession], ...onlyPage },
    async handler({ query, page, access, signal }) {
      const { workspace } = access;
      const at = now();
      const filter = { workspace, userId: query.userId, isActive: query.isActive, window: windowOf(query) };
      const places = await readPlaces(reader, filter, page, at, signal);
      const shown = places.slice(0, page.limit).map(({ hash }) => hash);
      const sessions = await readSessions(reader, workspace, shown, at, signal);
      const { items, ...rest } = makePage(page, places, ({ last, session_id }) => [last, session_id]);
      // One whose day is dropped at this moment is gone between the two reads.
      return { items: items.flatMap(({ session_id }) => sessions.get(session_id) ?? []), ...rest };
    },
  });

  defineRoute(app, {
    method: "GET",
    path: "/sessions/stats",
    tag,
    summary: "Read statistics of sessions",
    description:
      "Of the sessions with any activity in the last 24 hours, or in the time range asked for; their figures are those " +
      "of the whole session.",
    query: {
      startTime: Type.Optional(timestamp("Inclusive; by default 24 hours before the end")),
      endTime: Type.Optional(timestamp("Exclusive; by default now")),
    },
    rules: [timeRange("startTime", "endTime")],
    response: SessionStats,
    example: exampleStats,
    handler({ query, access, signal }) {
      const at = now();
      const { start, end } = windowOf(query);
      // Without an end there is none: a clock may be a little ahead of this one.
      const from = start ?? later((end ?? BigInt(at) * 1_000_000n) - dayNs, -(2n ** 63n));
      return readSessionStats(reader, access.workspace, { start: from, end }, at, signal);
    },
  });

  defineRoute(app, {
    method: "GET",
    path: "/sessions/:sessionId",
    tag,
    summary: "Read a session",
    params: { sessionId: Type.String() },
    response: Session,
    errors: [404],
    example: exampleSession,
    async handler({ params, access, signal }) {
      const session = await readSession(reader, access.workspace, params.sessionId, now(), signal);
      if (!session) throw new NotFoundProblem("session", params.sessionId);
      return session;
    },
  });

  defineRoute(app, {
    method: "GET",
    path: "/sessions/:sessionId/traces",
    tag,
    summary: "List the traces of a session",
    description:
      "The traces that have a span of the session, each with all its spans, by start, the latest first. A page whose " +
      "traces have very many spans has fewer traces than `limit`.",
    params: { sessionId: Type.String() },
    query: pageParameters(1000, 100),
    cursorKeys: [int64Key, hexKey(32)],
    response: pageOf(SessionTrace),
    errors: [404],
    example: { items: [exampleSessionTrace], ...onlyPage },
    async handler({ params, page, access, signal }) {
      const traces = await readSessionTraces(reader, access.workspace, params.sessionId, page, signal);
      if (!traces) throw new NotFoundProblem("session", params.sessionId);
      return makeJsonPage(traces.page, traces.rows);
    },
  });
}

function windowOf({ startTime, endTime }: { startTime?: string; endTime?: string }): SessionWindow {
  return {
    start: startTime === undefined ? undefined : unixNano(startTime),
    end: endTime === undefined ? undefined : unixNano(endTime),
  };
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
