/**
 * Signatures as Stripe makes them: a header `t=TIME,v1=SIGNATURE`, in which `v1` may stand
 * several times; HMAC-SHA256 of `TIME.BODY`, in hexadecimal digits.
 *
 * Guarantees: signatures of other versions (`v0`) are passed over; a header that names two
 * times is refused. The time is signed, an id is not: see `WebhookReceiver` for what stands
 * in for it.
 */
import { Bytes, type Duration, Effect } from "effect"
import { Mac } from "effect/crypto"
import {
  fresh,
  fromHex,
  matchAny,
  refuse,
  required,
  type SignatureScheme,
  type WebhookSecret,
  readTolerance,
} from "./WebhookSignature.ts"

const encoder = new TextEncoder()

export interface StripeSignatureOptions {
  /** All characters of a secret count, its `whsec_` too. */
  readonly secrets: ReadonlyArray<WebhookSecret>
  /** Default `stripe-signature`. */
  readonly header?: string | undefined
  /** 1 second to 1 hour, by default 5 minutes. */
  readonly tolerance?: Duration.Input | undefined
}

export const make = Effect.fnUntraced(function* (options: StripeSignatureOptions) {
  const mac = yield* Mac.Mac
  const header = (options.header ?? "stripe-signature").toLowerCase()
  const tolerance = yield* readTolerance(options.tolerance)
  return {
    name: "stripe",
    headers: [header],
    tolerance,
    open: Effect.fn("StripeSignature.open")(function* ({ headers }) {
      const given = yield* required(headers, header)
      const parts = given.split(",").map((part) => part.trim())
      const valuesOf = (name: string) =>
        parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1))
      const [written, ...others] = new Set(valuesOf("t"))
      if (written === undefined || others.length > 0) return yield* refuse("header_malformed")
      const timestamp = yield* fresh(written, tolerance)
      const tags = valuesOf("v1").flatMap(fromHex)
      return (body) =>
        Effect.as(matchAny(mac, options.secrets, Bytes.concat([encoder.encode(`${written}.`), body]), tags), {
          timestamp,
        })
    }),
  } satisfies SignatureScheme
})
