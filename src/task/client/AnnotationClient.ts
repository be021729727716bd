/**
 * The client of the annotation service: creates a task, polls a task.
 *
 * Guarantees: a request is resent only if that cannot create a second task: the service honors idempotency keys, or it
 * certainly did not accept the request. Every failure is an `AnnotationClientError` with a reason. `Send` and `Collect`
 * decide what follows it (for example, `Send` splits a task after a 413). `Throttle` decides when a request is sent,
 * and `ServiceHealth` stops all requests while the service is down. The content of requests follows a protocol: that of
 * the `Contract`, or a custom one (`Protocol`).
 */
import { Context, Duration, Effect, Layer, Option, Result, Schema } from "effect"
import * as Backoff from "../../io/Backoff.ts"
import * as SteadyClock from "../../io/SteadyClock.ts"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import { AnnotationClientError, asksTooMuch, maybeDone, seemsDown, Unavailable } from "./AnnotationClientError.ts"
import * as Contract from "./Contract.ts"
import * as Protocol from "./Protocol.ts"
import { RequestBudget } from "./RequestBudget.ts"
import * as ServiceHealth from "./ServiceHealth.ts"
import type { TaskCalls, TaskView } from "./TaskCalls.ts"
import * as Throttle from "./Throttle.ts"
import * as Transport from "./Transport.ts"

export interface Sending<E> {
  /** Whether an earlier attempt may have created the task. A later refusal does not rule that out. */
  readonly isDoubtful: boolean
  /** Runs just before the request is sent. If it fails, nothing is sent. */
  readonly claim: Effect.Effect<unknown, E>
  /** Runs before each retry of a claimed request. If it fails, nothing is sent. */
  readonly repeat: Effect.Effect<unknown, E>
  /** Runs if an attempt may have created the task, although no usable response says so. */
  readonly doubt: Effect.Effect<unknown>
  /** Runs before the wait for a retry, if the service ignores keys and the request certainly created nothing. */
  readonly release: Effect.Effect<unknown, E>
}

const unclaimed: Sending<never> = {
  isDoubtful: false,
  claim: Effect.void,
  repeat: Effect.void,
  doubt: Effect.void,
  release: Effect.void,
}

const madeUpId = "prefstream-probe"

const maxKnown = 8

const minDelay = Duration.toMillis("500 millis")
const maxDelay = Duration.toMillis("30 seconds")

/** Retries with exponential backoff and jitter while `again` returns true. Waits can always be interrupted. */
const persisting = Effect.fnUntraced(function* <A, E, E2>(
  effect: Effect.Effect<A, E>,
  again: (failure: E) => Effect.Effect<boolean, E2>,
): Effect.fn.Return<A, E | E2> {
  for (let failures = 1; ; failures++) {
    const outcome = yield* Effect.result(effect)
    if (Result.isSuccess(outcome)) return outcome.success
    if (!(yield* again(outcome.failure))) return yield* Effect.fail(outcome.failure)
    const delay = yield* Backoff.jittered(Backoff.millisAfter(failures, minDelay, maxDelay))
    yield* Effect.interruptible(Effect.sleep(delay))
  }
})

const isClientError = Schema.is(AnnotationClientError)

const make = Effect.fnUntraced(function* <R>(
  callsOf: (
    transport: Transport.Transport,
    throttle: Throttle.Throttle<AnnotationClientError>,
  ) => Effect.Effect<TaskCalls, never, R>,
) {
  const profile = yield* ServiceProfile
  const patience = Duration.fromInputUnsafe(profile.patience)
  const budget = yield* RequestBudget
  const throttle = yield* Throttle.make<AnnotationClientError>({
    concurrency: profile.concurrency,
    requestsPerSecond: profile.requestsPerSecond,
    patience: Duration.toMillis(patience),
    budget,
    usedUp: (retryAfter) =>
      new AnnotationClientError({
        baseUrl: profile.baseUrl,
        reason: new Unavailable({
          detail: `its request quota is used up for ${Duration.format(Duration.seconds(Math.ceil(retryAfter / 1000)))}, longer than a run waits (${Duration.format(patience)})`,
          retryAfter,
          maybeDone: false,
        }),
      }),
  })
  const transport = yield* Transport.make(throttle)
  const calls = yield* callsOf(transport, throttle)

  /** Tasks that the service knows. Polls of them show whether the service is up. */
  const known = new Set<string>()
  const health = yield* ServiceHealth.make(profile, throttle, (failed) => {
    const turn = failed % (known.size + 1)
    const id = turn === known.size ? madeUpId : known.values().next().value!
    // The id moves to the end, so that the next probe polls another task.
    if (known.delete(id)) known.add(id)
    return { ask: calls.poll(id), isMadeUp: id === madeUpId }
  })
  const answered = Option.isNone(budget) ? health.answered : Effect.andThen(health.answered, budget.value.answered)
  const noted = <A>(request: Effect.Effect<A, AnnotationClientError>) =>
    request.pipe(
      Effect.tap(() => answered),
      Effect.tapError(health.failed),
    )

  /** Creates a task from the JSON of a `TaskRequest`, with retries if they are safe, and returns its id. */
  const create = Effect.fn("AnnotationClient.create")(function* <E = never>(
    body: Uint8Array,
    idempotencyKey: string,
    { claim, doubt, isDoubtful, release, repeat }: Sending<E> = unclaimed,
  ): Effect.fn.Return<string, AnnotationClientError | E> {
    let isClaimed = false
    let doubts = 0
    const countDoubt = Effect.sync(() => doubts++)
    let waitsSince: number | undefined
    const sent = throttle
      .turn("create", (turn) =>
        Effect.gen(function* () {
          yield* isClaimed ? repeat : claim
          isClaimed = true
          return yield* noted(calls.create(body, idempotencyKey, turn)).pipe(
            Effect.tapError((failure) => (maybeDone(failure) ? Effect.andThen(countDoubt, doubt) : Effect.void)),
          )
        }),
      )
      .pipe(
        Effect.mapError((failure) => {
          if (!isClientError(failure)) return failure
          // A refusal does not rule out that an earlier attempt created the task.
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
    return yield* persisting(sent, again)
  })

  /** Polls the state of a task. `tries` is 1 for callers that poll again later. */
  const poll = Effect.fn("AnnotationClient.poll")(function* (
    taskId: string,
    tries = 1,
  ): Effect.fn.Return<TaskView, AnnotationClientError> {
    const asked = throttle.turn("poll", (turn) => noted(calls.poll(taskId, turn)))
    let left = tries
    known.delete(taskId)
    const view = yield* persisting(asked, (failure) =>
      Effect.sync(
        () =>
          --left > 0 &&
          !asksTooMuch(failure, patience) &&
          (failure.reason._tag === "Unavailable" || seemsDown(failure)),
      ),
    )
    known.add(taskId)
    if (known.size > maxKnown) known.delete(known.values().next().value!)
    return view
  })

  return { create, poll }
})

/** The two calls by which `submit` and `collect` use a service. */
export class AnnotationClient extends Context.Service<AnnotationClient, Effect.Success<ReturnType<typeof make>>>()(
  "prefstream/task/AnnotationClient",
) {
  /** Speaks the contract's protocol to the service of the `ServiceProfile`, over the `HttpClient`. */
  static readonly layer = Layer.effect(AnnotationClient, make(Contract.make)).pipe(Layer.provide(Contract.layerToken))

  static readonly layerProtocol = (protocol: Protocol.Protocol) =>
    Layer.effect(
      AnnotationClient,
      make((transport, throttle) => Protocol.make(protocol, throttle, transport)),
    )
}
