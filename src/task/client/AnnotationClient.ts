/**
 * The annotation service as its client sees it: create a task, poll a task.
 *
 * Guarantees: a request is sent again only where that cannot create a second task: where the service honors idempotency
 * keys, or where it certainly did not take the request. Every failure is an `AnnotationClientError` with a reason: `Send`
 * decides what follows the failure of a creation (it splits a task after a 413, for example), `Collect` what follows that
 * of a poll. `Throttle` decides when a request is sent, `ServiceHealth` stops all of them while the service is down. What
 * a request contains, headers too, is declared in `api/AnnotationApi`.
 */
/* oxlint-disable max-lines -- one client, whose requests share throttle and health */
import { Cause, Clock, Context, Duration, Effect, Layer, Option, Random, Redacted, Result, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import * as SteadyClock from "../../io/SteadyClock.ts"
import { EncodedAnnotationApi, OrganizationToken } from "../../api/AnnotationApi.ts"
import * as RateLimit from "../../api/RateLimit.ts"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import * as ResponseBody from "./ResponseBody.ts"
import {
  AnnotationClientError,
  asksTooMuch,
  maybeDone,
  noAnswer,
  refusal,
  retryAfterOf,
  seemsDown,
  Unavailable,
  UnusableAnswer,
} from "./AnnotationClientError.ts"
import * as ServiceHealth from "./ServiceHealth.ts"
import * as TaskIds from "../../api/TaskIds.ts"
import * as Metrics from "../../telemetry/Metrics.ts"
import { RequestBudget } from "./RequestBudget.ts"
import * as Throttle from "./Throttle.ts"

/** A task as `GET /tasks/{task_id}` shows it. */
export type TaskView =
  | { readonly _tag: "Open"; readonly status: string }
  /** `named`: the id at `task_id`, if there is one. */
  | { readonly _tag: "Completed"; readonly body: string; readonly named?: string | undefined }
  | { readonly _tag: "Failed"; readonly status: string }

/** What a caller records around the request that creates a task. */
export interface Sending<E> {
  /** Whether an earlier try may have created the task, which no refusal rules out. */
  readonly isDoubtful: boolean
  /** Runs just before the request is sent; if it fails, nothing is sent. */
  readonly claim: Effect.Effect<unknown, E>
  /** Runs before each retry of a claimed request; if it fails, nothing is sent. */
  readonly repeat: Effect.Effect<unknown, E>
  /** Runs when a try may have created the task, although no usable answer says so. */
  readonly doubt: Effect.Effect<unknown>
  /** Runs before a request that certainly created nothing waits for its retry, where keys are ignored. */
  readonly release: Effect.Effect<unknown, E>
}

const unclaimed: Sending<never> = {
  isDoubtful: false,
  claim: Effect.void,
  repeat: Effect.void,
  doubt: Effect.void,
  release: Effect.void,
}

/** A task id that nobody has. */
const madeUpId = "prefstream-probe"

/** Known tasks that are remembered for probes. */
const maxKnown = 8

/** A shorter token may occur in any text. */
const minSecretLength = 8

const minDelay = Duration.toMillis("500 millis")
const maxDelay = Duration.toMillis("30 seconds")

/**
 * Retries with exponential backoff and jitter while `again` says so. The waits can be interrupted even where the
 * tries can't.
 */
const persisting = Effect.fnUntraced(function* <A, E, E2>(
  effect: Effect.Effect<A, E>,
  again: (failure: E) => Effect.Effect<boolean, E2>,
): Effect.fn.Return<A, E | E2> {
  for (let delay = minDelay; ; delay = Math.min(2 * delay, maxDelay)) {
    const outcome = yield* Effect.result(effect)
    if (Result.isSuccess(outcome)) return outcome.success
    if (!(yield* again(outcome.failure))) return yield* Effect.fail(outcome.failure)
    const jitter = yield* Random.nextBetween(0.8, 1.2)
    yield* Effect.interruptible(Effect.sleep(Duration.millis(delay * jitter)))
  }
})

const StatusMember = Schema.fromJsonString(
  Schema.Struct({ status: Schema.String, task_id: Schema.optionalKey(Schema.Unknown) }),
)

const isClientError = Schema.is(AnnotationClientError)

const make = Effect.gen(function* () {
  const profile = yield* ServiceProfile
  const client = yield* HttpApiClient.make(EncodedAnnotationApi, { baseUrl: profile.baseUrl })
  const patience = Duration.fromInputUnsafe(profile.patience)
  const timeLimit = Duration.fromInputUnsafe(profile.requestTimeout)

  const error = (reason: AnnotationClientError["reason"]) =>
    new AnnotationClientError({ baseUrl: profile.baseUrl, reason })

  const budget = yield* RequestBudget
  const throttle = yield* Throttle.make<AnnotationClientError>({
    concurrency: profile.concurrency,
    requestsPerSecond: profile.requestsPerSecond,
    patience: Duration.toMillis(patience),
    budget,
    usedUp: (retryAfter) =>
      error(
        new Unavailable({
          detail: `its quota of requests is used up for ${Duration.format(Duration.seconds(Math.ceil(retryAfter / 1000)))}, longer than a run waits (${Duration.format(patience)})`,
          retryAfter,
          maybeDone: false,
        }),
      ),
  })

  const secret = Redacted.value(profile.token)
  /** Removes the token, which a service may repeat in its answer. */
  const quotable = (text: string): string =>
    secret.length < minSecretLength ? text : text.replaceAll(secret, "<token>")

  const unusable = (detail: string, isForeign = false, found?: string) =>
    error(new UnusableAnswer({ detail, isForeign, ...(found === undefined ? {} : { found }) }))

  const observeRateLimits = Effect.fnUntraced(function* (
    response: HttpClientResponse.HttpClientResponse,
    permit: Throttle.Permit | undefined,
    failure: AnnotationClientError | undefined,
  ) {
    const quotas = RateLimit.quotas(response.headers, yield* Clock.currentTimeMillis)
    if (permit !== undefined) {
      if (quotas.length > 0) yield* throttle.quota(permit, quotas)
      if (response.status === 429 || response.status === 503) yield* throttle.refused(permit, response.status)
      else if (failure === undefined) throttle.accepted(permit)
    }
    if (failure?.reason._tag === "Unavailable" && failure.reason.retryAfter !== undefined) {
      yield* throttle.pause(failure.reason.retryAfter, failure)
    }
  })

  /** Carries out one request, and reads what is in a 2xx answer. */
  const attempt = <A, E>(
    request: Effect.Effect<HttpClientResponse.HttpClientResponse, E>,
    onNotFound: "service" | "task",
    read: (answer: ResponseBody.Answer) => Effect.Effect<A, AnnotationClientError>,
    permit?: Throttle.Permit,
  ): Effect.Effect<A, AnnotationClientError> =>
    request.pipe(
      Effect.flatMap((response) =>
        Effect.map(ResponseBody.read(response, profile.maxAnswerBytes), (answer) => ({ response, answer })),
      ),
      Effect.timeout(timeLimit),
      Metrics.timeRequest(onNotFound === "task" ? "poll" : "create"),
      Effect.mapError((cause) =>
        error(
          Cause.isTimeoutError(cause)
            ? new Unavailable({ detail: `no whole answer within ${Duration.format(timeLimit)}`, maybeDone: true })
            : noAnswer(cause),
        ),
      ),
      Effect.flatMap(
        Effect.fnUntraced(function* ({ answer, response }) {
          if (response.status >= 200 && response.status < 300) {
            yield* observeRateLimits(response, permit, undefined)
            if (answer.problem === "broken off") {
              return yield* error(new Unavailable({ detail: "the answer broke off", maybeDone: true }))
            }
            if (answer.problem !== undefined) return yield* unusable(answer.problem, answer.isForeign)
            return yield* read(answer)
          }
          const retryAfter = yield* retryAfterOf(response)
          const failure = error(
            refusal(response, quotable(answer.text), onNotFound, retryAfter, profile.idempotencyKey),
          )
          yield* observeRateLimits(response, permit, failure)
          return yield* failure
        }),
      ),
    )

  /** The failure for an unexpected answer. */
  const misread = (expected: string, answer: ResponseBody.Answer) => {
    const found = ResponseBody.describe(answer, quotable)
    return unusable(`${expected}, found ${found}`, !ResponseBody.isJson(answer), found)
  }

  const readId = (answer: ResponseBody.Answer) =>
    Option.match(
      Option.flatMap(ResponseBody.json(answer), (json) => TaskIds.one(json, profile.taskIdPaths)),
      {
        onNone: () =>
          Effect.fail(
            misread(
              `the service accepted the task, but its answer has no task id at any of ${profile.taskIdPaths.join(", ")}`,
              answer,
            ),
          ),
        onSome: (taskId) => Effect.succeed(taskId),
      },
    )

  const readView = (taskId: string) => (answer: ResponseBody.Answer) => {
    const decoded = Schema.decodeUnknownOption(StatusMember)(answer.text)
    if (Option.isNone(decoded)) {
      return Effect.fail(misread(`expected a JSON object with the status of ${taskId}`, answer))
    }
    const { status, task_id } = decoded.value
    return Effect.succeed<TaskView>(
      profile.completedStatuses.includes(status)
        ? { _tag: "Completed", body: answer.text, named: Option.getOrUndefined(TaskIds.one({ task_id }, ["task_id"])) }
        : { _tag: profile.failedStatuses.includes(status) ? "Failed" : "Open", status },
    )
  }

  /** Tasks that the service knows: polls of them tell whether it is up. */
  const known = new Set<string>()
  const get = (taskId: string, permit?: Throttle.Permit) =>
    attempt(
      client.tasks.get({ params: { task_id: taskId }, responseMode: "response-only" }),
      "task",
      readView(taskId),
      permit,
    )
  const health = yield* ServiceHealth.make(profile, throttle, (failed) => {
    const turn = failed % (known.size + 1)
    const id = turn === known.size ? madeUpId : known.values().next().value!
    // The next probe polls another one.
    if (known.delete(id)) known.add(id)
    return { ask: get(id), isMadeUp: id === madeUpId }
  })
  const answered = Option.isNone(budget) ? health.answered : Effect.andThen(health.answered, budget.value.answered)
  const noted = <A>(request: Effect.Effect<A, AnnotationClientError>) =>
    request.pipe(
      Effect.tap(() => answered),
      Effect.tapError(health.failed),
    )

  const create = Effect.fn("AnnotationClient.create")(function* <E = never>(
    body: Uint8Array,
    idempotencyKey: string,
    { claim, doubt, isDoubtful, release, repeat }: Sending<E> = unclaimed,
  ): Effect.fn.Return<string, AnnotationClientError | E> {
    const request = client.tasks.create({
      payload: body,
      headers: { "idempotency-key": idempotencyKey },
      responseMode: "response-only",
    })
    let isClaimed = false
    let doubts = 0
    const countDoubt = Effect.sync(() => doubts++)
    let waitsSince: number | undefined
    const sent = throttle
      .turn("create", (permit) =>
        Effect.gen(function* () {
          yield* isClaimed ? repeat : claim
          isClaimed = true
          return yield* noted(attempt(request, "service", readId, permit)).pipe(
            Effect.tapError((failure) => (maybeDone(failure) ? Effect.andThen(countDoubt, doubt) : Effect.void)),
          )
        }),
      )
      .pipe(
        Effect.mapError((failure) => {
          if (!isClientError(failure)) return failure
          // A refusal says nothing about an earlier try that may have created the task.
          return (isDoubtful || doubts > 0) && (failure.reason._tag === "Refused" || failure.reason._tag === "TooLarge")
            ? unusable(`an earlier try may have created the task; then: ${failure.message}`)
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

  const poll = Effect.fn("AnnotationClient.poll")(function* (
    taskId: string,
    tries = 1,
  ): Effect.fn.Return<TaskView, AnnotationClientError> {
    const asked = throttle.turn("poll", (permit) => noted(get(taskId, permit)))
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

/** What `submit` and `collect` need of a service: a program may provide its own. */
export class AnnotationClient extends Context.Service<
  AnnotationClient,
  {
    /** Creates a task, with retries where they are safe, and gives its id. `body` is the JSON of a `TaskRequest`, as UTF-8. */
    readonly create: <E = never>(
      body: Uint8Array,
      idempotencyKey: string,
      sending?: Sending<E>,
    ) => Effect.Effect<string, AnnotationClientError | E>
    /** The state of a task. `tries` is 1 for callers that poll again anyway. */
    readonly poll: (taskId: string, tries?: number) => Effect.Effect<TaskView, AnnotationClientError>
  }
>()("prefstream/task/AnnotationClient") {
  /** Speaks to the service of the `ServiceProfile` over the `HttpClient`. */
  static readonly layer = Layer.effect(AnnotationClient, make).pipe(
    Layer.provide(
      HttpApiMiddleware.layerClient(
        OrganizationToken,
        Effect.map(
          ServiceProfile,
          ({ token }) =>
            ({ next, request }) =>
              // A few compressed bytes may expand without bound.
              next(
                request.pipe(
                  HttpClientRequest.bearerToken(token),
                  HttpClientRequest.setHeader("accept-encoding", "identity"),
                ),
              ),
        ),
      ),
    ),
  )
}
