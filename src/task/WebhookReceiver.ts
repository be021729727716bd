/**
 * Where the annotation service's webhooks arrive: a route for a server of one's own, or a
 * server for the time of a run.
 *
 * Guarantees: a delivery counts only if its signature, made over the raw body, is genuine
 * and recent; it is in the ledger, durably, before it is answered with 204; it changes when
 * tasks are looked at and nothing else, so that a forged, repeated, reordered or lost one
 * costs time at the most. A body may have 1 MiB; 32 are held at once, others wait. A sender
 * that takes more than 15 seconds is cut off. What is refused is answered without a reason
 * (400, 401, 405, 413), which is logged here, once a minute at the most.
 *
 * Does not: speak TLS, nor fetch results itself; `collect` does, as soon as the hint is there.
 */
import {
  type Array as Arr,
  ByteSize,
  Clock,
  Duration,
  Effect,
  Layer,
  Option,
  type Redacted,
  Schema,
  Semaphore,
} from "effect"
import { Mac } from "effect/crypto"
import {
  HttpIncomingMessage,
  HttpRouter,
  HttpServer,
  type HttpServerError,
  type HttpServerRequest,
  HttpServerResponse,
} from "effect/http"
import { ServiceProfile } from "../api/ServiceProfile.ts"
import * as WebhookSignature from "../api/WebhookSignature.ts"
import * as NodeServer from "../node/HttpServer.ts"
import * as Sha256 from "../node/Sha256.ts"
import { Ledger } from "./Ledger.ts"
import * as TaskIds from "./TaskIds.ts"

export interface RouteOptions {
  /** Secrets by Standard Webhooks (`whsec_…`); several while one is replaced by another. */
  readonly secrets: Arr.NonEmptyReadonlyArray<Redacted.Redacted<string>>
  /** Default `/webhook`. */
  readonly path?: `/${string}` | undefined
}

export interface ListenOptions extends RouteOptions {
  /** An address or a name. Loopback by default, which suits a proxy on the same machine that speaks TLS. */
  readonly host?: string | undefined
  /** A free one by default. */
  readonly port?: number | undefined
  /** Told the URL where webhooks are received; it is logged by default. */
  readonly onListening?: ((url: string) => Effect.Effect<void>) | undefined
}

/** Webhooks can't be received where it was asked for. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  host: Schema.String,
  port: Schema.Int,
  /** As the system calls it: `EADDRINUSE`, `EACCES`. */
  code: Schema.String,
}) {
  override get message() {
    const where = `${this.host.includes(":") ? `[${this.host}]` : this.host}:${this.port}`
    return `can't receive webhooks at ${where}: ${inWords[this.code] ?? this.code}`
  }
}

const inWords: { readonly [code: string]: string } = {
  EADDRINUSE: "the port is in use",
  EACCES: "no permission for this port",
  EADDRNOTAVAIL: "this machine does not have the address",
  ENOTFOUND: "there is no such host",
}

export const defaultPath = "/webhook"

const mostBytes = ByteSize.mebibytes(1)
const mostBodies = 32
const longest = Duration.seconds(15)
const sayEvery = Duration.toMillis("1 minute")

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const answer = (status: number, headers: Record<string, string> = {}) => HttpServerResponse.empty({ status, headers })

