/**
 * Implements the part of `DashboardApi` about the webhook.
 *
 * Guarantees: a secret is only in the response to the request that created it.
 */
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { DashboardApi } from "../pageApi/DashboardApi.ts"
import { Conflict, NotFound } from "../pageApi/WebProblems.ts"
import { Webhooks } from "../webhook/Webhooks.ts"
import { orNotFound } from "./StoreFailures.ts"

const noWebhook = () => new Conflict({ detail: "Set a webhook URL first." })

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "webhook",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      settings: () => Effect.orDie(webhooks.settings),
      set: Effect.fnUntraced(function* ({ payload: { url } }) {
        const { secret, settings } = yield* webhooks.set(url).pipe(
          Effect.catchTags({
            WebhookTargetRefused: ({ problem }) => new Conflict({ detail: problem }),
            SqlError: Effect.die,
          }),
        )
        return { settings, secret: Option.getOrNull(secret) }
      }),
      remove: () => Effect.orDie(webhooks.remove),
      rotateSecret: ({ payload: { keep_hours } }) =>
        webhooks.rotateSecret(keep_hours).pipe(Effect.catchTags({ NoWebhook: noWebhook, SqlError: Effect.die })),
      test: () =>
        webhooks.test.pipe(
          Effect.map((message_id) => ({ message_id })),
          Effect.catchTags({ NoWebhook: noWebhook, SqlError: Effect.die }),
        ),
      deliveries: ({ query }) => Effect.orDie(webhooks.deliveries(query)),
      delivery: ({ params: { message_id } }) => orNotFound(webhooks.delivery(message_id), "There is no such delivery."),
      resend: ({ params: { message_id } }) =>
        webhooks.resend(message_id).pipe(
          Effect.catchTags({
            NoSuchDelivery: () => new NotFound({ detail: "There is no such delivery." }),
            NoWebhook: noWebhook,
            SqlError: Effect.die,
          }),
        ),
    })
  }),
)
