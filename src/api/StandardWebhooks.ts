/**
 * Standard Webhooks 1.0.0, symmetric (HMAC-SHA256, `v1`): signs and verifies, with the standard's headers or Svix's.
 *
 * Guarantees: the signature covers `id.timestamp.body`, byte for byte. Signatures of other versions (`v1a`, ed25519)
 * are ignored.
 */
import { Bytes, Effect, Redacted, Result } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import {
  decoded,
  fresh,
  MalformedSecret,
  matchAny,
  required,
  type SchemeOptions,
  type SignatureScheme,
  type TimedOptions,
  type WebhookSecret,
  readTolerance,
} from "./WebhookSignature.ts"

const prefix = "whsec_"
const secretBytes = { min: 24, max: 64, drawn: 32 }

const malformed = (problem: string) => Effect.fail(new MalformedSecret({ problem }))

/** Reads a secret: `whsec_` and the base64 of 24 to 64 bytes. */
export const readSecret = Effect.fnUntraced(function* (
  text: Redacted.Redacted<string>,
): Effect.fn.Return<WebhookSecret, MalformedSecret> {
  const value = Redacted.value(text).trim()
  if (!value.startsWith(prefix)) return yield* malformed(`expected it to begin with ${prefix}`)
  const bytes = Base64.decode(value.slice(prefix.length))
  if (Result.isFailure(bytes)) return yield* malformed(`expected base64 after ${prefix}`)
  const { length } = bytes.success
  if (length < secretBytes.min || length > secretBytes.max) {
    return yield* malformed(`expected ${secretBytes.min} to ${secretBytes.max} bytes, found ${length}`)
  }
  return yield* Effect.orDie(Mac.key(Mac.hmacSha256, bytes.success))
})

/** Creates a secret of 256 random bits. */
export const drawSecret = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(secretBytes.drawn)
  return Redacted.make(prefix + Base64.encode(bytes), { label: "webhook secret" })
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))

const encoder = new TextEncoder()

const contentOf = (id: string, timestamp: string, body: Uint8Array) =>
  Bytes.concat([encoder.encode(`${id}.${timestamp}.`), body])

/** Returns the headers for one delivery attempt, with one signature per secret. */
export const sign = Effect.fn("StandardWebhooks.sign")(function* (
  attempt: {
    /** The id must not contain a full stop. */
    readonly id: string
    /** Whole seconds since 1970. */
    readonly timestamp: number
    readonly body: Uint8Array
  },
  secrets: ReadonlyArray<WebhookSecret>,
) {
  const mac = yield* Mac.Mac
  const timestamp = String(attempt.timestamp)
  const content = contentOf(attempt.id, timestamp, attempt.body)
  const tags = yield* Effect.forEach(secrets, (secret) => Effect.orDie(mac.sign(secret, content)))
  return {
    "webhook-id": attempt.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": tags.map((tag) => `v1,${Base64.encode(tag)}`).join(" "),
  }
})

export interface StandardWebhooksOptions extends Pick<SchemeOptions, "secrets">, TimedOptions {
  /** Prefix of the header names. */
  readonly headers?: "webhook" | "svix" | undefined
}

export const make = Effect.fnUntraced(function* (options: StandardWebhooksOptions) {
  const mac = yield* Mac.Mac
  const names = options.headers ?? "webhook"
  const tolerance = yield* readTolerance(options.tolerance)
  const headersOf = { id: `${names}-id`, timestamp: `${names}-timestamp`, signature: `${names}-signature` }
  return {
    name: names === "svix" ? "svix" : "standard-webhooks",
    headers: Object.values(headersOf),
    tolerance,
    open: Effect.fn("StandardWebhooks.open")(function* ({ headers }) {
      const id = yield* required(headers, headersOf.id)
      const written = yield* required(headers, headersOf.timestamp)
      const given = yield* required(headers, headersOf.signature)
      const timestamp = yield* fresh(written, tolerance)
      // The values of a repeated header are joined by a comma.
      const tags = given
        .split(/,?\s+/)
        .filter((text) => text.startsWith("v1,"))
        .flatMap((text) => decoded(Base64.decode(text.slice("v1,".length))))
      return (body) => Effect.as(matchAny(mac, options.secrets, contentOf(id, written, body), tags), { id, timestamp })
    }),
  } satisfies SignatureScheme
})
