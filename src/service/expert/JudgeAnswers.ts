/**
 * The file of language models' answers. The id of an answer is the SHA-256 of its request: the canonical JSON of model,
 * messages, and sampling. An answer and its cost are on disk before the vote is stored. Unusable answers and refusals
 * are kept, so that their requests are not paid for again. A model must have the same name at all endpoints that share
 * a file. This module does not lock the file.
 */
import { Clock, Effect, Option, Predicate, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Cost from "../../domain/Cost.ts"
import * as JudgeUsage from "../../domain/JudgeUsage.ts"
import * as TokenPrice from "../../domain/TokenPrice.ts"
import { causeMessage } from "../../io/Values.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as SqliteClient from "../../node/SqliteClient.ts"
import * as Migrations from "../../sql/Migrations.ts"
import { JudgeError } from "./Expert.ts"

export interface Answer extends TokenPrice.RequestTokens {
  readonly text: string
  readonly model: string | undefined
  /** The reason why the answer gives no verdict: the model declines, or its answer cannot be read. */
  readonly refusal?: string | undefined
}

export type KeptAnswer = readonly [request: string, answer: Answer]

/** The judge answer file cannot be used. */
export class JudgeAnswersError extends Schema.TaggedError<JudgeAnswersError>()("JudgeAnswersError", {
  /** The path of the file. */
  file: Schema.String,
  /** The error of the database. */
  cause: Schema.Defect(),
}) {
  override get message() {
    return `cannot use ${this.file} as the judge answer file: ${causeMessage(this.cause)}`
  }
}

export const stored = <A>(effect: Effect.Effect<A, SqlError>) =>
  Effect.mapError(
    effect,
    ({ message }) => new JudgeError({ problem: `cannot use the judge answer file: ${message}`, isRetryable: true }),
  )

export const fileName = "judge-answers.db"

const markerKeyBytes = 16

export const idOf = (request: object): string =>
  Sha256.hex(
    JSON.stringify(request, (_, value: unknown) =>
      Predicate.isObject(value) && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  )

export const drawMarkerKey = Effect.gen(function* () {
  return Hex.encode(yield* (yield* SecureRandom.SecureRandom).randomBytes(markerKeyBytes))
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))

const migrations = {
  what: "the judge answer file",
  table: "prefstream_judge_migration",
  migrations: {
    "0001_tables": Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // `counted_for` is the item whose vote includes the cost of the answer. Null: no judgment has used the answer.
      // Empty string: the judgment failed. The model's next vote, on any item, will include the cost.
      yield* sql`CREATE TABLE answer (
        request TEXT PRIMARY KEY,
        endpoint TEXT NOT NULL,
        model TEXT NOT NULL,
        answered_by TEXT,
        text TEXT NOT NULL,
        refusal TEXT,
        prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL,
        batched INTEGER NOT NULL,
        answered_at INTEGER NOT NULL,
        counted_for TEXT
      )`
      yield* sql`CREATE INDEX answer_counted_for ON answer (counted_for) WHERE counted_for IS NOT NULL`
      // Sums of all paid requests, by model. `cost` is an exact decimal. It is null if no price is known.
      yield* sql`CREATE TABLE paid (
        model TEXT PRIMARY KEY,
        requests INTEGER NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL,
        cost TEXT
      )`
      // Batches whose results are not recorded yet. `name` is also in the batch's metadata at the endpoint. `asked_at`
      // is the time of the last request to create the batch. The response contains `id`. `gone_at` is the time when the
      // endpoint began to answer 404 or 410 for the batch. A batch is in doubt if it is unknown whether
      // it exists: if `gone_at` is set, or if `asked_at` is set and `id` is null.
      yield* sql`CREATE TABLE batch (
        name TEXT PRIMARY KEY,
        endpoint TEXT NOT NULL,
        model TEXT NOT NULL,
        input_file TEXT,
        asked_at INTEGER,
        id TEXT,
        gone_at INTEGER
      )`
      yield* sql`CREATE TABLE batch_request (batch TEXT, request TEXT, body TEXT NOT NULL, PRIMARY KEY (batch, request))`
      yield* sql`CREATE TABLE unreadable (request TEXT PRIMARY KEY, times INTEGER NOT NULL)`
      yield* sql`CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)`
      yield* sql`INSERT INTO setting VALUES ('marker_key', ${yield* drawMarkerKey})`
    }),
  },
}

interface Row {
  readonly text: string
  readonly answered_by: string | null
  readonly refusal: string | null
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly batched: number
}

const tokensOf = (row: Pick<Row, "prompt_tokens" | "completion_tokens" | "batched">): TokenPrice.RequestTokens => ({
  promptTokens: row.prompt_tokens,
  completionTokens: row.completion_tokens,
  batched: row.batched === 1,
})

const paidIn = (sql: SqlClient.SqlClient) => sql<JudgeUsage.PaidRequests>`SELECT * FROM paid ORDER BY model`

