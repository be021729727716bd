/**
 * Signatures as GitHub makes them: HMAC-SHA256 of the body and nothing else, as
 * `sha256=` and hexadecimal digits. Without `sha256=`, or in base64, as others write the
 * same (Shopify, Linear), it is taken as well.
 *
 * Does not: know a time or an id, for none is signed. A delivery can be replayed for as long
 * as the secret is in use.
 */
import { Effect } from "effect"
import { Mac } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { decoded, fromHex, matchAny, required, type SignatureScheme, type WebhookSecret } from "./WebhookSignature.ts"

export interface GitHubSignatureOptions {
  readonly secrets: ReadonlyArray<WebhookSecret>
  /** Default `x-hub-signature-256`. */
  readonly header?: string | undefined
}

export const make = Effect.fnUntraced(function* (options: GitHubSignatureOptions) {
  const mac = yield* Mac.Mac
  const header = (options.header ?? "x-hub-signature-256").toLowerCase()
  return {
    name: "github",
    headers: [header],
    open: Effect.fn("GitHubSignature.open")(function* ({ headers }) {
      const given = yield* required(headers, header)
      const tags = given
        .split(/[,\s]+/)
        .map((text) => text.replace(/^sha256=/, ""))
        .flatMap((text) => [...fromHex(text), ...decoded(Base64.decode(text))])
      return (body) => Effect.as(matchAny(mac, options.secrets, body, tags), {})
    }),
  } satisfies SignatureScheme
})
