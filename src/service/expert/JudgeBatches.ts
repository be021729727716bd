/**
 * Sends requests to a language model as batches, and waits for the answers.
 *
 * Guarantees: each step of a batch is on disk before it is taken, and its answer before the next step. A process that is
 * killed continues its batches at the next start. If the answer to the creation of a batch is lost, the batch is in
 * doubt: it is searched by the name in its metadata, and its requests are not sent again, unless an operator says so.
 * Answers are recorded in one transaction. Requests without an answer fail, so that the caller can ask again.
 * Does not: delete files at the endpoint; share the batches of a model between processes (a lock prevents that).
 */
import { Cause, Clock, Deferred, Duration, Effect, FiberSet, Option, Queue, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { Headers, type HttpClient } from "effect/http"
import type { SqlError } from "effect/sql/SqlError"
import { count } from "../../io/Values.ts"
import * as FileLock from "../../node/FileLock.ts"
import * as Sha256 from "../../node/Sha256.ts"
import * as BatchClient from "./BatchClient.ts"
import * as BatchSteps from "./BatchSteps.ts"
import type { Answer, JudgeAnswers, KeptAnswer } from "./JudgeAnswers.ts"
import * as JudgeFailure from "./JudgeFailure.ts"
import { JudgeFailed, type RequestContext } from "./JudgeFailure.ts"
import * as JudgeHttp from "./JudgeHttp.ts"

/** How requests are gathered in batches. */
export interface BatchOptions {
  /** How long a batch waits for further requests after its last one. Default 10 seconds. */
  readonly linger?: Duration.Input | undefined
  /** How often the state of a batch is polled. Default 1 minute. */
  readonly pollInterval?: Duration.Input | undefined
  /** The maximum number of requests in a batch. Default 50,000. */
  readonly maxRequests?: number | undefined
  /**
   * Decides at the start about batches in doubt that the endpoint does not list. `wait`, the default, continues to
   * search them. `send-again` creates them again, so that they may be paid for twice.
   */
  readonly doubts?: "wait" | "send-again" | undefined
}

export const defaults = { linger: "10 seconds", pollInterval: "1 minute", maxRequests: 50_000 } as const

/** Endpoints accept files of 200 MB. A smaller file needs less memory. */
const maxBytes = 100_000_000
/** A batch does not wait longer than this for further requests. */
const maxGathering = Duration.minutes(5)
const nameBytes = 12

export interface JudgeBatches {
  /** Batches in doubt, and since when (epoch milliseconds). */
  readonly doubts: () => ReadonlyArray<{ readonly name: string; readonly since: number }>
  /** Asks as part of a batch. The same request is never in two batches at the same time. */
  readonly ask: (request: string, body: string) => Effect.Effect<Answer, JudgeFailed>
  /** Waits for the answer if the request is part of a batch. Undefined if it is not. */
  readonly pending: (request: string) => Effect.Effect<Answer, JudgeFailed> | undefined
}

export const make = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  context: RequestContext,
  answers: JudgeAnswers,
  options: BatchOptions,
): Effect.fn.Return<JudgeBatches, SqlError | FileLock.FileLockError, Scope.Scope> {
  const { sql } = answers
  const { baseUrl, model } = context
  yield* FileLock.acquire(`${answers.file}.${Sha256.hex(JSON.stringify([baseUrl, model])).slice(0, 12)}`)
  const { about, awaitEnd, create, doubts, download, persistently, search, upload } = BatchSteps.make(
    BatchClient.make(client, context),
    answers,
    { model, pollInterval: Duration.fromInputUnsafe(options.pollInterval ?? defaults.pollInterval) },
  )
  const linger = Duration.fromInputUnsafe(options.linger ?? defaults.linger)
  const waiting = yield* Queue.unbounded<{ readonly request: string; readonly body: string }>()
  const open = new Map<string, Deferred.Deferred<Answer, JudgeFailed>>()
  const running = yield* FiberSet.make()
  let maxRequests = options.maxRequests ?? defaults.maxRequests

  /** Ends a batch: records its answers, and resolves its requests. */
  const settle = Effect.fnUntraced(function* (
    name: string,
    results: ReadonlyMap<string, Effect.Effect<Answer, JudgeFailed>>,
    missing: JudgeFailed,
  ) {
    const requests = yield* persistently(
      sql<{ request: string }>`SELECT request FROM batch_request WHERE batch = ${name}`,
    )
    const exits = yield* Effect.forEach(requests, ({ request }) =>
      Effect.map(Effect.exit(results.get(request) ?? Effect.fail(missing)), (exit) => [request, exit] as const),
    )
    const answered = exits.flatMap(([request, exit]): ReadonlyArray<KeptAnswer> =>
      exit._tag === "Success" ? [[request, exit.value]] : [],
    )
    yield* persistently(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* answers.keep(baseUrl, model, answered)
          yield* sql`DELETE FROM batch_request WHERE batch = ${name}`
          yield* sql`DELETE FROM batch WHERE name = ${name}`
        }),
      ),
    )
    if (answered.length < exits.length) {
      yield* Effect.logWarning(
        `${about(name)} ended with ${count(answered.length, "answer")} to ${count(exits.length, "request")}; the other requests are sent again, unless the model refused them`,
      )
    }
    for (const [request, exit] of exits) {
      const deferred = open.get(request)
      open.delete(request)
      if (deferred !== undefined) yield* Deferred.done(deferred, exit)
    }
  })

  const halve = () => {
    maxRequests = Math.max(1, Math.ceil(maxRequests / 2))
  }

  const collect = Effect.fnUntraced(function* (name: string, batch: BatchClient.Batch) {
    const lines = yield* download(name, batch)
    const hasAnswered = lines.some(({ response }) => response?.status_code === 200)
    const resultOf = ({ error, response }: BatchClient.BatchLine) =>
      response === null || response === undefined
        ? Effect.fail(failed("Moment", error?.code ?? error?.message ?? "no reason given"))
        : answerOf(response.status_code, JSON.stringify(response.body), hasAnswered)
    const failed = (fault: JudgeFailed["fault"], why: string) =>
      new JudgeFailed({ fault, problem: `${baseUrl} did not process a request in a batch: ${why}` })
    const [error] = batch.errors?.data ?? []
    const isTooLarge = error?.code === "token_limit_exceeded"
    if (isTooLarge) halve()
    yield* settle(
      name,
      new Map(lines.map((line) => [line.custom_id, resultOf(line)])),
      failed(
        batch.status === "failed" && !isTooLarge ? "Endpoint" : "Moment",
        error === undefined ? `the batch is ${batch.status}` : `${error.code}: ${error.message}`,
      ),
    )
  })

  const answerOf = Effect.fnUntraced(function* (status: number, text: string, hasAnswered: boolean) {
    if (JudgeHttp.isOk({ status })) return yield* JudgeHttp.completionOf(text, context, true)
    return yield* yield* JudgeFailure.fromStatus({ status, headers: Headers.empty, text }, context, hasAnswered)
  })

  const run = Effect.fnUntraced(function* ({ asked_at, id, input_file, name }: BatchSteps.BatchRow) {
    const isInDoubt = id === null && asked_at !== null
    const existing = isInDoubt ? yield* search(name, options.doubts === "send-again") : Option.fromNullishOr(id)
    const creation = Option.match(existing, {
      onSome: Effect.succeed,
      onNone: () =>
        Effect.flatMap(input_file === null ? upload(name) : Effect.succeed(input_file), (file) => create(name, file)),
    })
    const created = yield* Effect.result(creation)
    if (created._tag === "Success") return yield* collect(name, yield* awaitEnd(name, created.success))
    const { fault, problem } = created.failure
    // The endpoint cannot object to a single question before it has read the file, so the file is too large.
    if (fault === "Question") halve()
    yield* settle(
      name,
      new Map(),
      fault === "Question" ? new JudgeFailed({ fault: "Moment", problem }) : created.failure,
    )
  })

  const begin = (row: BatchSteps.BatchRow) =>
    FiberSet.run(
      running,
      Effect.tapCause(run(row), (cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError(`${about(row.name)} failed`, cause),
      ),
    )

  /** Takes requests until none comes for a while, or until the batch is full. */
  const gather = Effect.gen(function* () {
    const first = yield* Queue.take(waiting)
    const batch = [first]
    let bytes = first.body.length
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(maxGathering)
    while (batch.length < maxRequests && bytes < maxBytes && (yield* Clock.currentTimeMillis) < until) {
      const next = yield* Effect.timeoutOption(Queue.take(waiting), linger)
      if (Option.isNone(next)) break
      batch.push(next.value)
      bytes += next.value.body.length
    }
    const name = Hex.encode(yield* (yield* SecureRandom.SecureRandom).randomBytes(nameBytes))
    const row: BatchSteps.BatchRow = { name, input_file: null, asked_at: null, id: null }
    const rows = JSON.stringify(batch.map(({ body, request }) => [request, body]))
    yield* persistently(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO batch ${sql.insert({ ...row, endpoint: baseUrl, model })}`
          yield* sql`INSERT INTO batch_request SELECT ${name}, value ->> 0, value ->> 1 FROM json_each(${rows})`
        }),
      ),
    )
    yield* begin(row)
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto))

  const earlier = yield* sql<BatchSteps.BatchRow>`SELECT name, input_file, asked_at, id FROM batch
    WHERE endpoint = ${baseUrl} AND model = ${model} ORDER BY rowid`
  for (const { request } of yield* sql<{ request: string }>`SELECT request FROM batch_request
    JOIN batch ON batch.name = batch_request.batch WHERE endpoint = ${baseUrl} AND model = ${model}`) {
    open.set(request, yield* Deferred.make<Answer, JudgeFailed>())
  }
  yield* Effect.forEach(earlier, begin)
  yield* Effect.forkScoped(Effect.forever(gather))

  const pending = (request: string) => {
    const deferred = open.get(request)
    return deferred && Deferred.await(deferred)
  }

  return {
    doubts: () => [...doubts].map(([name, since]) => ({ name, since })),
    pending,
    ask: (request, body) =>
      Effect.suspend(() => {
        const deferred = open.get(request) ?? Deferred.makeUnsafe<Answer, JudgeFailed>()
        if (open.has(request)) return Deferred.await(deferred)
        open.set(request, deferred)
        return Effect.andThen(Queue.offer(waiting, { request, body }), Deferred.await(deferred))
      }),
  }
})

/** Whether batches of the model at the endpoint have no recorded results. */
export const exist = ({ sql }: JudgeAnswers, { baseUrl, model }: RequestContext) =>
  Effect.map(
    sql`SELECT 1 FROM batch WHERE endpoint = ${baseUrl} AND model = ${model} LIMIT 1`,
    (rows) => rows.length > 0,
  )
