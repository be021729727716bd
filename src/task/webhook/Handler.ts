/**
 * Answers a webhook delivery: verifies the signature, records the delivery in the ledger, and answers 204. No content
 * is used before its signature is verified. A refusal gives no reason. If the delivery cannot be recorded, the answer
 * is 500 or 503. A delivery with the id of an earlier delivery is ignored, unless its signed timestamp is later than
 * that of the earlier delivery. Without an id and a signed timestamp, a repeated delivery causes only one more poll.
 */
import { ByteSize, Duration, Effect, Option, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as SteadyClock from "../../io/SteadyClock.ts"
import { ServiceProfile } from "../../api/ServiceProfile.ts"
import * as WebhookScheme from "../../api/WebhookScheme.ts"
import type { SignatureRefused, VerifiedDelivery } from "../../api/WebhookSignature.ts"
import * as Sha256 from "../../node/Sha256.ts"
import { TaskClient } from "../client/AnnotationClient.ts"
import { Ledger } from "../ledger/Ledger.ts"
import type { Delivery } from "../ledger/schema/Model.ts"
import * as TaskIds from "../../api/TaskIds.ts"
import * as WebhookBodies from "./Bodies.ts"
import * as Metrics from "../../telemetry/Metrics.ts"

export interface DeliveryOptions {
  /** Maximum size of a body. Default 1 MiB. */
  readonly bodyLimit?: ByteSize.Input | undefined
  /** Paths of task ids in the payload. A protocol's `taskIdsOf` replaces them. Default: `ServiceSettings.webhook`. */
  readonly taskIdPaths?: ReadonlyArray<string> | undefined
  /**
   * Where to find the delivery's id: in an unsigned header, or at a path of the payload, such as `event.id`. Ignored if
   * the scheme signs a header that contains the id. Default: the header that the scheme's setting `id` names.
   */
  readonly deliveryId?: { readonly header: string } | { readonly path: string } | undefined
}

const maxRecordingTime = Duration.seconds(15)
const maxIdLength = 200

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const answer = (status: number, headers: Record<string, string> = {}) => HttpServerResponse.empty({ status, headers })

/** The answer also closes the connection, because the rest of the request may never arrive. */
const turnedAway = (status: number, headers: Record<string, string> = {}) =>
  answer(status, { ...headers, connection: "close" })

const logInterval = Duration.toMillis("1 minute")

/** Logs at most one line per minute, because anybody can cause refusals. Counts further refusals for the next line. */
const makeRefusalLog = Effect.gen(function* () {
  let lastLogged = Number.NEGATIVE_INFINITY
  const suppressed = new Map<string, number>()

  const takeSuppressed = () => {
    const kinds = [...suppressed].toSorted(([, a], [, b]) => b - a).map(([kind, count]) => `${count} ${kind}`)
    suppressed.clear()
    return kinds.join(", ")
  }

  const logSuppressed = Effect.suspend(() =>
    suppressed.size === 0
      ? Effect.void
      : Effect.logWarning(`more webhook deliveries were refused since the last message: ${takeSuppressed()}`),
  )
  const scope = yield* Effect.scope
  yield* Effect.addFinalizer(() => logSuppressed)

  const logLater = Effect.gen(function* () {
    yield* Effect.sleep(lastLogged + logInterval - (yield* SteadyClock.now))
    const now = yield* SteadyClock.now
    if (suppressed.size === 0 || now - lastLogged < logInterval) return
    lastLogged = now
    yield* logSuppressed
  })

  return Effect.fnUntraced(function* (kind: string, why: string) {
    const now = yield* SteadyClock.now
    if (now - lastLogged < logInterval) {
      const isFirst = suppressed.size === 0
      suppressed.set(kind, (suppressed.get(kind) ?? 0) + 1)
      if (isFirst) yield* Effect.forkIn(logLater, scope)
      return
    }
    lastLogged = now
    const others = takeSuppressed()
    yield* Effect.logWarning(
      `a webhook delivery was refused: ${why}${others === "" ? "" : ` (since the last message, more deliveries were refused: ${others})`}`,
    )
  })
})

export const make = Effect.fnUntraced(function* (options: WebhookScheme.WebhookScheme & DeliveryOptions) {
  const ledger = yield* Ledger
  const profile = yield* ServiceProfile
  const scheme = yield* WebhookScheme.make(options)
  const limit =
    options.bodyLimit === undefined ? WebhookBodies.defaultLimit : ByteSize.fromInputUnsafe(options.bodyLimit)
  const bodies = WebhookBodies.make(limit)
  const logRefusal = yield* makeRefusalLog
  const taskIdPaths = options.taskIdPaths ?? profile.webhook.taskIdPaths
  // A separate webhook server has no `TaskClient`, and reads the task ids at `taskIdPaths`.
  const byProtocol = Option.flatMapNullishOr(yield* Effect.serviceOption(TaskClient), (client) => client.taskIdsOf)
  const taskIdsOf = Option.getOrElse(
    byProtocol,
    () => (json: unknown) => Option.getOrUndefined(TaskIds.all(json, taskIdPaths)),
  )
  const place: DeliveryOptions["deliveryId"] =
    options.deliveryId ?? (scheme.unsignedId === undefined ? undefined : { header: scheme.unsignedId })

  const deliveryOf = Effect.fnUntraced(function* (
    verified: VerifiedDelivery,
    headers: HttpServerRequest.HttpServerRequest["headers"],
    body: Uint8Array,
  ): Effect.fn.Return<Delivery> {
    const now = yield* SteadyClock.now
    const payload = parseJson(new TextDecoder().decode(body))
    const named = verified.id ?? unsignedId(place, payload, headers, body)
    const sent = Math.round((verified.timestamp ?? Number.NaN) * 1000)
    return {
      id: short(named ?? Sha256.hex(body)),
      // If an id arrives again, the ledger ignores the delivery, unless `sentAt` has increased: see `Delivery`.
      sentAt: Number.isSafeInteger(sent) ? sent : named === undefined ? now : 0,
      taskIds: Option.flatMapNullishOr(payload, taskIdsOf),
    }
  })

  const refused = Effect.fnUntraced(function* ({ reason, status, why }: SignatureRefused) {
    yield* logRefusal(kinds[reason], why)
    return turnedAway(status)
  })

  const unread = Effect.fnUntraced(function* ({ kind, reason, status, why }: WebhookBodies.BodyRefused) {
    if (reason !== "broken") yield* logRefusal(kind, why)
    return turnedAway(status, reason === "encoded" ? { "accept-encoding": "identity" } : {})
  })

  const notRecorded = (error: unknown) =>
    Effect.as(Effect.logError("a webhook delivery could not be recorded", error), answer(500))

  const take = Effect.fn("WebhookHandler.take")(
    function* (request: HttpServerRequest.HttpServerRequest) {
      yield* bodies.accept(request)
      const verify = yield* scheme.open({ url: request.url, headers: request.headers })
      const body = yield* bodies.read(request)
      const recording = Effect.gen(function* () {
        const verified = yield* verify(body)
        const delivery = yield* deliveryOf(verified, request.headers, body)
        yield* Effect.annotateCurrentSpan({
          "prefstream.message_id": delivery.id,
          "prefstream.task_id": Option.getOrElse(delivery.taskIds, () => []).join(" "),
        })
        return Option.some(yield* ledger.recordDelivery(delivery))
      })
      const duration = maxRecordingTime
      const outcome = yield* Effect.timeoutOrElse(recording, { duration, orElse: () => Effect.succeedNone })
      if (Option.isNone(outcome)) {
        yield* Effect.logError(`a webhook delivery could not be recorded within ${Duration.format(duration)}`)
        return answer(503)
      }
      yield* Effect.logDebug("a webhook delivery was recorded", { outcome: outcome.value })
      return answer(204)
    },
    Effect.scoped,
    Effect.catchTags({
      SignatureRefused: refused,
      BodyRefused: unread,
      SqlError: notRecorded,
    }),
    // A custom `verify` function may throw. The answer is then status 500, and the service sends the delivery again.
    Effect.catchDefect(notRecorded),
    Effect.tap(({ status }) => Metrics.countDelivery(status < 300 ? "accepted" : status < 500 ? "refused" : "failed")),
  )

  return (request: HttpServerRequest.HttpServerRequest) =>
    request.method === "POST" ? take(request) : Effect.succeed(turnedAway(405, { allow: "POST" }))
})

const unsignedId = (
  place: DeliveryOptions["deliveryId"],
  payload: Option.Option<unknown>,
  headers: HttpServerRequest.HttpServerRequest["headers"],
  body: Uint8Array,
): string | undefined => {
  if (place === undefined) return undefined
  if ("path" in place) return Option.getOrUndefined(Option.flatMap(payload, (json) => TaskIds.one(json, [place.path])))
  const id = headers[place.header.toLowerCase()] ?? ""
  return id === "" ? undefined : `${Sha256.hex(body)}.${id}`
}

const short = (id: string) => (id.length <= maxIdLength && !id.includes("\0") ? id : Sha256.hex(id))

const kinds: { readonly [Reason in SignatureRefused["reason"]]: string } = {
  header_missing: "unsigned",
  header_malformed: "with a malformed signature",
  timestamp_malformed: "with a malformed timestamp",
  too_old: "too old",
  too_new: "dated in the future",
  no_signature_matches: "with a wrong signature",
}
