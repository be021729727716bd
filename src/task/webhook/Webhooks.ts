/**
 * Verifies webhooks without a ledger: a function of headers and body, and handlers for Fetch servers and `node:http`.
 * Your code gets no content before the signature is verified. Bodies are limited in size and time. A repeated delivery
 * is accepted within the tolerance, or always if the signature covers no timestamp. This file loads no Node module.
 */
import { ByteSize, Effect, Logger, Option, Predicate, Stream } from "effect"
import { MalformedSecret } from "../../api/WebhookSecret.ts"
import * as WebhookScheme from "../../api/WebhookScheme.ts"
import {
  type DeliveryHead,
  InvalidWebhookSetting,
  layerMac,
  SignatureRefused,
  type VerifiedDelivery,
} from "../../api/WebhookSignature.ts"
import * as SteadyClock from "../../io/SteadyClock.ts"
import type { IncomingMessage, ServerResponse } from "../../node/HttpServer.ts"
import * as Bodies from "./Bodies.ts"

export { schemes, type SchemeName, type WebhookScheme } from "../../api/WebhookScheme.ts"
export type { SignatureSettings } from "../../api/HmacSignature.ts"
export type { SecretForm, SecretInput } from "../../api/WebhookSecret.ts"
export { type ReceivedDelivery, type VerifiedDelivery } from "../../api/WebhookSignature.ts"
export { InvalidWebhookSetting, MalformedSecret, SignatureRefused }
export { BodyRefused } from "./Bodies.ts"

/** Headers of a request: Fetch's `Headers`, `headers` of `node:http`, or another object. Names may be in any case. */
export type HeadersInput =
  | Iterable<readonly [string, string]>
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** A delivery to verify. */
export interface UnverifiedDelivery {
  /** Headers of the request. */
  readonly headers: HeadersInput
  /** The body as received: bytes or text, before anything parses it. */
  readonly body: Uint8Array | string
  /** Path and query of the request, for a custom `verify` function. Default `/`. */
  readonly url?: string | undefined
}

const lowerCase = (headers: HeadersInput): DeliveryHead["headers"] =>
  Object.fromEntries(
    (Symbol.iterator in headers ? [...headers] : Object.entries(headers)).map(([name, value]) => [
      name.toLowerCase(),
      Predicate.isString(value) ? value : value?.join(", "),
    ]),
  )

const invalid = (setting: string, problem: string) => new InvalidWebhookSetting({ setting, problem })

/**
 * Returns a function that verifies deliveries, with the time of Effect's `Clock`. The returned function fails with
 * `SignatureRefused`, or with `InvalidWebhookSetting` if headers or body have a wrong type, such as a parsed body.
 */
export const verifier = Effect.fnUntraced(function* (options: WebhookScheme.WebhookScheme) {
  const scheme = yield* WebhookScheme.make(options)
  return Effect.fnUntraced(function* (delivery: UnverifiedDelivery) {
    const { body, headers, url = "/" } = delivery
    if (!Predicate.isObjectKeyword(headers)) return yield* invalid("headers", "expected the headers of the request")
    if (!Predicate.isString(body) && !(body instanceof Uint8Array)) {
      return yield* invalid("body", "expected the raw body, as bytes or text: verify it before anything parses it")
    }
    const check = yield* scheme.open({ url, headers: lowerCase(headers) })
    return yield* check(Predicate.isString(body) ? new TextEncoder().encode(body) : body)
  })
}, Effect.provide(layerMac))

/** A verified delivery. */
export interface AcceptedDelivery extends VerifiedDelivery, DeliveryHead {
  /** The body as received. */
  readonly body: Uint8Array
  /** The body as UTF-8 text. */
  readonly text: string
}

/** How to verify deliveries and handle their requests. */
export type HandlerOptions = WebhookScheme.WebhookScheme & {
  /** Maximum size of a body. Default 1 MiB. */
  readonly bodyLimit?: ByteSize.Input | undefined
  /** Called for each refusal (anybody can cause them). Default: logs at most one per minute, to stderr. */
  readonly onRefused?: ((refused: SignatureRefused | Bodies.BodyRefused) => void) | undefined
}

/** Handles a verified delivery, and may return the response. Default: 204, or 500 if the function fails. */
export type Handle = (delivery: AcceptedDelivery) => PromiseLike<Response | void> | Response | void

interface IncomingRequest extends DeliveryHead {
  readonly method: string | undefined
  readonly isRead: boolean
  readonly stream: Bodies.IncomingBody["stream"]
}

