import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { Static } from "typebox";
import type { TelemetryReader } from "../../telemetry/contract.ts";
import { defineRoute } from "../http/define-route.ts";
import { ValidationProblem } from "../http/problem.ts";
import type { Violation } from "../http/problem.ts";
import type { Rule } from "../http/rules.ts";
import { closed, int64, nullable } from "../http/schemas.ts";
import { countBuckets, logFunctions, readAggregate, timeBuckets } from "./aggregate.ts";
import { recordFields } from "./record-field.ts";
import { refusingPatterns } from "./refused-pattern.ts";
import { searchFields, searchFilter, searchRules } from "./search-filter.ts";
import { windowOf } from "./window.ts";
import type { Window } from "./window.ts";

const defaultTopN = 10;
const maxResults = 20_000;

const field = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description }));

const Aggregation = closed({
  function: Type.Enum([...logFunctions], { default: "count" }),
  field: field(
    "What to compute with, as group_by; needed by all functions but count, which then counts the records that have it",
  ),
  group_by: field(`An attribute of the record or of its resource, or one of ${recordFields.join(", ")}`),
  top_n: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: `How many groups are answered, those with the greatest values over the whole window; ${defaultTopN} unless said`,
    }),
  ),
  time_bucket: Type.Optional(Type.Enum([...timeBuckets])),
});

const body = closed({
  query: Type.Optional(closed(searchFields)),
  aggregation: Aggregation,
});
type Body = Static<typeof body>;

/** Adds `POST /api/v1/logs/aggregate`. */
export function aggregateRoute(app: FastifyInstance, reader: TelemetryReader, now: () => number): void {
  const windowIn = (query: NonNullable<Body["query"]>) => windowOf(query.time_start, query.time_end, now());
  // A query that is missing here may be a wrong one, whose window is not known: the handler looks at that of none.
  const boundedResults = ({ body: { query, aggregation } }: { body: Partial<Body> }) =>
    query && aggregation && tooManyResults(aggregation, windowIn(query));

  defineRoute(app, {
    method: "POST",
    path: "/logs/aggregate",
    tag: "Logs",
    summary: "Compute over log records, by group and time",
    description:
      "`query` selects records as POST /logs/search does; without times, those of the last 24 hours. Sums, averages, " +
      "extremes and percentiles (exact, interpolated) are of values that read as numbers. Buckets are aligned in UTC, " +
      "weeks to Monday; one without records is left out. A `key` of null is the group of records that have no such value.",
    body,
    rules: [inQuery, needsField, boundedResults],
    response: Type.Object({
      results: Type.Array(
        Type.Object({
          key: nullable(Type.String({ description: "The group, cut at 1000 characters" })),
          value: nullable(Type.Number({ description: "Null where no record has a number to compute with" })),
          count: int64("Records in the group and bucket, with or without a value"),
          timestamp: Type.Optional(Type.String({ format: "date-time", description: "Where the bucket begins" })),
        }),
        { description: "By time, where there are buckets; then by value over the whole window, the greatest first" },
      ),
      total_count: int64("All records that were selected, in whatever group"),
    }),
    bodyExample: {
      query: { service_name: "checkout", severity_min: 17 },
      aggregation: { function: "p95", field: "duration_ms", group_by: "http.route", time_bucket: "1h", top_n: 5 },
    },
    example: {
      results: [{ key: "/cart/checkout", value: 812.4, count: 96, timestamp: "2026-01-26T09:00:00.000Z" }],
      total_count: 96,
    },
    async handler({ body: { query = {}, aggregation }, access, signal }) {
      const window = windowIn(query);
      const excess = tooManyResults(aggregation, window);
      if (excess) throw new ValidationProblem([excess]);
      const filter = { ...searchFilter(access.workspace, query), ...window };
      const { group_by: groupBy, time_bucket: timeBucket, top_n: topN = defaultTopN } = aggregation;
      const { function: compute, field: of } = aggregation;
      const read = { function: compute, field: of, groupBy, timeBucket, topN };
      return refusingPatterns("query.attribute_filters", () => readAggregate(reader, filter, read, signal));
    },
  });
}

function tooManyResults({ time_bucket, group_by, top_n = defaultTopN }: Body["aggregation"], { start, end }: Window) {
  if (time_bucket === undefined) return undefined;
  const results = countBuckets(time_bucket, start, end) * (group_by === undefined ? 1 : top_n);
  if (results <= maxResults) return undefined;
  const message =
    `Makes up to ${results} results of this window, and at most ${maxResults} are answered: ` +
    "take a longer bucket, a shorter window or fewer groups.";
  return { field: "aggregation.time_bucket", code: "maximum" as const, message, rejected_value: time_bucket };
}

/** What holds for a search's fields holds for these. */
const inQuery: Rule = ({ params, body: { query } }) => {
  const fields = query as Readonly<Record<string, unknown>> | undefined;
  const found = searchRules.flatMap((rule) => rule({ params, query: {}, body: fields ?? {} }) ?? []);
  return found.map((violation) => ({ ...violation, field: `query.${violation.field}` }));
};

function needsField({ body: { aggregation } }: { body: Partial<Body> }): Violation | undefined {
  if (!aggregation || aggregation.function === "count" || aggregation.field !== undefined) return undefined;
  return { field: "aggregation.field", code: "required", message: `Is required by ${aggregation.function}.` };
}
