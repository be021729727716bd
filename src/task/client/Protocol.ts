/**
 * The protocol of a service that does not follow the contract: your program sends the requests of `create` and `poll`.
 * A write is a request other than `GET`, `HEAD`, or `OPTIONS`. If the outcome of a write is unknown, and the service
 * ignores idempotency keys, this `create` or `poll` sends no further write. Requests that do not use the HTTP clients
 * in `Call` have no timeout and no rate limit.
 */
import { Duration, Effect, Schema, identity } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as SteadyClock from "../../io/SteadyClock.ts"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import { parseTaskRequest, type TaskRequest } from "../../domain/Task.ts"
import * as Sha256 from "../../node/Sha256.ts"
import {
  AnnotationClientError,
  asksTooMuch,
  maybeDone,
  noAnswer,
  Unavailable,
  withoutDoubt,
} from "./AnnotationClientError.ts"
import { persist } from "./Persist.ts"
import { completed, type PromptResult, toResultItems } from "./PromptResult.ts"
import type { TaskCalls } from "./TaskCalls.ts"
import type { Kind, Throttle, Turn } from "./Throttle.ts"
import type { Authorize, Transport } from "./Transport.ts"

/** A client for the requests of one call. */
export type Http = HttpClient.HttpClient.With<AnnotationClientError>

/** HTTP clients for the requests of one `create` or `poll`. */
export interface Call {
  /**
   * Sends a request. A path is relative to the service's base URL. A status other than 2xx is a failure with a reason.
   *
   * If the first request of a `create` or `poll` fails temporarily, prefstream may call the function again. If a later
   * request fails temporarily, prefstream repeats this request for at most `patience`.
   *
   * Writes (requests other than `GET`, `HEAD`, or `OPTIONS`) are an exception. After a timeout, a broken connection, or
   * a 5xx, the service may have processed the write. prefstream does not repeat the write, and the function fails. If
   * the service honors idempotency keys, prefstream may call the function again with the same keys. Otherwise, the
   * task becomes `in_doubt`.
   */
  readonly http: Http
  /** Like `http`, for idempotent writes: if a response is lost, the request is repeated up to `retries` times. */
  readonly repeatable: Http
}

/** The second argument of `create`: HTTP clients for its requests, and the task's idempotency key. */
export interface CreateCall extends Call {
  /**
   * The task's idempotency key. All attempts to create the task have this key, even after a crash. prefstream adds the
   * header `Idempotency-Key` to each write: this key, and a suffix that depends on the method and the URL. If your
   * program sends several writes to one URL, set the header of each write yourself, for example to `KEY-page2`.
   */
  readonly idempotencyKey: string
}

/** The second argument of `poll`: HTTP clients for its requests, and the task as prefstream sent it. */
export interface PollCall extends Call {
  /** The task's request as it was sent, for responses that do not repeat it. It is read from the ledger when needed. */
  readonly task: Effect.Effect<TaskRequest, unknown>
}

/** The state of a task. */
export type PollAnswer =
  /** `waiting` is the number of prompts that wait for another expert, if the service reports it. */
  | { readonly _tag: "Open"; readonly status: string; readonly waiting?: number }
  /** The task will never complete. Its votes count as paid, unless `status` is `canceled` or `cancelled`. */
  | { readonly _tag: "Failed"; readonly status: string }
  /** Results of all prompts. If a result does not match its prompt, the task is invalid. The raw response is kept. */
  | { readonly _tag: "Completed"; readonly results: ReadonlyArray<PromptResult> }

/** A task that the service reports with this status is not paid for: its votes do not count against the budget. */
export const isCanceled = (status: string): boolean => status === "cancelled" || status === "canceled"

