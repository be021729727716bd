/**
 * Webhook signatures: Standard Webhooks 1.0.0, symmetric (HMAC-SHA256, `v1`), for the
 * service that signs and for the client that verifies.
 *
 * Guarantees: what is signed is `id.timestamp.body`, byte for byte; a delivery is verified
 * by its headers and raw body before anything in the body is read; signatures are compared
 * in a time that does not depend on how much of a wrong one is right; a secret stands in no
 * error and no log. A delivery counts if any of its signatures was made with any of the
 * secrets, so that secrets can be changed on either side without a gap.
 *
 * Does not: remember ids. Within the tolerance a delivery can be sent again by whoever saw
 * it; `webhook-id` tells the receiver so. Signatures of other versions (`v1a`, ed25519) are
 * passed over. Other schemes come as further functions that return a `SignatureScheme`.
 */
import { Bytes, Clock, Duration, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"

/** A delivery as it came. Names of headers in lower case. */
export interface ReceivedDelivery {
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: Uint8Array
}

/** What a signature vouches for besides the body; a scheme may know neither. */
export interface VerifiedDelivery {
  /** The same for each attempt of one message. */
  readonly id: Option.Option<string>
  /** Of the attempt, in seconds since 1970. */
  readonly timestamp: Option.Option<number>
}

export class SignatureRefused extends Schema.TaggedError<SignatureRefused>()("SignatureRefused", {
  reason: Schema.Literals(["header_missing", "timestamp_malformed", "too_old", "too_new", "no_signature_matches"]),
}) {
  override get message() {
    return `the webhook's signature was refused: ${this.reason}`
  }
}

/** One way to tell a genuine delivery from a forged one. */
export interface SignatureScheme {
  readonly name: string
  readonly verify: (delivery: ReceivedDelivery) => Effect.Effect<VerifiedDelivery, SignatureRefused, Mac.Mac>
}

/** HMAC by the platform's WebCrypto, for `sign` and `verify`. */
export const layerMac: Layer.Layer<Mac.Mac> = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))

// Secrets

const prefix = "whsec_"
const secretBytes = { least: 24, most: 64, drawn: 32 }

/** A secret, ready for use. Shown anywhere it shows its algorithm only. */
export type WebhookSecret = Mac.Key<typeof Mac.hmacSha256>

/** The text is no secret by Standard Webhooks. It is not repeated here. */
export class MalformedSecret extends Schema.TaggedError<MalformedSecret>()("MalformedSecret", {
  problem: Schema.String,
}) {
  override get message() {
    return `not a webhook secret: ${this.problem}`
  }
}

const malformed = (problem: string) => Effect.fail(new MalformedSecret({ problem }))

/** Reads `whsec_` and the base64 of 24 to 64 bytes. */
export const readSecret = Effect.fnUntraced(function* (
  text: Redacted.Redacted<string>,
): Effect.fn.Return<WebhookSecret, MalformedSecret> {
  const value = Redacted.value(text).trim()
  if (!value.startsWith(prefix)) return yield* malformed(`expected it to begin with ${prefix}`)
  const bytes = Base64.decode(value.slice(prefix.length))
  if (Result.isFailure(bytes)) return yield* malformed(`expected base64 after ${prefix}`)
  const { length } = bytes.success
  if (length < secretBytes.least || length > secretBytes.most) {
    return yield* malformed(`expected ${secretBytes.least} to ${secretBytes.most} bytes, found ${length}`)
  }
  return yield* Effect.orDie(Mac.key(Mac.hmacSha256, bytes.success))
})

/** A new secret of 256 random bits. */
export const drawSecret = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(secretBytes.drawn)
  return Redacted.make(prefix + Base64.encode(bytes), { label: "webhook secret" })
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))

// Signatures

const encoder = new TextEncoder()

const signature = Effect.fnUntraced(function* (
  secret: WebhookSecret,
  id: string,
  timestamp: string,
  body: Uint8Array,
): Effect.fn.Return<string, never, Mac.Mac> {
  const mac = yield* Mac.Mac
  const head = encoder.encode(`${id}.${timestamp}.`)
  return `v1,${Base64.encode(yield* Effect.orDie(mac.sign(secret, Bytes.concat([head, body]))))}`
})

/** The headers of one attempt: a signature by each of the secrets. */
export const sign = Effect.fn("WebhookSignature.sign")(function* (
  attempt: {
    /** Without a full stop. */
    readonly id: string
    /** Seconds since 1970, whole. */
    readonly timestamp: number
    readonly body: Uint8Array
  },
  secrets: ReadonlyArray<WebhookSecret>,
) {
  const { body, id } = attempt
  const timestamp = String(attempt.timestamp)
  const signatures = yield* Effect.forEach(secrets, (secret) => signature(secret, id, timestamp, body))
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") }
})

/** How far a delivery's clock may be from ours, either way. */
const defaultTolerance = Duration.seconds(300)

export interface StandardWebhooksOptions {
  readonly secrets: ReadonlyArray<WebhookSecret>
  /** Default 5 minutes. */
  readonly tolerance?: Duration.Input | undefined
}

/** Standard Webhooks 1.0.0: `webhook-id`, `webhook-timestamp`, `webhook-signature`. */
export const standardWebhooks = (options: StandardWebhooksOptions): SignatureScheme => {
  const tolerance = Duration.toSeconds(options.tolerance ?? defaultTolerance)
  return {
    name: "standard-webhooks",
    verify: Effect.fn("WebhookSignature.verify")(function* ({ body, headers }) {
      const refuse = (reason: SignatureRefused["reason"]) => Effect.fail(new SignatureRefused({ reason }))
      const id = headers["webhook-id"] ?? ""
      const written = headers["webhook-timestamp"] ?? ""
      const given = headers["webhook-signature"] ?? ""
      if (id === "" || written === "" || given === "") return yield* refuse("header_missing")

      if (!/^\d{1,12}$/.test(written)) return yield* refuse("timestamp_malformed")
      const timestamp = Number(written)
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      if (now - timestamp > tolerance) return yield* refuse("too_old")
      if (timestamp - now > tolerance) return yield* refuse("too_new")

      const candidates = given.split(" ").map((text) => encoder.encode(text))
      const expected = yield* Effect.forEach(options.secrets, (secret) => signature(secret, id, written, body))
      const matches = expected
        .map((text) => encoder.encode(text))
        .some((bytes) => candidates.some((candidate) => Mac.timingSafeEqual(candidate, bytes)))
      if (!matches) return yield* refuse("no_signature_matches")
      return { id: Option.some(id), timestamp: Option.some(timestamp) }
    }),
  }
}
