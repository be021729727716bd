/**
 * The webhook signature schemes by name, with their options, or a custom function.
 *
 * Guarantees: an unknown scheme or a malformed secret is refused when it is set, before the first delivery arrives. A
 * new scheme needs a file in this folder, its name here, and its options in `cli/flags/WebhookFlags`.
 */
import { type Array as Arr, Effect, type Redacted, Schema } from "effect"
import type { Mac } from "effect/crypto"
import * as GitHubSignature from "./GitHubSignature.ts"
import * as SharedSecret from "./SharedSecret.ts"
import * as StandardWebhooks from "./StandardWebhooks.ts"
import * as StripeSignature from "./StripeSignature.ts"
import * as WebhookSignature from "./WebhookSignature.ts"

/** One secret, or several while a secret is rotated. */
type Secrets = Arr.NonEmptyReadonlyArray<Redacted.Redacted<string>>

/** `tolerance` is the maximum difference, in either direction, between a delivery's time and our clock. */
interface Timed extends WebhookSignature.TimedOptions {
  readonly secrets: Secrets
  readonly verify?: undefined
}

interface Untimed {
  readonly secrets: Secrets
  readonly tolerance?: undefined
  readonly verify?: undefined
}

/**
 * The scheme of a webhook, and what it signs:
 *
 * | `scheme` | header | signed |
 * | --- | --- | --- |
 * | `standard-webhooks` (default) | `webhook-id`, `webhook-timestamp`, `webhook-signature` | id, time, body |
 * | `svix` | `svix-id`, `svix-timestamp`, `svix-signature` | id, time, body |
 * | `stripe` | `stripe-signature`, or `header` | time, body |
 * | `github` | `x-hub-signature-256`, or `header` | body |
 * | `shared-secret` | `authorization`, or `header` | nothing |
 *
 * In place of a scheme, `verify` is a function that gets the whole delivery.
 */
export type WebhookScheme =
  | (Timed & { readonly scheme?: "standard-webhooks" | "svix" | undefined; readonly header?: undefined })
  | (Timed & { readonly scheme: "stripe"; readonly header?: string | undefined })
  | (Untimed & { readonly scheme: "github" | "shared-secret"; readonly header?: string | undefined })
  | {
      readonly verify: (
        delivery: WebhookSignature.ReceivedDelivery,
      ) => Effect.Effect<WebhookSignature.VerifiedDelivery, WebhookSignature.SignatureRefused>
      readonly scheme?: undefined
      readonly secrets?: undefined
      readonly header?: undefined
      readonly tolerance?: undefined
    }

/** The first scheme is the default. */
export const schemes = ["standard-webhooks", "svix", "stripe", "github", "shared-secret"] as const
export type SchemeName = (typeof schemes)[number]

/** The scheme has an unknown name. A pipeline file can cause this, since its types are not checked. */
export class UnknownScheme extends Schema.TaggedError<UnknownScheme>()("UnknownScheme", { found: Schema.String }) {
  override get message() {
    return `unknown webhook scheme ${JSON.stringify(this.found)}: expected ${schemes.join(", ")}, or a verify function`
  }
}

/** Whether `header` can rename the scheme's header. */
export const namesHeader = (scheme: SchemeName): scheme is "stripe" | "github" | "shared-secret" =>
  scheme !== "standard-webhooks" && scheme !== "svix"

/** Whether the scheme signs a time. */
export const signsTime = (scheme: SchemeName): scheme is "standard-webhooks" | "svix" | "stripe" =>
  scheme !== "github" && scheme !== "shared-secret"

export const make = Effect.fnUntraced(function* (
  options: WebhookScheme,
): Effect.fn.Return<
  WebhookSignature.SignatureScheme,
  UnknownScheme | WebhookSignature.MalformedSecret | WebhookSignature.MalformedTolerance,
  Mac.Mac
> {
  if (options.verify !== undefined) return WebhookSignature.custom(options.verify)
  const { header, tolerance } = options
  switch (options.scheme) {
    case undefined:
    case "standard-webhooks":
    case "svix": {
      const secrets = yield* Effect.forEach(options.secrets, StandardWebhooks.readSecret)
      const headers = options.scheme === "svix" ? "svix" : "webhook"
      return yield* StandardWebhooks.make({ secrets, tolerance, headers })
    }
    case "stripe": {
      const secrets = yield* Effect.forEach(options.secrets, WebhookSignature.readText)
      return yield* StripeSignature.make({ secrets, tolerance, header })
    }
    case "github": {
      const secrets = yield* Effect.forEach(options.secrets, WebhookSignature.readText)
      return yield* GitHubSignature.make({ secrets, header })
    }
    case "shared-secret": {
      const secrets = yield* Effect.forEach(options.secrets, SharedSecret.readSecret)
      return yield* SharedSecret.make({ secrets, header })
    }
    default:
      return yield* new UnknownScheme({ found: String((options as { readonly scheme: unknown }).scheme) })
  }
})