const respond = (status: number, headers: Record<string, string> = {}) => new Response(null, { status, headers })

const logInterval = 60_000

/** Handlers log to stderr, because the program may write data to stdout. */
const stderr = Logger.layer([Logger.withConsoleError(Logger.formatSimple)])

const make = (options: HandlerOptions, handle: Handle) =>
  Effect.gen(function* () {
    const scheme = yield* WebhookScheme.make(options)
    if (!Predicate.isFunction(handle)) return yield* invalid("handle", "expected a function")
    const { bodyLimit, onRefused } = options
    const limit = bodyLimit === undefined ? Option.some(Bodies.defaultLimit) : ByteSize.fromInput(bodyLimit)
    if (Option.isNone(limit)) return yield* invalid("bodyLimit", "expected a size, such as 1 MiB")
    const bodies = Bodies.make(limit.value)
    let lastLogged = Number.NEGATIVE_INFINITY

    const refused = Effect.fnUntraced(function* (error: SignatureRefused | Bodies.BodyRefused) {
      const now = yield* SteadyClock.now
      if (onRefused !== undefined) onRefused(error)
      else if (now - lastLogged >= logInterval) {
        lastLogged = now
        yield* Effect.logWarning(error.message)
      }
      return respond(error.status, error.status === 415 ? { "accept-encoding": "identity" } : {})
    })

    return Effect.fnUntraced(
      function* ({ headers, isRead, method, stream, url }: IncomingRequest) {
        if (method !== "POST") return respond(405, { allow: "POST" })
        if (isRead)
          return yield* Effect.die(
            "other code has already read the body of the request: call the webhook handler before any body parser",
          )
        yield* bodies.accept({ headers })
        const check = yield* scheme.open({ url, headers })
        const body = yield* bodies.read({ headers, stream })
        const verified = yield* check(body)
        const delivery = { ...verified, url, headers, body, text: new TextDecoder().decode(body) }
        const response = yield* Effect.promise(() => Promise.resolve(delivery).then(handle))
        return response ?? respond(204)
      },
      Effect.scoped,
      Effect.catchTags({ SignatureRefused: refused, BodyRefused: refused }),
      Effect.catchDefect((cause) =>
        Effect.as(Effect.logError("a webhook delivery could not be handled", cause), respond(500)),
      ),
      Effect.provide(stderr),
    )
  }).pipe(Effect.provide([layerMac, stderr]), Effect.runSync)

/**
 * A handler for Fetch: Hono, Next.js, Bun, Deno, Workers. Throws `InvalidWebhookSetting` or `MalformedSecret` if the
 * options are invalid. The promises of the returned handler never reject.
 */
export const fetchHandler = (options: HandlerOptions, handle: Handle): ((request: Request) => Promise<Response>) => {
  const receive = make(options, handle)
  return (request) =>
    Effect.runPromise(
      receive({
        method: request.method,
        url: request.url.replace(/^\w+:\/\/[^/]*/, ""),
        headers: lowerCase(request.headers),
        isRead: request.bodyUsed,
        stream:
          request.body === null
            ? Stream.empty
            : Stream.fromReadableStream({ evaluate: () => request.body!, onError: (cause) => cause }),
      }),
    )
}

/** Like `fetchHandler`, but for `node:http` or Express. In Express, add this handler before any body parser. */
export const nodeHandler = (
  options: HandlerOptions,
  handle: Handle,
): ((request: IncomingMessage, response: ServerResponse) => Promise<void>) => {
  const receive = make(options, handle)
  return (request, response) =>
    Effect.runPromise(
      receive({
        method: request.method,
        url: request.url!,
        headers: lowerCase(request.headers),
        isRead: request.readableDidRead,
        // Without `destroyOnReturn: false`, the connection would close before the answer is sent.
        stream: Stream.fromAsyncIterable(request.iterator({ destroyOnReturn: false }), (cause) => cause),
      }).pipe(
        Effect.flatMap((answer) =>
          Effect.map(
            Effect.promise(() => answer.arrayBuffer()),
            (body) => {
              const headers = Object.fromEntries(answer.headers)
              response.writeHead(answer.status, request.complete ? headers : { ...headers, connection: "close" })
              response.end(new Uint8Array(body))
            },
          ),
        ),
        Effect.catchDefect(() => Effect.sync(() => void response.destroy())),
      ),
    )
}
