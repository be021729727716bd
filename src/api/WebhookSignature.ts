/**
 * Code that all webhook signature schemes share. `WebhookScheme` names the schemes.
 *
 * Guarantees: headers are checked before the body is read, and signatures over the raw bytes before the body is parsed.
 * Comparison takes constant time. Errors and logs show no secret. One matching signature by any of the secrets is
 * enough, so that secrets can be rotated.
 *
 * Does not remember deliveries: anyone who saw one can send it again. A signed time limits this to the tolerance.
 */
import { Clock, Duration, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"

/** Header names are in lower case. Values of a repeated header are joined by `, `. */
export interface DeliveryHead {
  /** Path and query of the request. */
  readonly url: string
  readonly headers: { readonly [name: string]: string | undefined }
}

/** A delivery as received: its headers and its body. */
export interface ReceivedDelivery extends DeliveryHead {
  /** The bytes as received, which the signature covers. */
  readonly body: Uint8Array
}

/** The signed id and time of a verified delivery, if its scheme signs them. */
export interface VerifiedDelivery {
  /** The id of the message, which all attempts to deliver it share. */
  readonly id?: string | undefined
  /** Time of the attempt, in seconds since 1970. */
  readonly timestamp?: number | undefined
}

/** A delivery is refused. `reason` says why. */
export class SignatureRefused extends Schema.TaggedError<SignatureRefused>()("SignatureRefused", {
  /** `too_old` and `too_new` compare the signed time with this machine's clock and the scheme's tolerance. */
  reason: Schema.Literals([
    "header_missing",
    "header_malformed",
    "timestamp_malformed",
    "too_old",
    "too_new",
    "no_signature_matches",
  ]),
}) {
  override get message() {
    return `the webhook's signature was refused: ${this.reason}`
  }
}

export const refuse = (reason: SignatureRefused["reason"]) => Effect.fail(new SignatureRefused({ reason }))

/** Returns the value of a header, or refuses the delivery if it is missing. */
export const required = (headers: DeliveryHead["headers"], name: string) => {
  const value = headers[name] ?? ""
  return value === "" ? refuse("header_missing") : Effect.succeed(value)
}

export interface SignatureScheme {
  readonly name: string
  /** A delivery without one of these headers is refused. */
  readonly headers: ReadonlyArray<string>
  /**
   * Maximum difference, in either direction, between a delivery's time and our clock. Undefined if the scheme signs no
   * time.
   */
  readonly tolerance?: Duration.Duration | undefined
  /** Checks the headers, and returns a function that checks the body. */
  readonly open: (
    head: DeliveryHead,
  ) => Effect.Effect<(body: Uint8Array) => Effect.Effect<VerifiedDelivery, SignatureRefused>, SignatureRefused>
}

/** Makes a scheme from a custom function. */
export const custom = (
  verify: (delivery: ReceivedDelivery) => Effect.Effect<VerifiedDelivery, SignatureRefused>,
): SignatureScheme => ({
  name: "custom",
  headers: [],
  open: (head) => Effect.succeed((body) => verify({ ...head, body })),
})

export const layerMac: Layer.Layer<Mac.Mac> = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))

/** Printing a key shows only its algorithm. */
export type WebhookSecret = Mac.Key<typeof Mac.hmacSha256>

export interface SchemeOptions<Secret = WebhookSecret> {
  readonly secrets: ReadonlyArray<Secret>
  /** Default: the scheme's usual header. */
  readonly header?: string | undefined
}

export interface TimedOptions {
  /** 1 second to 1 hour. Default 5 minutes. */
  readonly tolerance?: Duration.Input | undefined
}

/** The text is not a secret of the scheme. The error does not repeat it. */
export class MalformedSecret extends Schema.TaggedError<MalformedSecret>()("MalformedSecret", {
  problem: Schema.String,
}) {
  override get message() {
    return `not a webhook secret: ${this.problem}`
  }
}

const encoder = new TextEncoder()

/** Reads a secret whose UTF-8 bytes are the key. */
export const readText = Effect.fnUntraced(function* (
  text: Redacted.Redacted<string>,
): Effect.fn.Return<WebhookSecret, MalformedSecret> {
  const value = Redacted.value(text).trim()
  if (value === "") return yield* new MalformedSecret({ problem: "it is empty" })
  return yield* Effect.orDie(Mac.key(Mac.hmacSha256, encoder.encode(value)))
})

export const defaultTolerance = Duration.minutes(5)

/** Limited, because receivers remember ids for twice this time, as long as a future-dated delivery is valid. */
export const maxTolerance = Duration.hours(1)

/** Signed times are whole seconds. */
const minTolerance = Duration.seconds(1)

export class MalformedTolerance extends Schema.TaggedError<MalformedTolerance>()("MalformedTolerance", {}) {
  override get message() {
    return "the tolerance for a webhook's timestamp must be from 1 second to 1 hour"
  }
}

export const readTolerance = Effect.fnUntraced(function* (
  given: Duration.Input = defaultTolerance,
): Effect.fn.Return<Duration.Duration, MalformedTolerance> {
  const tolerance = Duration.fromInput(given)
  const isUsable = Option.exists(tolerance, Duration.between({ minimum: minTolerance, maximum: maxTolerance }))
  return Option.isSome(tolerance) && isUsable ? tolerance.value : yield* new MalformedTolerance()
})

/** Reads a time in seconds since 1970. Refuses the delivery unless the time is within the tolerance of our clock. */
export const fresh = Effect.fnUntraced(function* (written: string, tolerance: Duration.Duration) {
  if (!/^\d{1,12}$/.test(written)) return yield* refuse("timestamp_malformed")
  const timestamp = Number(written)
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  if (now - timestamp > Duration.toSeconds(tolerance)) return yield* refuse("too_old")
  if (timestamp - now > Duration.toSeconds(tolerance)) return yield* refuse("too_new")
  return timestamp
})

/** Refuses the delivery unless one of the given tags is the HMAC of the content by one of the secrets. */
export const matchAny = Effect.fnUntraced(function* (
  mac: Mac.Mac["Service"],
  secrets: ReadonlyArray<WebhookSecret>,
  content: Uint8Array,
  given: ReadonlyArray<Uint8Array>,
) {
  const expected = yield* Effect.forEach(secrets, (secret) => Effect.orDie(mac.sign(secret, content)))
  const matches = expected.some((tag) => given.some((candidate) => Mac.timingSafeEqual(candidate, tag)))
  if (!matches) return yield* refuse("no_signature_matches")
})

export const decoded = (bytes: Result.Result<Uint8Array, unknown>): ReadonlyArray<Uint8Array> =>
  Result.isSuccess(bytes) ? [bytes.success] : []

export const fromHex = (text: string): ReadonlyArray<Uint8Array> => decoded(Hex.decode(text))