/** Answers one request. */
const make = Effect.fnUntraced(function* (scheme: WebhookSignature.SignatureScheme) {
  const ledger = yield* Ledger
  const { webhook } = yield* ServiceProfile
  const mac = yield* Mac.Mac
  const bodies = yield* Semaphore.make(mostBodies)
  let lastSaid = Number.NEGATIVE_INFINITY

  /** Whoever finds the port can cause these, hence not one for each. */
  const say = Effect.fnUntraced(function* (message: string) {
    const now = yield* Clock.currentTimeMillis
    if (now - lastSaid < sayEvery) return
    lastSaid = now
    yield* Effect.logWarning(message)
  })

  const refused = Effect.fnUntraced(function* ({ reason }: WebhookSignature.SignatureRefused) {
    yield* say(`a webhook delivery was refused: ${explained[reason]}`)
    return answer(reason === "header_missing" || reason === "timestamp_malformed" ? 400 : 401)
  })

  const unreadable = Effect.fnUntraced(function* ({ reason }: HttpServerError.HttpServerError) {
    if (reason._tag !== "RequestParseError" || reason.reason !== "BodyTooLarge") return answer(400)
    yield* say(`a webhook delivery was refused: it has more than ${ByteSize.format(mostBytes)}`)
    return answer(413)
  })

  const take = Effect.fn("WebhookReceiver.take")(
    function* (request: HttpServerRequest.HttpServerRequest) {
      const body = new Uint8Array(yield* request.arrayBuffer)
      const { id, timestamp } = yield* scheme.verify({ headers: request.headers, body })
      const outcome = yield* ledger.recordDelivery({
        id: Option.getOrElse(id, () => Sha256.hex(body)),
        sentAt: Option.getOrElse(timestamp, () => 0) * 1000,
        taskIds: Option.flatMap(parseJson(new TextDecoder().decode(body)), (payload) =>
          TaskIds.all(payload, webhook.taskIdPaths),
        ),
      })
      yield* Effect.logDebug("a webhook delivery was recorded", { outcome })
      return answer(204)
    },
    Effect.provideService(Mac.Mac, mac),
    Effect.provideService(HttpIncomingMessage.MaxBodySize, mostBytes),
    Effect.catchTags({
      SignatureRefused: refused,
      HttpServerError: unreadable,
      // Sent again by the service, as it does with any failure.
      SqlError: (error) => Effect.as(Effect.logError("a webhook delivery could not be recorded", error), answer(500)),
    }),
  )

  return (request: HttpServerRequest.HttpServerRequest) =>
    request.method === "POST"
      ? Effect.timeoutOrElse(bodies.withPermits(1)(take(request)), {
          duration: longest,
          orElse: () => Effect.succeed(answer(503)),
        })
      : Effect.succeed(answer(405, { allow: "POST" }))
})

const explained: { readonly [Reason in WebhookSignature.SignatureRefused["reason"]]: string } = {
  header_missing: "it has no signature by Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature)",
  timestamp_malformed: "its time is not a number of seconds",
  too_old: "it is older than 5 minutes by this machine's clock",
  too_new: "it is from the future, by more than 5 minutes by this machine's clock",
  no_signature_matches: "its signature fits none of the secrets",
}

/** The route alone, for a router that is served by somebody else. */
export const route = (options: RouteOptions) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const secrets = yield* Effect.forEach(options.secrets, WebhookSignature.readSecret)
      const handler = yield* make(WebhookSignature.standardWebhooks({ secrets }))
      yield* router.add("*", options.path ?? defaultPath, handler)
    }),
  ).pipe(Layer.provide(WebhookSignature.layerMac))

/** Listens while the layer is in use. */
export const layer = (options: ListenOptions) => {
  const { host = "127.0.0.1", path = defaultPath, port = 0 } = options
  const announce = Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const url = `${HttpServer.formatAddress(address)}${path}`
    yield* options.onListening?.(url) ?? Effect.logInfo(`webhooks are received at ${url}`)
  })
  const server = NodeServer.layer({ host, port }).pipe(
    Layer.catchTag("ServeError", ({ cause }) =>
      Layer.effect(HttpServer.HttpServer, Effect.fail(new CannotListen({ host, port, code: codeOf(cause) }))),
    ),
  )
  return Layer.provideMerge(
    Layer.effectDiscard(announce),
    HttpRouter.serve(route(options), { disableLogger: true, disableListenLog: true }),
  ).pipe(Layer.provide(server))
}

const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : String(cause)
