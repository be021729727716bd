/**
 * Creates and polls tasks at the annotation service. A request is resent only if this cannot create a second task.
 * `Throttle` decides when a request is sent. `ServiceHealth` stops all requests while the service is down.
 */
import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import type { HttpClient } from "effect/http"
import * as SteadyClock from "../../io/SteadyClock.ts"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import { AnnotationClientError, asksTooMuch, maybeDone, seemsDown, Unavailable } from "./AnnotationClientError.ts"
import { parseTaskRequest, type TaskRequest } from "../../domain/Task.ts"
import * as Contract from "./Contract.ts"
import { persist } from "./Persist.ts"
import * as Protocol from "./Protocol.ts"
import { FirstRequest } from "./PublishedLimits.ts"
import { RequestBudget } from "./RequestBudget.ts"
import * as ServiceHealth from "./ServiceHealth.ts"
import type { TaskCalls, TaskView } from "./TaskCalls.ts"
import * as Throttle from "./Throttle.ts"
import * as Transport from "./Transport.ts"

export interface Sending<E> {
  /** Whether the task was in doubt before it was sent again. Even a refusal leaves such a task in doubt. */
  readonly isDoubtful: boolean
  /** Claims the task in the ledger. Runs before a request for an unclaimed task. If `claim` fails, nothing is sent. */
  readonly claim: Effect.Effect<unknown, E>
  /** Extends the claim on the task. Runs before a retry for a claimed task. If `beforeRetry` fails, nothing is sent. */
  readonly beforeRetry: Effect.Effect<unknown, E>
  /** Runs when an attempt ends without a usable response, and the service may have created the task. */
  readonly doubt: Effect.Effect<unknown>
  /** Gives up the claim before waiting for a retry, if no task was created and the service ignores idempotency keys. */
  readonly release: Effect.Effect<unknown, E>
}

const unclaimed: Sending<never> = {
  isDoubtful: false,
  claim: Effect.void,
  beforeRetry: Effect.void,
  doubt: Effect.void,
  release: Effect.void,
}

const madeUpId = "prefstream-probe"

const madeUpTask: Effect.Effect<TaskRequest> = Effect.succeed({ task_type: "", prompts: [] })

const maxRecentTasks = 8

const isClientError = Schema.is(AnnotationClientError)

