/**
 * A shared secret in `Authorization: Bearer SECRET` or in another header. It is checked before the body is read, by
 * comparing HMACs, so that timing reveals neither content nor length. Deliveries are not signed: anyone who sees one
 * delivery can forge others. The scheme is therefore only as safe as the TLS connection.
 */
import { type Array as Arr, Effect } from "effect"
import { Mac } from "effect/crypto"
import { MalformedSecret, type SecretInput, textOf } from "./WebhookSecret.ts"
import { matchAny, requireHeaders, type SignatureScheme } from "./WebhookSignature.ts"

const encoder = new TextEncoder()

/** `Bearer abc` and `abc` are the same secret, in the header and in the setting. `Basic abc` is a different one. */
const bare = (text: string) =>
  encoder.encode(
    text
      .trim()
      .replace(/^bearer(\s+|$)/i, "")
      .trim(),
  )

const readSecret = Effect.fnUntraced(function* (secret: SecretInput) {
  const text = yield* textOf(secret)
  const bytes = bare(text)
  if (bytes.length === 0) return yield* new MalformedSecret({ problem: "it is empty" })
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
    ? { text, bytes }
    : yield* new MalformedSecret({ problem: "it contains characters that are not allowed in a header" })
})

export const make = Effect.fnUntraced(function* (
  { header: name }: { readonly header: string },
  inputs: Arr.NonEmptyReadonlyArray<SecretInput>,
  scheme: string,
) {
  const mac = yield* Mac.Mac
  const header = name.toLowerCase()
  const secrets = yield* Effect.forEach(inputs, readSecret)
  // Web Crypto makes keys asynchronously, but handlers are created synchronously. The first delivery makes the key.
  const keyed = yield* Effect.cached(
    Effect.gen(function* () {
      const key = yield* mac.generateKey(Mac.hmacSha256)
      return { key, tags: yield* Effect.forEach(secrets, ({ bytes }) => mac.sign(key, bytes)) }
    }).pipe(Effect.orDie),
  )
  return {
    open: Effect.fn("SharedSecret.open")(function* ({ headers }) {
      yield* requireHeaders(headers, [header], scheme)
      const { key, tags } = yield* keyed
      yield* matchAny(
        mac,
        [key],
        bare(headers[header]!),
        tags,
        `the secret in its header ${header} matches none of the configured secrets`,
      )
      return () => Effect.succeed({})
    }),
    sign: () => Effect.succeed({ [header]: secrets[0].text }),
  } satisfies SignatureScheme
})
