/** Verifies webhook signatures: by a built-in scheme of `table`, by custom settings, or by a custom function. */
import { type Array as Arr, Effect, Predicate } from "effect"
import type { Mac } from "effect/crypto"
import { didYouMean } from "../io/NearestName.ts"
import * as HmacSignature from "./HmacSignature.ts"
import * as SharedSecret from "./SharedSecret.ts"
import { MalformedSecret, type SecretInput } from "./WebhookSecret.ts"
import * as WebhookSignature from "./WebhookSignature.ts"

// prettier-ignore
const table = {
  "standard-webhooks": { header: "webhook-signature", signed: "{id}.{timestamp}.{body}", id: "webhook-id", timestamp: "webhook-timestamp", prefix: "v1,", encoding: "base64", key: "whsec" },
  svix: { header: "svix-signature", signed: "{id}.{timestamp}.{body}", id: "svix-id", timestamp: "svix-timestamp", prefix: "v1,", encoding: "base64", key: "whsec" },
  stripe: { header: "stripe-signature", signed: "{timestamp}.{body}", timestamp: "t=", prefix: "v1=" },
  github: { header: "x-hub-signature-256", prefix: "sha256=", id: "x-github-delivery" },
  slack: { header: "x-slack-signature", signed: "v0:{timestamp}:{body}", timestamp: "x-slack-request-timestamp", prefix: "v0=" },
  shopify: { header: "x-shopify-hmac-sha256", encoding: "base64", id: "x-shopify-webhook-id" },
  linear: { header: "linear-signature", id: "linear-delivery" },
  zoom: { header: "x-zm-signature", signed: "v0:{timestamp}:{body}", timestamp: "x-zm-request-timestamp", prefix: "v0=" },
  typeform: { header: "typeform-signature", encoding: "base64", prefix: "sha256=" },
  toloka: { header: "toloka-signature", signed: "{timestamp}.1.{body}", timestamp: "ts=", unit: "ms", prefix: "sign=" },
  datasaur: { header: "x-datasaur-signature" },
  labelbox: { header: "x-hub-signature-256", prefix: "sha256=", id: "x-labelbox-id" },
  prolific: { header: "x-prolific-request-signature", signed: "{timestamp}{body}", timestamp: "x-prolific-request-timestamp", encoding: "base64" },
  "shared-secret": { header: "authorization", digest: "none" },
} as const satisfies { readonly [name: string]: HmacSignature.SignatureSettings }

/** The name of a scheme in `schemes`. */
export type SchemeName = keyof typeof table

/** Settings by scheme. The first is the default. To customize one: `{ ...schemes.stripe, header: "x-vendor" }`. */
export const schemes: { readonly [Name in SchemeName]: HmacSignature.SignatureSettings } = table

const isName = (name: string): name is SchemeName => Object.hasOwn(schemes, name)

export const names = Object.keys(schemes).filter(isName)

/** How deliveries are verified: by a scheme and secrets, or by a custom function. */
export type WebhookScheme =
  | {
      /** A name from `schemes`, or the settings of a custom scheme. Default: `standard-webhooks`. */
      readonly scheme?: SchemeName | HmacSignature.SignatureSettings | undefined
      /** One secret, or several while a secret is rotated. */
      readonly secrets: Arr.NonEmptyReadonlyArray<SecretInput>
      readonly verify?: undefined
    }
  | {
      /** Verifies a delivery by its headers and body. Fails with `SignatureRefused` if the delivery is not genuine. */
      readonly verify: (
        delivery: WebhookSignature.ReceivedDelivery,
      ) => Effect.Effect<WebhookSignature.VerifiedDelivery, WebhookSignature.SignatureRefused>
      readonly scheme?: undefined
      readonly secrets?: undefined
    }

export const settingsOf = Effect.fnUntraced(function* (
  scheme: string | HmacSignature.SignatureSettings,
): Effect.fn.Return<HmacSignature.SignatureSettings, WebhookSignature.InvalidWebhookSetting> {
  if (!Predicate.isString(scheme)) return scheme
  if (isName(scheme)) return schemes[scheme]
  const problem = `unknown scheme ${JSON.stringify(scheme)}${didYouMean(scheme, names)}: expected ${names.join(", ")}, or the settings of a custom scheme`
  return yield* new WebhookSignature.InvalidWebhookSetting({ setting: "scheme", problem })
})

export const make = Effect.fnUntraced(function* (
  options: WebhookScheme,
): Effect.fn.Return<
  WebhookSignature.SignatureScheme,
  WebhookSignature.InvalidWebhookSetting | MalformedSecret,
  Mac.Mac
> {
  const wrong = (setting: string, problem: string) => new WebhookSignature.InvalidWebhookSetting({ setting, problem })
  if (!Predicate.isObject(options)) return yield* wrong("options", "expected an object with `secrets`")
  const { scheme = "standard-webhooks", secrets, verify } = options
  if (Predicate.isFunction(verify)) return WebhookSignature.custom(verify)
  if (verify !== undefined) return yield* wrong("verify", "expected a function")
  if (!Array.isArray(secrets) || secrets.length === 0) {
    return yield* new MalformedSecret({ problem: "expected an array of one or more secrets" })
  }
  const settings = yield* HmacSignature.validate(yield* settingsOf(scheme))
  const name = Predicate.isString(scheme) ? scheme : "that is set"
  return yield* settings.digest === "none"
    ? SharedSecret.make(settings, secrets, name)
    : HmacSignature.make(settings, secrets, name)
})
