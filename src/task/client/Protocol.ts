/**
 * The protocol of a service with another interface. A program defines the requests that create and poll a task.
 *
 * Guarantees, whatever the program does: a task is claimed before `create` is called. Each call waits for its turn, and
 * so does each further request over `http`. A failure counts as one that may have created the task, unless the request
 * certainly did not. If the service ignores keys, only read requests follow a request that may have been carried out.
 *
 * Does not limit requests that a program sends by other means than `http`: the throttle counts such a call as one
 * request, without a timeout.
 */
import { Effect, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import { parseTaskRequest, type TaskRequest } from "../../domain/Task.ts"
import { AnnotationClientError, maybeDone, noAnswer, Unavailable } from "./AnnotationClientError.ts"
import type { TaskCalls, TaskView } from "./TaskCalls.ts"
import type { Kind, Throttle, Turn } from "./Throttle.ts"
import type { Transport } from "./Transport.ts"

/** How a call sends its requests. */
export interface Call {
  /**
   * Paths are relative to the service's base URL. An answer is read completely. A status other than 2xx is a failure,
   * whose reason says what it means. The program adds headers for authorization itself.
   */
  readonly http: HttpClient.HttpClient.With<AnnotationClientError>
}

/**
 * The protocol of a service. Each function makes one attempt, and may fail with any error. prefstream claims tasks and
 * retries failed attempts.
 */
export interface Protocol {
  /** Creates a task, and returns its id at the service. */
  readonly create: (
    task: TaskRequest,
    call: Call & {
      /** The key stays the same in all attempts, so that a service can create one task for all of them. */
      readonly idempotencyKey: string
    },
  ) => Effect.Effect<string, unknown>
  /** Polls the state of a task, and its results once it is completed. May be called again at any time. */
  readonly poll: (taskId: string, call: Call) => Effect.Effect<TaskView, unknown>
}

const isClientError = Schema.is(AnnotationClientError)

const reads: ReadonlyArray<string> = ["GET", "HEAD", "OPTIONS"]

export const make = Effect.fnUntraced(function* (
  protocol: Protocol,
  throttle: Throttle<AnnotationClientError>,
  { attempt, error, refused, slowDown, unusable }: Transport,
) {
  const profile = yield* ServiceProfile
  const client = yield* HttpClient.HttpClient

  const failureOf = (cause: unknown, kind: Kind): Effect.Effect<AnnotationClientError> => {
    if (isClientError(cause)) return Effect.succeed(cause)
    if (Schema.isSchemaError(cause)) return Effect.succeed(unusable(cause.message.replace(/\s+/g, " ")))
    const response = HttpClientError.isHttpClientError(cause) ? cause.response : undefined
    if (response === undefined) return Effect.succeed(error(noAnswer(cause)))
    return response.status < 300 ? Effect.succeed(unusable(String(cause), true)) : refused(response, kind, "")
  }

  /** One call, with a record of what its requests may have done. */
  const callOf = (kind: Kind, turn: Turn | undefined) => {
    let isFirst = true
    /** Whether the service accepted a request that may create something. */
    let hasWritten = false
    /** The failure of a request that the service may have carried out. */
    let lost: AnnotationClientError | undefined

    const send = (given: HttpClientRequest.HttpClientRequest) =>
      Effect.suspend(() => {
        const isWrite = !reads.includes(given.method)
        if (isWrite && lost !== undefined && profile.idempotencyKey !== "honored") return Effect.fail(lost)
        const request = given.pipe(
          /^https?:/i.test(given.url) ? (same) => same : HttpClientRequest.prependUrl(profile.baseUrl),
          HttpClientRequest.setHeader("accept-encoding", "identity"),
        )
        const sent = ({ permit }: Partial<Turn>) =>
          attempt(
            client.execute(request),
            kind,
            ({ text }, { headers, status }) =>
              Effect.sync(() => {
                hasWritten ||= isWrite
                const body = text === "" ? null : text
                return HttpClientResponse.fromWeb(request, new Response(body, { headers, status }))
              }),
            permit,
          ).pipe(
            Effect.tapError((failure) =>
              Effect.sync(() => {
                if (isWrite && maybeDone(failure)) lost = failure
              }),
            ),
          )
        if (turn === undefined) return isFirst ? sent({}) : Effect.andThen(throttle.count, sent({}))
        if (!isFirst) return throttle.turn(kind, sent)
        isFirst = false
        return Effect.ensuring(sent(turn), turn.giveBack)
      })

    /** Classifies a failure. If a request may have created the task nevertheless, the result says so. */
    const classify = Effect.fnUntraced(function* (cause: unknown) {
      const failure = yield* failureOf(cause, kind)
      yield* slowDown(failure, turn?.permit)
      const { reason } = failure
      if (reason._tag === "UnusableAnswer" || maybeDone(failure)) return failure
      if (lost !== undefined || !hasWritten) return lost ?? failure
      const detail = `the service accepted an earlier request for this task, but a later one failed: ${failure.message}`
      return error(new Unavailable({ detail, maybeDone: true, ...("status" in reason && { status: reason.status }) }))
    })

    return {
      http: HttpClient.makeWith<AnnotationClientError, never, AnnotationClientError, never>(
        Effect.flatMap(send),
        Effect.succeed,
      ),
      settled: <A>(effect: Effect.Effect<A, unknown>) =>
        effect.pipe(
          Effect.catch((cause) => Effect.flatMap(classify(cause), Effect.fail)),
          Effect.tap(() => Effect.sync(() => isFirst && turn !== undefined && throttle.accepted(turn.permit))),
        ),
    }
  }

  return {
    create: (body, idempotencyKey, turn) =>
      Effect.suspend(() => {
        const { http, settled } = callOf("create", turn)
        return settled(protocol.create(parseTaskRequest(new TextDecoder().decode(body)), { http, idempotencyKey }))
      }),
    poll: (taskId, turn) =>
      Effect.suspend(() => {
        const { http, settled } = callOf("poll", turn)
        return settled(protocol.poll(taskId, { http }))
      }),
  } satisfies TaskCalls
})
