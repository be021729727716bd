/**
 * GitHub's signatures: the HMAC-SHA256 of the body, written as `sha256=` and hexadecimal digits. The prefix is
 * optional, and base64 is accepted too, for Shopify and Linear. GitHub signs neither a time nor an id: a delivery can
 * be replayed as long as the secret is in use.
 */
import { Effect } from "effect"
import { Mac } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { decoded, fromHex, matchAny, required, type SchemeOptions, type SignatureScheme } from "./WebhookSignature.ts"

export const make = Effect.fnUntraced(function* (options: SchemeOptions) {
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
