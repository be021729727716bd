/** The part of `DashboardApi` about the webhook and its deliveries. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { error, Millis, MinRole, OperatorSession, page, Rotation } from "./OperatorSession.ts"
import { maxLength } from "./PageConstants.ts"

export const WebhookSettings = Schema.Struct({
  /** Null where none is set. */
  url: Schema.NullOr(Schema.String),
  enabled: Schema.Boolean,
  /** Why it was disabled by the service, such as 410 from the receiver. */
  disabled_reason: Schema.NullOr(Schema.String),
  /** Null where the last attempt succeeded, or none was made at this URL. */
  failing: Schema.NullOr(
    Schema.Struct({
      since: Millis,
      /** In a row. */
      attempts: Schema.Int,
      last_at: Millis,
      last_status: Schema.NullOr(Schema.Int),
      last_error: Schema.NullOr(Schema.String),
    }),
  ),
  /** Deliveries that wait for an attempt. */
  waiting: Schema.Int,
  /** The first of them; null where none waits, or the webhook is disabled. */
  next_attempt_at: Schema.NullOr(Millis),
  /** Secrets that sign at present: the newest first, and while it is rotated the one before. */
  secrets: Schema.Array(Schema.Struct({ created_at: Millis, expires_at: Schema.NullOr(Millis) })),
})
export type WebhookSettings = typeof WebhookSettings.Type

export const Delivery = Schema.Struct({
  /** The `webhook-id` header: the same for each attempt. */
  message_id: Schema.String,
  type: Schema.String,
  group_id: Schema.String,
  tasks: Schema.Int,
  created_at: Millis,
  state: Schema.Literals(["waiting", "delivered", "failed"]),
  attempts: Schema.Int,
  next_attempt_at: Schema.NullOr(Millis),
  /** HTTP status of the last attempt; null before the first, and where none came. */
  last_status: Schema.NullOr(Schema.Int),
})
export type Delivery = typeof Delivery.Type

export const DeliveryDetail = Schema.Struct({
  delivery: Delivery,
  /** The body, as sent. */
  payload: Schema.String,
  attempts: Schema.Array(
    Schema.Struct({
      at: Millis,
      url: Schema.String,
      status: Schema.NullOr(Schema.Int),
      /** Why it failed where no status came, or what a status means: refused connection, timeout, redirect. */
      error: Schema.NullOr(Schema.String),
      millis: Schema.Int,
      /** The first 1,000 characters of the answer. */
      answer: Schema.String,
    }),
  ),
})
export type DeliveryDetail = typeof DeliveryDetail.Type

const webhook = HttpApiEndpoint.get("settings", "/webhook", { success: WebhookSettings, error })
/** Sets the URL and enables. With the first URL a secret is made, which is in this answer only. Conflict: an address that is not allowed. */
const setWebhook = HttpApiEndpoint.put("set", "/webhook", {
  payload: Schema.Struct({ url: Schema.String.check(Schema.isMaxLength(maxLength.url)) }),
  success: Schema.Struct({ settings: WebhookSettings, secret: Schema.NullOr(Schema.String) }),
  error,
})
const removeWebhook = HttpApiEndpoint.delete("remove", "/webhook", { success: HttpApiSchema.NoContent, error })
/** A new secret; the old one signs along for `keep_hours` more. */
const rotateSecret = HttpApiEndpoint.post("rotateSecret", "/webhook/rotate-secret", {
  payload: Rotation,
  success: Schema.Struct({ settings: WebhookSettings, secret: Schema.String }),
  error,
})
/** Sends an event of type `webhook.test` to the URL. */
const testWebhook = HttpApiEndpoint.post("test", "/webhook/test", {
  success: Schema.Struct({ message_id: Schema.String }),
  error,
})
const deliveries = HttpApiEndpoint.get("deliveries", "/deliveries", {
  query: page,
  success: Schema.Struct({ deliveries: Schema.Array(Delivery), next: Schema.NullOr(Schema.Int) }),
  error,
})
const deliveryParams = { message_id: Schema.String }
const delivery = HttpApiEndpoint.get("delivery", "/deliveries/:message_id", {
  params: deliveryParams,
  success: DeliveryDetail,
  error,
})
/** Attempts the delivery once more, immediately; the schedule starts anew where that fails. */
const resend = HttpApiEndpoint.post("resend", "/deliveries/:message_id/resend", {
  params: deliveryParams,
  success: HttpApiSchema.NoContent,
  error,
})

export class DashboardWebhook extends HttpApiGroup.make("webhook")
  .add(webhook, setWebhook, removeWebhook, rotateSecret, testWebhook, deliveries, delivery, resend)
  .annotateEndpoints(MinRole, "admin")
  .middleware(OperatorSession) {}
