/**
 * Stripe's signatures: a header `t=TIME,v1=SIGNATURE` with one or more `v1`. Each is the HMAC-SHA256 of `TIME.BODY` in
 * hexadecimal digits. Other versions (`v0`) are ignored, and two different times are refused. The key is the whole text
 * of the secret, including `whsec_`.
 */
import { Bytes, Effect } from "effect"
import { Mac } from "effect/crypto"
import {
  fresh,
  fromHex,
  matchAny,
  refuse,
  required,
  type SchemeOptions,
  type SignatureScheme,
  type TimedOptions,
  readTolerance,
} from "./WebhookSignature.ts"

const encoder = new TextEncoder()

export const make = Effect.fnUntraced(function* (options: SchemeOptions & TimedOptions) {
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