/** The protocol of a service. Each function makes one attempt, and may fail with any error. prefstream retries. */
export interface Protocol {
  /** Adds the token to requests to the origin of the base URL. Default: the service's setting `authorization`. */
  readonly authorize?: Authorize | undefined
  /** Creates a task with one or more requests, and returns its id at the service. */
  readonly create: (task: TaskRequest, call: CreateCall) => Effect.Effect<string, unknown>
  /** Returns the state of a task, with its results if it is completed. May be called again at any time. */
  readonly poll: (taskId: string, call: PollCall) => Effect.Effect<PollAnswer, unknown>
  /**
   * Returns the ids of the tasks that a webhook names, or undefined if it may concern any task. If this function is
   * set, the settings for the paths of task ids are not used.
   */
  readonly taskIdsOf?: ((payload: unknown) => ReadonlyArray<string> | undefined) | undefined
}

const isClientError = Schema.is(AnnotationClientError)

const reads: ReadonlyArray<string> = ["GET", "HEAD", "OPTIONS"]

const keyHeader = "idempotency-key"

export const make = Effect.fnUntraced(function* (
  protocol: Protocol,
  throttle: Throttle<AnnotationClientError>,
  { attempt, authorize, error, quotable, refused, slowDown, unusable }: Transport,
) {
  const profile = yield* ServiceProfile
  const client = yield* HttpClient.HttpClient
  const isHonored = profile.idempotencyKey === "honored"
  const patience = Duration.fromInputUnsafe(profile.patience)

  const failureOf = (cause: unknown, kind: Kind): Effect.Effect<AnnotationClientError> => {
    if (isClientError(cause)) return Effect.succeed(cause)
    if (Schema.isSchemaError(cause)) return Effect.succeed(unusable(quotable(cause.message.replace(/\s+/g, " "))))
    const response = HttpClientError.isHttpClientError(cause) ? cause.response : undefined
    if (response !== undefined && response.status >= 300) return refused(response, kind, "")
    if (response !== undefined) return Effect.succeed(unusable(quotable(String(cause)), true))
    return Effect.succeed(error(noAnswer(cause, quotable)))
  }

  const callOf = (kind: Kind, turn: Turn | undefined, key?: string) => {
    let isFirst = true
    let hasWritten = false
    let lost: AnnotationClientError | undefined
    const answers: Array<string> = []

    /** Each attempt at the same request must have the same key. */
    const withKey = (request: HttpClientRequest.HttpClientRequest) =>
      key === undefined || reads.includes(request.method) || request.headers[keyHeader] !== undefined
        ? request
        : HttpClientRequest.setHeader(
            request,
            keyHeader,
            `${key}-${Sha256.hex(`${request.method} ${request.url}`).slice(0, 8)}`,
          )

    const prepare = (request: HttpClientRequest.HttpClientRequest) =>
      withKey(request).pipe(
        /^https?:/i.test(request.url) ? (same) => same : HttpClientRequest.prependUrl(profile.baseUrl),
        (absolute) => authorize(absolute, protocol.authorize),
      )

    const mayHaveWritten = () => hasWritten || lost !== undefined

    const once = (request: HttpClientRequest.HttpClientRequest, isWrite: boolean) =>
      Effect.suspend(() => {
        const sent = ({ permit }: Partial<Turn>) =>
          attempt(
            client.execute(request),
            kind,
            ({ text }, { headers, status }) =>
              Effect.sync(() => {
                hasWritten ||= isWrite
                if (kind === "poll") answers.push(text)
                const body = text === "" ? null : text
                return HttpClientResponse.fromWeb(request, new Response(body, { headers, status }))
              }),
            permit,
          ).pipe(
            // If your program interrupts a write request, the service may still process the request.
            isWrite
              ? Effect.onInterrupt(() =>
                  Effect.sync(() => {
                    lost ??= error(new Unavailable({ detail: "the request was interrupted", maybeDone: true }))
                  }),
                )
              : identity,
          )
        const wasFirst = isFirst
        isFirst = false
        if (turn === undefined) return wasFirst ? sent({}) : Effect.andThen(throttle.count, sent({}))
        return wasFirst ? Effect.ensuring(sent(turn), turn.giveBack) : throttle.turn(kind, sent, mayHaveWritten())
      })

    const send = (isRepeatable: boolean) =>
      Effect.fnUntraced(function* (unsigned: HttpClientRequest.HttpClientRequest) {
        const isWrite = !reads.includes(unsigned.method)
        if (isWrite && lost !== undefined && !isHonored) return yield* lost
        const wasFirst = isFirst
        const request = yield* prepare(unsigned)
        let losses = 0
        let since: number | undefined
        const again = Effect.fnUntraced(function* (failure: AnnotationClientError) {
          const isLost = maybeDone(failure)
          if (turn === undefined || asksTooMuch(failure, patience)) return false
          if (!isLost && failure.reason._tag !== "Unavailable") return false
          // If the first request failed and changed nothing, `AnnotationClient` calls `create` or `poll` again.
          if (wasFirst && losses === 0 && !isLost) return false
          if (!isRepeatable && (wasFirst || (isWrite && isLost))) return false
          if (isLost && ++losses > profile.retries) return false
          const now = yield* SteadyClock.now
          since ??= now
          return now - since < Duration.toMillis(patience)
        })
        let ownLoss: AnnotationClientError | undefined
        const noteLoss = (failure: AnnotationClientError) => {
          if (isWrite && maybeDone(failure)) lost = ownLoss = failure
        }
        const attempted = Effect.tapError(once(request, isWrite), (failure) => Effect.sync(() => noteLoss(failure)))
        const response = yield* Effect.mapError(persist(attempted, again), (failure) =>
          isWrite || hasWritten || lost !== undefined ? failure : withoutDoubt(failure),
        )
        // A lost write blocks further writes. If a repeatable write succeeds after lost attempts, this block ends.
        if (isRepeatable && lost === ownLoss) lost = undefined
        return response
      })

    const classify = Effect.fnUntraced(function* (cause: unknown) {
      const failure = yield* failureOf(cause, kind)
      yield* slowDown(failure, turn?.permit)
      const { reason } = failure
      if (reason._tag === "UnusableAnswer" || maybeDone(failure)) return failure
      if (lost !== undefined || !hasWritten) return lost ?? failure
      const detail = `the service accepted an earlier request for this task, but a later one failed: ${failure.message}`
      return error(new Unavailable({ detail, maybeDone: true, ...("status" in reason && { status: reason.status }) }))
    })

    const httpOf = (isRepeatable: boolean) =>
      HttpClient.makeWith<AnnotationClientError, never, AnnotationClientError, never>(
        Effect.flatMap(send(isRepeatable)),
        Effect.succeed,
      )

    return {
      call: { http: httpOf(false), repeatable: httpOf(true) } satisfies Call,
      answers,
      mayHaveWritten,
      settled: <A>(effect: Effect.Effect<A, unknown>) =>
        effect.pipe(
          Effect.catch((cause) => Effect.flatMap(classify(cause), Effect.fail)),
          Effect.tap(() => Effect.sync(() => isFirst && turn !== undefined && throttle.accepted(turn.permit))),
        ),
    }
  }

  return {
    create: (body, idempotencyKey, turn, doubt) =>
      Effect.suspend(() => {
        const { call, mayHaveWritten, settled } = callOf("create", turn, idempotencyKey)
        const task = parseTaskRequest(new TextDecoder().decode(body))
        return Effect.onInterrupt(settled(protocol.create(task, { ...call, idempotencyKey })), () =>
          mayHaveWritten() ? doubt : Effect.void,
        )
      }),
    poll: Effect.fnUntraced(function* (taskId, task, turn) {
      const { answers, call, settled } = callOf("poll", turn)
      const answer = yield* settled(protocol.poll(taskId, { ...call, task }))
      if (answer._tag !== "Completed") return answer
      const { prompts } = yield* settled(task)
      return completed(taskId, toResultItems(prompts, answer.results), answers, answer.results)
    }),
  } satisfies TaskCalls
})
