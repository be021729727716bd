/**
 * Types and checks that all webhook signature schemes share. Signatures cover the raw bytes of the body, and are
 * compared in constant time. One signature that matches any of the secrets is enough, so that secrets can be rotated.
 * Replays are not detected. If the time is signed, a replay is accepted only within the tolerance.
 */
import { type Duration, Effect, Layer, Schema } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import type { WebhookSecret } from "./WebhookSecret.ts"

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
  /** The id of the message. All attempts to deliver it have the same id. */
  readonly id?: string | undefined
  /** Time of the attempt, in seconds since 1970. */
  readonly timestamp?: number | undefined
}

/** An attempt to deliver a message, before it is signed. */
export interface Attempt {
  /** The id must not contain a period, because a period separates it from the time in the signed text. */
  readonly id: string
  /** Whole seconds since 1970. */
  readonly timestamp: number
  readonly body: Uint8Array
}

/** A webhook delivery is refused because of its signature or its signed time. */
export class SignatureRefused extends Schema.TaggedError<SignatureRefused>()("SignatureRefused", {
  /** `too_old`, `too_new`: the delivery's timestamp and this machine's clock differ by more than the tolerance. */
  reason: Schema.Literals([
    "header_missing",
    "header_malformed",
    "timestamp_malformed",
    "too_old",
    "too_new",
    "no_signature_matches",
  ]),
  /** The reason in words, such as `it is not signed`, without secrets and signatures. Default: see `why`. */
  detail: Schema.optionalKey(Schema.String),
}) {
  /** The reason in words: `detail`, or else the default for `reason`. */
  get why() {
    return this.detail ?? reasons[this.reason]
  }
  /** The HTTP status of the response: 400 if a header or the time is missing or malformed, else 401. */
  get status() {
    return /missing|malformed/.test(this.reason) ? 400 : 401
  }
  override get message() {
    return `the webhook delivery was refused: ${this.why}`
  }
}

const reasons: { readonly [Reason in SignatureRefused["reason"]]: string } = {
  header_missing: "it is not signed",
  header_malformed: "it has a malformed signature",
  timestamp_malformed: "its timestamp is not a number of seconds",
  too_old: "by this machine's clock, it is too old",
  too_new: "by this machine's clock, its timestamp is too far in the future",
  no_signature_matches: "its signature matches none of the configured secrets",
}

export const refuse = (reason: SignatureRefused["reason"], detail?: string) =>
  Effect.fail(new SignatureRefused({ reason, ...(detail !== undefined && { detail }) }))

/** Headers that suggest how a delivery is signed. An error lists them, in case the wrong scheme is set. */
const signatureLike = /^(?!x-forwarded)(.*(signature|hmac|digest|secret|token).*|(webhook|svix)-.*|authorization)$/

export const requireHeaders = (headers: DeliveryHead["headers"], names: ReadonlyArray<string>, scheme: string) => {
  const missing = names.filter((name) => (headers[name] ?? "") === "")
  if (missing.length === 0) return Effect.void
  const others = Object.keys(headers).filter((name) => name.length <= 60 && signatureLike.test(name))
  const hint =
    others.length === 0
      ? ""
      : `. The delivery has ${others.slice(0, 5).join(", ")}. Check that the service signs with the scheme ${scheme}`
  return refuse("header_missing", `it lacks ${missing.join(", ")}, which the scheme ${scheme} requires${hint}`)
}

export interface SignatureScheme {
  /** The name of the header with the delivery's id, if the signature does not cover the id. */
  readonly unsignedId?: string | undefined
  readonly open: (
    head: DeliveryHead,
  ) => Effect.Effect<(body: Uint8Array) => Effect.Effect<VerifiedDelivery, SignatureRefused>, SignatureRefused>
  /** Returns the headers with which the service would send the attempt; no headers for a custom function. */
  readonly sign: (attempt: Attempt) => Effect.Effect<{ readonly [header: string]: string }>
}

export const custom = (
  verify: (delivery: ReceivedDelivery) => Effect.Effect<VerifiedDelivery, SignatureRefused>,
): SignatureScheme => ({
  open: (head) => Effect.succeed((body) => verify({ ...head, body })),
  sign: () => Effect.succeed({}),
})

/** A setting or an argument for verifying or handling webhooks is invalid or missing. */
export class InvalidWebhookSetting extends Schema.TaggedError<InvalidWebhookSetting>()("InvalidWebhookSetting", {
  /** The name of the setting, such as `header`. */
  setting: Schema.String,
  /** Says what was expected. The error does not repeat the value. */
  problem: Schema.String,
}) {
  override get message() {
    return `webhook setting ${this.setting}: ${this.problem}`
  }
}

export const defaultTolerance: Duration.Input = "5 minutes"

/** Maximum of `tolerance`. Receivers remember delivery ids for twice this time, so no delivery is accepted twice. */
export const maxTolerance: Duration.Input = "1 hour"

export const layerMac: Layer.Layer<Mac.Mac> = Mac.layerWebCrypto.pipe(Layer.provide(SecureRandom.layerWebCrypto))

export const matchAny = Effect.fnUntraced(function* (
  mac: Mac.Mac["Service"],
  secrets: ReadonlyArray<WebhookSecret>,
  content: Uint8Array,
  tags: ReadonlyArray<Uint8Array>,
  detail?: string,
) {
  const expected = yield* Effect.forEach(secrets, (secret) => Effect.orDie(mac.sign(secret, content)))
  const matches = expected.some((tag) => tags.some((candidate) => Mac.timingSafeEqual(candidate, tag)))
  if (!matches) return yield* refuse("no_signature_matches", detail)
})
