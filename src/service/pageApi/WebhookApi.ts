/** The part of `DashboardApi` about the webhook and its deliveries. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Millis, MinRole, OperatorSession, page, Rotation } from "./OperatorSession.ts"
import { maxLength } from "./PageConstants.ts"

export const WebhookSettings = Schema.Struct({
  url: Schema.NullOr(Schema.String),
  enabled: Schema.Boolean,
  /** Why the service disabled the webhook, such as a 410 of the receiver. Null if the webhook was not disabled. */
  disabled_reason: Schema.NullOr(Schema.String),
  /** The current series of failed attempts. Null if the last attempt at this URL succeeded, or there was none. */
  failing: Schema.NullOr(
    Schema.Struct({
      since: Millis,
      attempts: Schema.Int,
      last_at: Millis,
      last_status: Schema.NullOr(Schema.Int),
      last_error: Schema.NullOr(Schema.String),
    }),
  ),
  waiting: Schema.Int,
  /** The time of the next attempt to send a waiting message. Null if none is waiting or the webhook is disabled. */
  next_attempt_at: Schema.NullOr(Millis),
  /** The secrets with which deliveries are signed, newest first. During a rotation, there are several. */
  secrets: Schema.Array(Schema.Struct({ created_at: Millis, expires_at: Schema.NullOr(Millis) })),
})
export type WebhookSettings = typeof WebhookSettings.Type

export const Delivery = Schema.Struct({
  /** The value of the `webhook-id` header, which is the same for all attempts of a delivery. */
  message_id: Schema.String,
  type: Schema.String,
  group_id: Schema.String,
  tasks: Schema.Int,
  created_at: Millis,
  state: Schema.Literals(["waiting", "delivered", "failed"]),
  attempts: Schema.Int,
  next_attempt_at: Schema.NullOr(Millis),
  /** The HTTP status of the last attempt. Null if there was no attempt, or the last attempt got no response. */
  last_status: Schema.NullOr(Schema.Int),
})
export type Delivery = typeof Delivery.Type

export const DeliveryDetail = Schema.Struct({
  delivery: Delivery,
  payload: Schema.String,
  attempts: Schema.Array(
    Schema.Struct({
      at: Millis,
      url: Schema.String,
      status: Schema.NullOr(Schema.Int),
      /** The reason of a failure, such as a timeout or a redirect. Null if the status says enough. */
      error: Schema.NullOr(Schema.String),
      millis: Schema.Int,
      answer: Schema.String,
    }),
  ),
})
export type DeliveryDetail = typeof DeliveryDetail.Type

const webhook = HttpApiEndpoint.get("settings", "/webhook", { success: WebhookSettings })
/** Enables the webhook. Creates a secret if there is none. Fails with `Conflict` if the address is not allowed. */
const setWebhook = HttpApiEndpoint.put("set", "/webhook", {
  payload: Schema.Struct({ url: Schema.String.check(Schema.isMaxLength(maxLength.url)) }),
  success: Schema.Struct({ settings: WebhookSettings, secret: Schema.NullOr(Schema.String) }),
})
const removeWebhook = HttpApiEndpoint.delete("remove", "/webhook")
/** Creates a new secret. For `keep_hours` hours after that, deliveries are also signed with the old secret. */
const rotateSecret = HttpApiEndpoint.post("rotateSecret", "/webhook/rotate-secret", {
  payload: Rotation,
  success: Schema.Struct({ settings: WebhookSettings, secret: Schema.String }),
})
const testWebhook = HttpApiEndpoint.post("test", "/webhook/test", {
  success: Schema.Struct({ message_id: Schema.String }),
})
const deliveries = HttpApiEndpoint.get("deliveries", "/deliveries", {
  query: page,
  success: Schema.Struct({ deliveries: Schema.Array(Delivery), next: Schema.NullOr(Schema.Int) }),
})
const deliveryParams = { message_id: Schema.String }
const delivery = HttpApiEndpoint.get("delivery", "/deliveries/:message_id", {
  params: deliveryParams,
  success: DeliveryDetail,
})
const resend = HttpApiEndpoint.post("resend", "/deliveries/:message_id/resend", { params: deliveryParams })

export class DashboardWebhook extends HttpApiGroup.make("webhook")
  .add(webhook, setWebhook, removeWebhook, rotateSecret, testWebhook, deliveries, delivery, resend)
  .annotateEndpoints(MinRole, "admin")
  .middleware(OperatorSession) {}
