/**
 * Webhooks by Standard Webhooks 1.0.0: what is to be delivered, to where, and what came of it.
 *
 * Guarantees: an event is stored in the same commit as what it tells of, and attempted until a
 * 2xx came or the schedule is through; `webhook-id` is the same for each attempt.
 */
import { Context, type Effect, type Option, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Delivery, DeliveryDetail, WebhookSettings } from "../web/DashboardApi.ts"

/** The URL is not one that deliveries may go to. */
export class WebhookTargetRefused extends Schema.TaggedError<WebhookTargetRefused>()("WebhookTargetRefused", {
  problem: Schema.String,
}) {}
export class NoSuchDelivery extends Schema.TaggedError<NoSuchDelivery>()("NoSuchDelivery", {}) {}
export class NoWebhook extends Schema.TaggedError<NoWebhook>()("NoWebhook", {}) {}

/** `task_group.completed`: each of the group's tasks is completed or cancelled. */
export interface GroupCompleted {
  readonly organization: string
  readonly groupId: string
  readonly taskIds: ReadonlyArray<string>
}

interface Page {
  readonly before?: number | undefined
  readonly limit?: number | undefined
}

export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** Statements only: for use within a write of `Database`. Stores nothing where no webhook is set. */
    readonly enqueue: (event: GroupCompleted) => Effect.Effect<void, SqlError>
    /** Says that something was committed that is to be delivered. */
    readonly wake: Effect.Effect<void>
    readonly settings: Effect.Effect<WebhookSettings, SqlError>
    readonly set: (
      url: string,
    ) => Effect.Effect<
      { readonly settings: WebhookSettings; readonly secret: Option.Option<string> },
      WebhookTargetRefused | SqlError
    >
    readonly remove: Effect.Effect<void, SqlError>
    readonly rotateSecret: (
      keepHours: number,
    ) => Effect.Effect<{ readonly settings: WebhookSettings; readonly secret: string }, NoWebhook | SqlError>
    readonly test: Effect.Effect<string, NoWebhook | SqlError>
    readonly deliveries: (
      page: Page,
    ) => Effect.Effect<{ readonly deliveries: ReadonlyArray<Delivery>; readonly next: number | null }, SqlError>
    readonly delivery: (messageId: string) => Effect.Effect<Option.Option<DeliveryDetail>, SqlError>
    readonly resend: (messageId: string) => Effect.Effect<void, NoSuchDelivery | NoWebhook | SqlError>
  }
>()("prefstream/service/Webhooks") {}
