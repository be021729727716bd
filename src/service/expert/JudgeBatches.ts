/**
 * Sends requests to a language model as batches. Each batch is recorded before its upload, so a restart after a crash
 * continues the batch. If the endpoint does not respond to the creation of a batch, the batch may exist. Its requests
 * are sent again only with the option `send-again`. A request is not sent again after 3 unreadable results. Files at
 * the endpoint are not deleted.
 */
import { Cause, Clock, Deferred, Duration, Effect, FiberSet, Option, Queue, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import type { HttpClient } from "effect/http"
import type { Statement } from "effect/sql"
import { count } from "../../io/Values.ts"
import * as BatchClient from "./BatchClient.ts"
import * as BatchResults from "./BatchResults.ts"
import * as BatchSteps from "./BatchSteps.ts"
import type { Answer, JudgeAnswers, KeptAnswer } from "./JudgeAnswers.ts"
import { JudgeFailed, type RequestContext } from "./JudgeFailure.ts"

export interface BatchOptions {
  /** How long to wait for the next request before a batch is sent. Default 10 seconds. */
  readonly linger?: Duration.Input | undefined
  /** How often the state of a batch is polled. Default 1 minute. */
  readonly pollInterval?: Duration.Input | undefined
  /** The maximum number of requests in a batch. Default 50,000. */
  readonly maxRequests?: number | undefined
  /**
   * How a restart treats batches in doubt. `wait`, the default, polls until the endpoint has the batch.
   * `send-again` sends the requests again if the endpoint does not have the batch. They may then be paid for twice.
   */
  readonly doubts?: "wait" | "send-again" | undefined
}

export const defaults = { linger: "10 seconds", pollInterval: "1 minute", maxRequests: 50_000 } as const

/** In UTF-8, this number of UTF-16 code units takes at most 180 MB. Endpoints accept files of up to 200 MB. */
const maxCharacters = 60_000_000
const maxGathering = Duration.minutes(5)
const nameBytes = 12
const maxUnreadable = 3

export const make = Effect.fnUntraced(function* (
  client: HttpClient.HttpClient,
  context: RequestContext,
  answers: JudgeAnswers,
  options: BatchOptions,
) {
  const { sql } = answers
  const { baseUrl, model } = context
  const pollInterval = Duration.fromInputUnsafe(options.pollInterval ?? defaults.pollInterval)
  const { about, awaitEnd, create, doubts, download, persistently, search, upload } = BatchSteps.make(
    BatchClient.make(client, context),
    answers,
    { model, pollInterval },
  )
  const linger = Duration.fromInputUnsafe(options.linger ?? defaults.linger)
  const waiting = yield* Queue.unbounded<{ readonly request: string; readonly body: string }>()
  const open = new Map<string, Deferred.Deferred<Answer, JudgeFailed>>()
  const running = yield* FiberSet.make()
  let maxRequests = options.maxRequests ?? defaults.maxRequests

  const failed = (fault: JudgeFailed["fault"], why: string) => BatchResults.failed(context, fault, why)
  const requestsOf = (name: string) =>
    Effect.map(
      persistently(sql<{ request: string }>`SELECT request FROM batch_request WHERE batch = ${name}`),
      (rows) => rows.map(({ request }) => request),
    )

  const countUnreadable = Effect.fnUntraced(function* (requests: ReadonlyArray<string>) {
    const rows = yield* sql<{ request: string; times: number }>`INSERT INTO unreadable
      SELECT value, 1 FROM json_each(${JSON.stringify(requests)}) WHERE 1
      ON CONFLICT DO UPDATE SET times = times + 1 RETURNING request, times`
    return rows.flatMap(({ request, times }): ReadonlyArray<KeptAnswer> => {
      const refusal = `${baseUrl} gave ${times} unreadable answers`
      const answer = { text: "", model, refusal, promptTokens: 0, completionTokens: 0, batched: true }
      return times < maxUnreadable ? [] : [[request, answer]]
    })
  })

  const settle = Effect.fnUntraced(function* (
    name: string,
    results: ReadonlyMap<string, Result.Result<Answer, JudgeFailed>>,
    missing: JudgeFailed,
    hasUnreadable = false,
  ) {
    const requests = yield* requestsOf(name)
    const answered = requests.flatMap((request): ReadonlyArray<KeptAnswer> => {
      const result = results.get(request)
      return result?._tag === "Success" ? [[request, result.success]] : []
    })
    const unreadable = hasUnreadable ? requests.filter((request) => !results.has(request)) : []
    const unusable = yield* persistently(
      sql.withTransaction(
        Effect.gen(function* () {
          const unusable = yield* countUnreadable(unreadable)
          yield* answers.keep(baseUrl, model, [...answered, ...unusable], unreadable.length - unusable.length)
          yield* sql`DELETE FROM batch_request WHERE batch = ${name}`
          yield* sql`DELETE FROM batch WHERE name = ${name}`
          return unusable
        }),
      ),
    )
    if (answered.length < requests.length) {
      const words =
        unreadable.length === 0
          ? ""
          : `${count(unreadable.length, "result")} could not be read. A request is not sent again after ${maxUnreadable} unreadable results. `
      yield* Effect.logWarning(
        `${about(name)} ended with ${count(answered.length, "answer")} to ${count(requests.length, "request")}. ${words}Requests without an answer are sent again, unless the model refused them`,
      )
    }
    const storedAnswers = new Map<string, Answer>([...answered, ...unusable])
    for (const request of requests) {
      const deferred = open.get(request)
      open.delete(request)
      if (deferred === undefined) continue
      const answer = storedAnswers.get(request)
      if (answer !== undefined) yield* Deferred.succeed(deferred, answer)
      else
        yield* Deferred.fail(
          deferred,
          Option.getOrElse(failureOf(results.get(request)), () => missing),
        )
    }
  })

  const halve = () => {
    maxRequests = Math.max(1, Math.ceil(maxRequests / 2))
  }

  const collect = Effect.fnUntraced(function* (name: string, id: string, isGivenUp: boolean) {
    const ended = yield* awaitEnd(name, id, isGivenUp)
    if (Option.isNone(ended)) return yield* settle(name, new Map(), failed("Moment", "the batch is gone"))
    const batch = ended.value
    const { lines, unreadable } = yield* download(name, batch, isGivenUp)
    const results = yield* BatchResults.read(lines, context)
    const [error] = batch.errors?.data ?? []
    const isTooLarge = error?.code === "token_limit_exceeded"
    if (isTooLarge) halve()
    yield* settle(
      name,
      results.byRequest,
      failed(
        batch.status === "failed" && !isTooLarge ? "Endpoint" : "Moment",
        error === undefined ? `the batch is ${batch.status}` : `${error.code}: ${error.message}`,
      ),
      unreadable > 0 || results.hasUnreadable,
    )
  })

  const run = Effect.fnUntraced(function* (
    { asked_at, gone_at, id, input_file, name }: BatchSteps.BatchRow,
    sendsAgain: boolean,
  ) {
    const isInDoubt = id === null && asked_at !== null
    if (gone_at !== null) doubts.set(name, gone_at)
    const existing = isInDoubt ? yield* search(name, sendsAgain) : Option.fromNullishOr(id)
    const creation = Option.match(existing, {
      onSome: Effect.succeed,
      onNone: () =>
        Effect.flatMap(input_file === null ? upload(name) : Effect.succeed(input_file), (file) => create(name, file)),
    })
    const created = yield* Effect.result(creation)
    if (created._tag === "Success") return yield* collect(name, created.success, sendsAgain && gone_at !== null)
    const { fault, problem } = created.failure
    // The fault is `Question` if the endpoint finds the batch too large. Later batches get half as many requests.
    if (fault === "Question") halve()
    yield* settle(
      name,
      new Map(),
      fault === "Question" ? new JudgeFailed({ fault: "Moment", problem }) : created.failure,
    )
  })

  /** Reports a failure to the callers. The requests stay in the batch, so that they are not sent again. */
  const release = Effect.fnUntraced(function* (name: string) {
    const failure = new JudgeFailed({ fault: "Endpoint", problem: `${about(name)} failed; it is continued later` })
    for (const request of yield* requestsOf(name)) {
      const deferred = open.get(request)
      open.set(request, yield* Deferred.make<Answer, JudgeFailed>())
      if (deferred !== undefined) yield* Deferred.fail(deferred, failure)
    }
  })

  const rowsOf = (where: Statement.Fragment) =>
    sql<BatchSteps.BatchRow>`SELECT name, input_file, asked_at, id, gone_at FROM batch WHERE ${where} ORDER BY rowid`

  const carryOut = (row: BatchSteps.BatchRow, sendsAgain: boolean): Effect.Effect<void> =>
    Effect.catchCause(run(row, sendsAgain), (cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause)
      return Effect.gen(function* () {
        yield* Effect.logError(`${about(row.name)} failed; it is continued later`, cause)
        yield* release(row.name)
        yield* Effect.sleep(pollInterval)
        for (const again of yield* persistently(rowsOf(sql`name = ${row.name}`))) yield* carryOut(again, sendsAgain)
      })
    })
  const begin = (row: BatchSteps.BatchRow, sendsAgain: boolean) => FiberSet.run(running, carryOut(row, sendsAgain))

  const gather = Effect.gen(function* () {
    const first = yield* Queue.take(waiting)
    const batch = [first]
    let characters = first.body.length
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(maxGathering)
    while (batch.length < maxRequests && characters < maxCharacters && (yield* Clock.currentTimeMillis) < until) {
      const next = yield* Effect.timeoutOption(Queue.take(waiting), linger)
      if (Option.isNone(next)) break
      batch.push(next.value)
      characters += next.value.body.length
    }
    const name = Hex.encode(yield* (yield* SecureRandom.SecureRandom).randomBytes(nameBytes))
    const row: BatchSteps.BatchRow = { name, input_file: null, asked_at: null, id: null, gone_at: null }
    const rows = JSON.stringify(batch.map(({ body, request }) => [request, body]))
    yield* persistently(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO batch ${sql.insert({ ...row, endpoint: baseUrl, model })}`
          yield* sql`INSERT INTO batch_request SELECT ${name}, value ->> 0, value ->> 1 FROM json_each(${rows})`
        }),
      ),
    )
    yield* begin(row, false)
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto))

  const earlier = yield* rowsOf(sql`endpoint = ${baseUrl} AND model = ${model}`)
  for (const { request } of yield* sql<{ request: string }>`SELECT request FROM batch_request
    JOIN batch ON batch.name = batch_request.batch WHERE endpoint = ${baseUrl} AND model = ${model}`) {
    open.set(request, yield* Deferred.make<Answer, JudgeFailed>())
  }
  yield* Effect.addFinalizer(() => {
    const stopped = new JudgeFailed({ fault: "Endpoint", problem: `judge:${model} is stopped` })
    return Effect.forEach(open.values(), (deferred) => Deferred.fail(deferred, stopped), { discard: true })
  })
  for (const row of earlier) yield* begin(row, options.doubts === "send-again")
  yield* Effect.forkScoped(Effect.forever(gather))

  const pending = (request: string) => {
    const deferred = open.get(request)
    return deferred && Deferred.await(deferred)
  }

  return {
    doubts: () => [...doubts].map(([name, since]) => ({ name, since })),
    pending,
    /** Asks as part of a batch. The same request is never in two batches at the same time. */
    ask: (request: string, body: string) =>
      Effect.suspend(() => {
        const deferred = open.get(request) ?? Deferred.makeUnsafe<Answer, JudgeFailed>()
        if (open.has(request)) return Deferred.await(deferred)
        open.set(request, deferred)
        return Effect.andThen(Queue.offer(waiting, { request, body }), Deferred.await(deferred))
      }),
  }
})

export type JudgeBatches = Effect.Success<ReturnType<typeof make>>

const failureOf = (result: Result.Result<Answer, JudgeFailed> | undefined) =>
  result === undefined ? Option.none() : Result.getFailure(result)

export const exist = ({ sql }: JudgeAnswers, { baseUrl, model }: RequestContext) =>
  Effect.map(
    sql`SELECT 1 FROM batch WHERE endpoint = ${baseUrl} AND model = ${model} LIMIT 1`,
    (rows) => rows.length > 0,
  )
