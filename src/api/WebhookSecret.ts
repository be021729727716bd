/** Reads webhook secrets in the forms in which services write them. No error repeats a secret. */
import { Effect, Predicate, Redacted, Result, Schema } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { Base64, Hex } from "effect/encoding"

/** The key that is made from a secret. If it is printed, only its algorithm is shown. */
export type WebhookSecret = Mac.Key

/** A secret as the user sets it. */
export type SecretInput = Redacted.Redacted<string> | string

/**
 * How a secret is written:
 *
 * - `text`: the key is the text in UTF-8
 * - `hex`, `base64`: the text is the key in this encoding
 * - `whsec`: `whsec_` and the base64 of 16 to 64 bytes, as in Standard Webhooks
 */
export type SecretForm = "text" | "hex" | "base64" | "whsec"

/** The text is not a valid secret. The error does not repeat the text. */
export class MalformedSecret extends Schema.TaggedError<MalformedSecret>()("MalformedSecret", {
  /** The reason why the text is not a valid secret, such as `it is empty`. */
  problem: Schema.String,
}) {
  override get message() {
    return `not a webhook secret: ${this.problem}`
  }
}

const malformed = (problem: string) => Effect.fail(new MalformedSecret({ problem }))

/** Returns the text of a secret without the spaces around it. Checks the type, since JavaScript can pass any value. */
export const textOf = (secret: SecretInput): Effect.Effect<string, MalformedSecret> => {
  const value: unknown = Redacted.isRedacted(secret) ? Redacted.value(secret) : secret
  if (!Predicate.isString(value)) return malformed("expected a text")
  return value.trim() === "" ? malformed("it is empty") : Effect.succeed(value.trim())
}

const prefix = "whsec_"
/** Standard Webhooks asks for at least 24 bytes. `min` is lower, because an example in Svix's documentation has 18. */
const secretBytes = { min: 16, max: 64, drawn: 32 }

const keyOf = Effect.fnUntraced(function* (
  text: string,
  form: SecretForm,
): Effect.fn.Return<Uint8Array, MalformedSecret> {
  if (form === "text") return new TextEncoder().encode(text)
  if (form === "whsec" && !text.startsWith(prefix)) return yield* malformed(`expected it to begin with ${prefix}`)
  const bytes = form === "hex" ? Hex.decode(text) : Base64.decode(form === "whsec" ? text.slice(prefix.length) : text)
  if (Result.isFailure(bytes)) return yield* malformed(`expected ${form === "whsec" ? `base64 after ${prefix}` : form}`)
  const { length } = bytes.success
  if (form === "whsec" && (length < secretBytes.min || length > secretBytes.max)) {
    return yield* malformed(`expected ${secretBytes.min} to ${secretBytes.max} bytes, found ${length}`)
  }
  return bytes.success
})

export const read = Effect.fnUntraced(function* (
  secret: SecretInput,
  form: SecretForm = "text",
  algorithm: Mac.Algorithm = Mac.hmacSha256,
): Effect.fn.Return<WebhookSecret, MalformedSecret> {
  return yield* Effect.orDie(Mac.key(algorithm, yield* keyOf(yield* textOf(secret), form)))
})

export const generate = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(secretBytes.drawn)
  return Redacted.make(prefix + Base64.encode(bytes), { label: "webhook secret" })
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))
