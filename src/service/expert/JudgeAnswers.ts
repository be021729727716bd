/**
 * The file of language models' answers, by the content of the request: SHA-256 of its canonical JSON with model,
 * messages, and sampling.
 *
 * Guarantees: an answer is on disk before its vote is stored. Several processes may share the file. The address of the
 * endpoint is not part of the content, so a model must have the same name at all endpoints that share a file.
 * Does not: keep errors and refusals, or answers to a question of which all attempts were unusable.
 */
import { Clock, Effect, Option, Predicate, Schema, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { causeMessage } from "../../io/Values.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as SqliteClient from "../../node/SqliteClient.ts"
import * as Migrations from "../../sql/Migrations.ts"
import { JudgeError } from "./Expert.ts"

/** A language model's answer to one request. */
export interface Answer {
  /** The text of the answer. Empty if the answer has none. */
  readonly text: string
  /** The model's name in the answer. */
  readonly model: string | undefined
  readonly promptTokens: number
  readonly completionTokens: number
  /** Whether the request was part of a batch. */
  readonly batched: boolean
}

export type KeptAnswer = readonly [request: string, answer: Answer]

export interface JudgeAnswers {
  readonly file: string
  readonly sql: SqlClient.SqlClient
  /** A secret for the markers in prompts: nobody can predict them, but equal questions have equal markers. */
  readonly markerKey: string
  readonly find: (request: string) => Effect.Effect<Option.Option<Answer>, JudgeError>
  /** Keeps answers. @param endpoint the base URL that answered */
  readonly keep: (endpoint: string, model: string, answers: ReadonlyArray<KeptAnswer>) => Effect.Effect<void, SqlError>
  readonly forget: (requests: ReadonlyArray<string>) => Effect.Effect<void, SqlError>
}

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

export const fileName = "judge-answers.db"

const markerKeyBytes = 16

/** Returns the id of a request: members in any order give the same id. */
export const idOf = (request: object): string =>
  Sha256.hex(
    JSON.stringify(request, (_, value: unknown) =>
      Predicate.isObject(value) && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    ),
  )

/** Draws a key for markers. */
export const drawMarkerKey = Effect.gen(function* () {
  return Hex.encode(yield* (yield* SecureRandom.SecureRandom).randomBytes(markerKeyBytes))
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))

const migrations = {
  what: "the judge answer file",
  table: "prefstream_judge_migration",
  migrations: {
    "0001_tables": Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE answer (
        request TEXT PRIMARY KEY,
        endpoint TEXT NOT NULL,
        model TEXT NOT NULL,
        answered_by TEXT,
        text TEXT NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL,
        batched INTEGER NOT NULL,
        answered_at INTEGER NOT NULL
      )`
      // Batches without recorded results. name: in the metadata of the batch at the endpoint. input_file: null until the
      // file is uploaded. asked_at: when the request that creates the batch was last sent, or null. id: the endpoint's
      // id of the batch, or null. If asked_at is set and id is null, the batch is in doubt.
      yield* sql`CREATE TABLE batch (
        name TEXT PRIMARY KEY,
        endpoint TEXT NOT NULL,
        model TEXT NOT NULL,
        input_file TEXT,
        asked_at INTEGER,
        id TEXT
      )`
      yield* sql`CREATE TABLE batch_request (batch TEXT, request TEXT, body TEXT NOT NULL, PRIMARY KEY (batch, request))`
      yield* sql`CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)`
      yield* sql`INSERT INTO setting VALUES ('marker_key', ${yield* drawMarkerKey})`
    }),
  },
}

interface Row {
  readonly text: string
  readonly answered_by: string | null
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly batched: number
}

/** Opens the file, and creates it if it does not exist. */
export const open = Effect.fn("JudgeAnswers.open")(
  function* (file: string): Effect.fn.Return<JudgeAnswers, unknown, Scope.Scope | Reactivity.Reactivity> {
    const sql = yield* SqliteClient.make({ filename: file, busyTimeout: "30 seconds" })
    yield* Migrations.run(migrations).pipe(Effect.provideService(SqlClient.SqlClient, sql))
    const [setting] = yield* sql<{ value: string }>`SELECT value FROM setting WHERE name = 'marker_key'`

    const find = (request: string) =>
      sql<Row>`SELECT text, answered_by, prompt_tokens, completion_tokens, batched FROM answer
        WHERE request = ${request}`.pipe(
        Effect.map(([row]) =>
          row === undefined
            ? Option.none<Answer>()
            : Option.some<Answer>({
                text: row.text,
                model: row.answered_by ?? undefined,
                promptTokens: row.prompt_tokens,
                completionTokens: row.completion_tokens,
                batched: row.batched === 1,
              }),
        ),
        Effect.mapError(
          (cause) => new JudgeError({ problem: new JudgeAnswersError({ file, cause }).message, isRetryable: true }),
        ),
      )

    const keep = Effect.fnUntraced(function* (endpoint: string, model: string, answers: ReadonlyArray<KeptAnswer>) {
      const rows = answers.map(([request, { batched, completionTokens, model, promptTokens, text }]) => [
        request,
        model ?? null,
        text.replaceAll("\0", "\uFFFD").toWellFormed(),
        promptTokens,
        completionTokens,
        batched ? 1 : 0,
      ])
      yield* sql`INSERT OR IGNORE INTO answer
        SELECT value ->> 0, ${endpoint}, ${model}, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
          ${yield* Clock.currentTimeMillis}
        FROM json_each(${JSON.stringify(rows)})`
    })

    const forget = (requests: ReadonlyArray<string>) =>
      Effect.asVoid(sql`DELETE FROM answer WHERE ${sql.in("request", requests)}`)

    return { file, sql, markerKey: setting!.value, find, keep, forget }
  },
  Effect.provide(Reactivity.layer),
  (opened, file) => Effect.mapError(opened, (cause) => new JudgeAnswersError({ file, cause })),
)