/** Opens the file, and creates it if it does not exist. An empty path makes a temporary file. */
export const open = Effect.fn("JudgeAnswers.open")(
  function* (file: string, prices: { readonly [model: string]: TokenPrice.TokenPrice } = {}) {
    const sql = yield* SqliteClient.make({ filename: file, busyTimeout: "30 seconds" })
    yield* Migrations.run(migrations).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    const [setting] = yield* sql<{ value: string }>`SELECT value FROM setting WHERE name = 'marker_key'`

    const find = (request: string) =>
      sql<Row>`SELECT text, answered_by, refusal, prompt_tokens, completion_tokens, batched FROM answer
        WHERE request = ${request}`.pipe(
        Effect.map(([row]) =>
          row === undefined
            ? Option.none<Answer>()
            : Option.some<Answer>({
                ...tokensOf(row),
                text: row.text,
                model: row.answered_by ?? undefined,
                ...(row.refusal !== null && { refusal: row.refusal }),
              }),
        ),
        stored,
      )

    const clean = (text: string) => text.replaceAll("\0", "\uFFFD").toWellFormed()
    /** @param unreadable the number of paid requests with unreadable answers, which are not in `answers` */
    const keep = Effect.fnUntraced(function* (
      endpoint: string,
      model: string,
      answers: ReadonlyArray<KeptAnswer>,
      unreadable = 0,
    ) {
      const rows = JSON.stringify(
        answers.map(([request, { batched, completionTokens, model, promptTokens, refusal, text }]) => [
          request,
          model ?? null,
          clean(text),
          refusal === undefined ? null : clean(refusal),
          promptTokens,
          completionTokens,
          batched ? 1 : 0,
        ]),
      )
      yield* sql`INSERT OR IGNORE INTO answer
        SELECT value ->> 0, ${endpoint}, ${model}, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
          value ->> 6, ${yield* Clock.currentTimeMillis}, NULL
        FROM json_each(${rows})`
      const [earlier] = yield* sql<{ cost: string | null }>`SELECT cost FROM paid WHERE model = ${model}`
      const costOf = Option.flatMap(Option.fromUndefinedOr(prices[model]), TokenPrice.reader)
      const cost = answers
        .map(([, answer]) => Option.getOrUndefined(Option.map(costOf, (costOf) => costOf(answer))))
        .reduce(JudgeUsage.plus, Option.getOrUndefined(Cost.parseExact(earlier?.cost ?? "")))
      const sum = (member: "promptTokens" | "completionTokens") =>
        answers.reduce((sum, [, answer]) => sum + answer[member], 0)
      yield* sql`INSERT INTO paid ${sql.insert({
        model,
        requests: answers.length + unreadable,
        prompt_tokens: sum("promptTokens"),
        completion_tokens: sum("completionTokens"),
        cost: cost === undefined ? null : Cost.format(Cost.shortest(cost)),
      })} ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
        prompt_tokens = prompt_tokens + excluded.prompt_tokens,
        completion_tokens = completion_tokens + excluded.completion_tokens, cost = excluded.cost`
    }, sql.withTransaction)

    /** Adds the cost of a request to the vote on `item`. Returns false if another vote already includes the cost. */
    const count = (request: string, item: string) =>
      Effect.map(
        sql`UPDATE answer SET counted_for = ${item}
          WHERE request = ${request} AND COALESCE(counted_for, '') IN ('', ${item}) RETURNING request`,
        (rows) => rows.length > 0,
      )
    /** Call this if a judgment fails permanently. Its cost will be part of the model's next vote, on any item. */
    const uncount = (item: string, requests: Iterable<string>) =>
      Effect.asVoid(sql`UPDATE answer SET counted_for = '' WHERE counted_for = ${item} OR (counted_for IS NULL
        AND request IN (SELECT value FROM json_each(${JSON.stringify([...requests])})))`)
    /** Adds the cost of failed judgments to the vote on `item`. Returns the tokens of these judgments' requests. */
    const countOthers = Effect.fnUntraced(function* (model: string, item: string, own: ReadonlyArray<string>) {
      yield* sql`UPDATE answer SET counted_for = ${item} WHERE counted_for = '' AND model = ${model}`
      const rows = yield* sql<Row>`SELECT prompt_tokens, completion_tokens, batched FROM answer
        WHERE counted_for = ${item} AND request NOT IN (SELECT value FROM json_each(${JSON.stringify(own)}))`
      return rows.map(tokensOf)
    })

    // Prompts contain secret markers, which are made from `markerKey`. The key is stored in the file. After a restart,
    // the prompts are therefore the same, and the stored answers are found.
    return { file, sql, markerKey: setting!.value, find, keep, count, uncount, countOthers, paid: paidIn(sql) }
  },
  Effect.provide(Reactivity.layer),
  (opened, file, _prices?) => Effect.mapError(opened, (cause) => new JudgeAnswersError({ file, cause })),
)

export type JudgeAnswers = Effect.Success<ReturnType<typeof open>>

export const readPaid = (file: string) =>
  SqliteClient.make({ filename: file, readonly: true }).pipe(
    Effect.flatMap(paidIn),
    Effect.orElseSucceed((): ReadonlyArray<JudgeUsage.PaidRequests> => []),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
  )
