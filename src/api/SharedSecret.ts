/**
 * A shared secret that the service sends in `Authorization: Bearer SECRET` or in another header.
 *
 * Guarantees: secrets are compared by HMAC, so that timing reveals neither content nor length. A wrong secret is
 * refused before the body is read. Nothing is signed: anyone who sees one delivery can forge others, so the scheme is
 * only as safe as the TLS connection.
 */
import { Effect, Redacted } from "effect"
import { Mac } from "effect/crypto"
import { MalformedSecret, matchAny, required, type SchemeOptions, type SignatureScheme } from "./WebhookSignature.ts"

const encoder = new TextEncoder()

/**
 * Treats `Bearer abc` and `abc` as the same secret, in the header and in the setting. `Basic abc` is a different one.
 */
const bare = (text: string) =>
  encoder.encode(
    text
      .trim()
      .replace(/^bearer(\s+|$)/i, "")
      .trim(),
  )

export const readSecret = Effect.fnUntraced(function* (
  text: Redacted.Redacted<string>,
): Effect.fn.Return<Redacted.Redacted<string>, MalformedSecret> {
  const bytes = bare(Redacted.value(text))
  if (bytes.length === 0) return yield* new MalformedSecret({ problem: "it is empty" })
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
    ? text
    : yield* new MalformedSecret({ problem: "it contains characters that are not allowed in a header" })
})

export const make = Effect.fnUntraced(function* (options: SchemeOptions<Redacted.Redacted<string>>) {
  const mac = yield* Mac.Mac
  const key = yield* Effect.orDie(mac.generateKey(Mac.hmacSha256))
  const tags = yield* Effect.forEach(options.secrets, (secret) =>
    Effect.orDie(mac.sign(key, bare(Redacted.value(secret)))),
  )
  const header = (options.header ?? "authorization").toLowerCase()
  return {
    name: "shared-secret",
    headers: [header],
    open: Effect.fn("SharedSecret.open")(function* ({ headers }) {
      const given = yield* required(headers, header)
      yield* matchAny(mac, [key], bare(given), tags)
      return () => Effect.succeed({})
    }),
  } satisfies SignatureScheme
})