const make = Effect.fnUntraced(function* <R>(
  callsOf: (
    transport: Transport.Transport,
    throttle: Throttle.Throttle<AnnotationClientError>,
  ) => Effect.Effect<TaskCalls, never, R>,
  protocol?: Protocol.Protocol,
) {
  const profile = yield* ServiceProfile
  const patience = Duration.fromInputUnsafe(profile.patience)
  const budget = yield* RequestBudget
  const throttle = yield* Throttle.make<AnnotationClientError>({
    firstRequest: yield* FirstRequest,
    concurrency: profile.concurrency,
    requestsPerSecond: profile.requestsPerSecond,
    patience: Duration.toMillis(patience),
    budget,
    usedUp: (retryAfter) =>
      new AnnotationClientError({
        baseUrl: profile.baseUrl,
        reason: new Unavailable({
          detail: `the service's request quota is used up for another ${Duration.format(Duration.seconds(Math.ceil(retryAfter / 1000)))}; a run waits at most ${Duration.format(patience)}`,
          retryAfter,
          maybeDone: false,
        }),
      }),
  })
  const transport = yield* Transport.make(throttle)
  const calls = yield* callsOf(transport, throttle)

  const recentTasks = new Map<string, Effect.Effect<TaskRequest, unknown>>()
  const health = yield* ServiceHealth.make(profile, throttle, (failed) => {
    const turn = failed % (recentTasks.size + 1)
    const [id, task] = turn === recentTasks.size ? [madeUpId, madeUpTask] : recentTasks.entries().next().value!
    // The next probe should poll another task. This task therefore moves to the end of `recentTasks`.
    if (recentTasks.delete(id)) recentTasks.set(id, task)
    return { ask: calls.poll(id, task), isMadeUp: id === madeUpId }
  })
  const answered = Option.isNone(budget) ? health.answered : Effect.andThen(health.answered, budget.value.answered)
  const withHealth = <A>(request: Effect.Effect<A, AnnotationClientError>) =>
    request.pipe(
      Effect.tap(() => answered),
      Effect.tapError(health.failed),
    )

  const create = Effect.fn("AnnotationClient.create")(function* <E = never>(
    body: Uint8Array,
    idempotencyKey: string,
    { claim, doubt, isDoubtful, release, beforeRetry }: Sending<E> = unclaimed,
  ): Effect.fn.Return<string, AnnotationClientError | E> {
    let isClaimed = false
    let doubts = 0
    const countDoubt = Effect.andThen(
      Effect.sync(() => doubts++),
      doubt,
    )
    let waitsSince: number | undefined
    const sent = throttle
      .turn("create", (turn) =>
        Effect.gen(function* () {
          yield* isClaimed ? beforeRetry : claim
          isClaimed = true
          return yield* withHealth(calls.create(body, idempotencyKey, turn, countDoubt)).pipe(
            Effect.tapError((failure) => (maybeDone(failure) ? countDoubt : Effect.void)),
          )
        }),
      )
      .pipe(
        Effect.mapError((failure) => {
          if (!isClientError(failure)) return failure
          return (isDoubtful || doubts > 0) && (failure.reason._tag === "Refused" || failure.reason._tag === "TooLarge")
            ? transport.unusable(
                `an earlier attempt may have created the task; a later attempt failed: ${failure.message}`,
              )
            : failure
        }),
      )
    const again = Effect.fnUntraced(function* (failure: AnnotationClientError | E) {
      if (!isClientError(failure) || asksTooMuch(failure, patience)) return false
      if (maybeDone(failure)) return profile.idempotencyKey === "honored" && doubts <= profile.retries
      if (failure.reason._tag !== "Unavailable") return false
      const now = yield* SteadyClock.now
      waitsSince ??= now
      if (now - waitsSince >= Duration.toMillis(patience)) return false
      if (profile.idempotencyKey !== "honored") {
        yield* release
        isClaimed = false
      }
      return true
    })
    return yield* persist(sent, again)
  })

  const poll = Effect.fn("AnnotationClient.poll")(function* <E = never>(
    taskId: string,
    request: Effect.Effect<Uint8Array, E>,
    tries = 1,
  ): Effect.fn.Return<TaskView, AnnotationClientError | E> {
    const requestFailures: Array<E> = []
    const task = yield* request.pipe(
      Effect.tapError((failure) => Effect.sync(() => requestFailures.push(failure))),
      Effect.map((body) => parseTaskRequest(new TextDecoder().decode(body))),
      Effect.cached,
    )
    const pollOnce = throttle.turn("poll", (turn) => withHealth(calls.poll(taskId, task, turn)))
    let left = tries
    recentTasks.delete(taskId)
    const view = yield* persist(pollOnce, (failure) =>
      Effect.sync(
        () =>
          --left > 0 &&
          requestFailures.length === 0 &&
          !asksTooMuch(failure, patience) &&
          (failure.reason._tag === "Unavailable" || seemsDown(failure)),
      ),
    ).pipe(Effect.mapError((failure) => requestFailures[0] ?? failure))
    recentTasks.set(taskId, task)
    if (recentTasks.size > maxRecentTasks) recentTasks.delete(recentTasks.keys().next().value!)
    return view
  })

  // Without a custom protocol, a task with an unknown status is treated as open, although it may have ended.
  return { create, poll, taskIdsOf: protocol?.taskIdsOf, mayMisreadStatus: protocol === undefined }
})

/** The client that `Tasks.submit` and `Tasks.collect` need. Its methods are internal. */
export interface AnnotationClient {
  /** For the type checker: no other object can be passed as an `AnnotationClient`. */
  readonly "~prefstream/AnnotationClient": never
}

/** The client with its methods, for `Send`, `Collect`, and `Recheck`. */
export const TaskClient = Context.Service<AnnotationClient, Effect.Success<ReturnType<typeof make>>>(
  "prefstream/task/AnnotationClient",
)

/** A service's client: `layer` for the contract's protocol, `layerProtocol` for another protocol. */
export const AnnotationClient: {
  readonly layer: Layer.Layer<AnnotationClient, never, ServiceProfile | HttpClient.HttpClient>
  readonly layerProtocol: (
    protocol: Protocol.Protocol,
  ) => Layer.Layer<AnnotationClient, never, ServiceProfile | HttpClient.HttpClient>
} = {
  layer: Layer.effect(TaskClient, make(Contract.make)),
  layerProtocol: (protocol) =>
    Layer.effect(
      TaskClient,
      make((transport, throttle) => Protocol.make(protocol, throttle, transport), protocol),
    ),
}
