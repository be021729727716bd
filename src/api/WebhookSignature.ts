/**
 * What it takes to tell a genuine webhook delivery from a forged one: the words, and the
 * parts that the schemes share. The schemes stand in files of their own; `WebhookScheme`
 * names them.
 *
 * Guarantees: what can be refused by its headers is refused before the body is read; a
 * signature is made over the raw body, byte for byte, and verified before anything in the
 * body is read; signatures are compared in a time that does not depend on how much of a wrong
 * one is right; a secret stands in no error and no log. A delivery counts if any of its
 * signatures was made with any of the secrets, so that secrets can be changed on either side
 * without a gap.
 *
 * Does not: remember deliveries. Where a time is signed, a delivery can be sent again within
 * the tolerance by whoever saw it; where none is, at any time.
 */
import { Clock, Duration, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"

/** What a delivery begins with. Names of headers in lower case; values of one that came twice are joined by `, `. */
export interface DeliveryHead {
  /** Path and query, as they were asked for. */
  readonly url: string
  readonly headers: { readonly [name: string]: string | undefined }
}

/** A delivery as it came. */
export interface ReceivedDelivery extends DeliveryHead {
  readonly body: Uint8Array
}

/** What a signature vouches for besides the body; a scheme may know neither. */
export interface VerifiedDelivery {
  /** The same for each attempt of one message. */
  readonly id?: string | undefined
  /** Of the attempt, in seconds since 1970. */
  readonly timestamp?: number | undefined
}

export class SignatureRefused extends Schema.TaggedError<SignatureRefused>()("SignatureRefused", {
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

/** A header without which a delivery is refused. */
export const required = (headers: DeliveryHead["headers"], name: string) => {
  const value = headers[name] ?? ""
  return value === "" ? refuse("header_missing") : Effect.succeed(value)
}

/** One way to tell a genuine delivery from a forged one. */
export interface SignatureScheme {
  /** As it is set. */
  readonly name: string
  /** The headers without which a delivery is refused. */
  readonly headers: ReadonlyArray<string>
  /** How far a delivery's clock may be from ours, either way, where it signs a time. */
  readonly tolerance?: Duration.Duration | undefined
  /** Looks at what a delivery begins with, and gives what is to be done with its body. */
  readonly open: (
    head: DeliveryHead,
  ) => Effect.Effect<(body: Uint8Array) => Effect.Effect<VerifiedDelivery, SignatureRefused>, SignatureRefused>
}

/** A way of the user's own, which sees the whole delivery. */
export const own = (
  verify: (delivery: ReceivedDelivery) => Effect.Effect<VerifiedDelivery, SignatureRefused>,
): SignatureScheme => ({
  name: "a function of one's own",
  headers: [],
  open: (head) => Effect.succeed((body) => verify({ ...head, body })),
})

/** HMAC by the platform's WebCrypto. */
export const layerMac: Layer.Layer<Mac.Mac> = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))

/** A secret, ready for use. Shown anywhere it shows its algorithm only. */
export type WebhookSecret = Mac.Key<typeof Mac.hmacSha256>

/** The text is no secret of the scheme. It is not repeated here. */
export class MalformedSecret extends Schema.TaggedError<MalformedSecret>()("MalformedSecret", {
  problem: Schema.String,
}) {
  override get message() {
    return `not a webhook secret: ${this.problem}`
  }
}

const encoder = new TextEncoder()

/** Reads a secret whose characters are the key, as UTF-8. */
export const readText = Effect.fnUntraced(function* (
  text: Redacted.Redacted<string>,
): Effect.fn.Return<WebhookSecret, MalformedSecret> {
  const value = Redacted.value(text).trim()
  if (value === "") return yield* new MalformedSecret({ problem: "it is empty" })
  return yield* Effect.orDie(Mac.key(Mac.hmacSha256, encoder.encode(value)))
})

export const defaultTolerance = Duration.minutes(5)

/** A delivery's id is remembered for twice as long as this: that is how long one from our future stays acceptable. */
export const maxTolerance = Duration.hours(1)

/** Whole seconds are what is signed. */
const shortestTolerance = Duration.seconds(1)

export class MalformedTolerance extends Schema.TaggedError<MalformedTolerance>()("MalformedTolerance", {}) {
  override get message() {
    return "the tolerance of a webhook's time must be 1 second to 1 hour"
  }
}

/** The tolerance that was set, if deliveries can be verified with it. */
export const readTolerance = Effect.fnUntraced(function* (
  given: Duration.Input = defaultTolerance,
): Effect.fn.Return<Duration.Duration, MalformedTolerance> {
  const tolerance = Duration.fromInput(given)
  const isUsable = Option.exists(tolerance, Duration.between({ minimum: shortestTolerance, maximum: maxTolerance }))
  return Option.isSome(tolerance) && isUsable ? tolerance.value : yield* new MalformedTolerance()
})

/** Reads a time in seconds, and refuses one that is further from ours than the tolerance. */
export const fresh = Effect.fnUntraced(function* (written: string, tolerance: Duration.Duration) {
  if (!/^\d{1,12}$/.test(written)) return yield* refuse("timestamp_malformed")
  const timestamp = Number(written)
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  if (now - timestamp > Duration.toSeconds(tolerance)) return yield* refuse("too_old")
  if (timestamp - now > Duration.toSeconds(tolerance)) return yield* refuse("too_new")
  return timestamp
})

/** Refuses unless one of the tags that came is that of the content by one of the secrets. */
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

/** The bytes of a decoding that succeeded. */
export const decoded = (bytes: Result.Result<Uint8Array, unknown>): ReadonlyArray<Uint8Array> =>
  Result.isSuccess(bytes) ? [bytes.success] : []

export const fromHex = (text: string): ReadonlyArray<Uint8Array> => decoded(Hex.decode(text))
