/**
 * A plain shared secret that the service sends along, in `Authorization: Bearer SECRET` or in
 * a header of another name.
 *
 * Guarantees: what came and the secret are compared by their HMACs, so that the time tells
 * neither how much of it is right nor how long the secret is; a wrong one is refused before
 * the body is read.
 *
 * Does not: sign anything. Whoever sees one delivery can make others, so it is only as good
 * as the TLS in front of it.
 */
import { Effect, Redacted } from "effect"
import { Mac } from "effect/crypto"
import { MalformedSecret, matchAny, required, type SignatureScheme } from "./WebhookSignature.ts"

const encoder = new TextEncoder()

/** In any header, and in the setting: `Bearer abc` and `abc` are the same. `Basic abc` is not. */
const bare = (text: string) =>
  encoder.encode(
    text
      .trim()
      .replace(/^bearer(\s+|$)/i, "")
      .trim(),
  )

/** Refuses what can't stand in a header. */
export const readSecret = Effect.fnUntraced(function* (
  text: Redacted.Redacted<string>,
): Effect.fn.Return<Redacted.Redacted<string>, MalformedSecret> {
  const bytes = bare(Redacted.value(text))
  if (bytes.length === 0) return yield* new MalformedSecret({ problem: "it is empty" })
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
    ? text
    : yield* new MalformedSecret({ problem: "it holds characters that no header has" })
})

export interface SharedSecretOptions {
  readonly secrets: ReadonlyArray<Redacted.Redacted<string>>
  /** Default `authorization`. */
  readonly header?: string | undefined
}

export const make = Effect.fnUntraced(function* (options: SharedSecretOptions) {
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
