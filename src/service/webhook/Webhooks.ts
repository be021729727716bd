/**
 * Outgoing webhooks that follow Standard Webhooks 1.0.0. An event is stored in the same commit as the change that it
 * reports. An event may arrive more than once, always with the same `webhook-id`. A group's event lists the group's
 * tasks. If the group grows after the first attempt to deliver the event, a new event lists all tasks. If the receiver
 * answers 410, the webhook is disabled until an operator sets the URL again. When the webhook is removed, waiting
 * messages count as failed.
 */
import { Clock, Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as WebhookSecret from "../../api/WebhookSecret.ts"
import * as WebhookSignature from "../../api/WebhookSignature.ts"
import * as GuardedHttpClient from "../../node/GuardedHttpClient.ts"
import { version } from "../../node/Version.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import { conflict, notFound } from "../pageApi/WebProblems.ts"
import * as Attempt from "./Attempt.ts"
import * as Endpoint from "./Endpoint.ts"
import * as Outbox from "./Outbox.ts"
import * as RetryPolicy from "./RetryPolicy.ts"
import * as Sender from "./Sender.ts"
import * as WebhookTarget from "./WebhookTarget.ts"

/** An event about a group of tasks. `reopened`: the results of `taskIds` are withdrawn. */
export interface GroupCompleted {
  /** Default `task_group.completed`. */
  readonly type?: "task_group.completed" | "task_group.reopened" | undefined
  readonly organization: string
  readonly groupId: string
  readonly taskIds: ReadonlyArray<string>
  /** Whether the group may still get more tasks. Default false. */
  readonly mayGrow?: boolean | undefined
}

export interface WebhooksOptions {
  /** Allows deliveries to this machine. Set it only if no other machine can reach the service. Default false. */
  readonly allowLoopback?: boolean | undefined
  /** Allows deliveries to private networks and to this machine. Default false. */
  readonly allowPrivate?: boolean | undefined
  /** The delays between attempts. Default: the schedule of Standard Webhooks, ten attempts over three days. */
  readonly schedule?: RetryPolicy.RetrySchedule | undefined
  readonly timeout?: Duration.Input | undefined
  /** The maximum number of concurrent attempts. Default 8. */
  readonly concurrency?: number | undefined
  /** How long delivered and failed messages are kept. Default 30 days. */
  readonly keep?: Duration.Input | undefined
  /** Wait between the end of a group's last task and its webhook, if the group may still grow. Default 2 seconds. */
  readonly quiet?: Duration.Input | undefined
  readonly resolver?: GuardedHttpClient.Resolver | undefined
}

const clientOptions = ({ allowLoopback = false, allowPrivate = false, resolver }: WebhooksOptions) => {
  const policy = { allowLoopback, allowPrivate }
  const shows = WebhookTarget.showsAnswers(policy)
  // Hosts whose responses must stay secret. No host is removed: after a DNS change, old connections may still be open.
  const hidden = new Set<string>()
  return {
    guard: WebhookTarget.guard(policy),
    resolver,
    onPermitted: (host: string, address: string) => void (shows(address) || hidden.add(host)),
    hidesAnswers: (url: string) => hidden.has(GuardedHttpClient.hostOf(new URL(url))),
  }
}

const nameOf = (organization: string, groupId: string): string => JSON.stringify([organization, groupId])

const make = Effect.fnUntraced(function* (options: WebhooksOptions, client: ReturnType<typeof clientOptions>) {
  const { sql, write } = yield* Database
  const endpoint = Endpoint.make(sql)
  const outbox = yield* Outbox.make(
    sql,
    endpoint,
    options.schedule ?? RetryPolicy.standardSchedule,
    Duration.fromInputUnsafe(options.quiet ?? "2 seconds"),
  )
  const send = yield* Attempt.make({
    timeout: Duration.fromInputUnsafe(options.timeout ?? "15 seconds"),
    userAgent: `prefstream/${version}`,
    hidesAnswers: client.hidesAnswers,
  })
  const { wake } = yield* Sender.make({
    write,
    endpoint,
    outbox,
    send,
    concurrency: options.concurrency ?? 8,
    keep: Duration.fromInputUnsafe(options.keep ?? "30 days"),
  })
  const noWebhook = Effect.fail(conflict("Set a webhook URL first."))

  return {
    wake,
    settings: endpoint.settings,
    exists: endpoint.exists,

    /** Stores an event if a webhook is set. Call it inside `Database.write`. */
    enqueue: Effect.fn("Webhooks.enqueue")(function* ({
      groupId,
      mayGrow = false,
      organization,
      taskIds,
      type = "task_group.completed",
    }: GroupCompleted) {
      if (!(yield* endpoint.exists)) return
      const data = { group_id: groupId, task_ids: taskIds }
      const gathering = mayGrow ? nameOf(organization, groupId) : undefined
      yield* outbox.writeMessage({ type, groupId, tasks: taskIds.length, data, gathering })
    }),

    /** Deletes the group's event if it was never attempted. Call it inside `Database.write`. */
    withdraw: (organization: string, groupId: string) =>
      Effect.asVoid(outbox.writeWithdrawn(nameOf(organization, groupId))),

    set: Effect.fn("Webhooks.set")(function* (url: string) {
      const problem = yield* WebhookTarget.problem(url, client)
      if (Option.isSome(problem)) return yield* conflict(problem.value)
      const drawn = yield* WebhookSecret.generate
      const isFirst = yield* write(
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          yield* outbox.writeAllDue(now)
          // The log entry omits the URL's query, which may contain a secret.
          yield* Audit.record(sql, "webhook.set", new URL(url).origin + new URL(url).pathname)
          return yield* endpoint.writeUrl(new URL(url).href, drawn, now)
        }),
      )
      yield* wake
      const secret = isFirst ? Option.some(Redacted.value(drawn)) : Option.none()
      return { settings: yield* endpoint.settings, secret }
    }),

    remove: write(
      Effect.gen(function* () {
        yield* outbox.writeAllFailed(yield* Clock.currentTimeMillis)
        yield* endpoint.writeRemoval
        yield* Audit.record(sql, "webhook.remove", "webhook")
      }),
    ).pipe(Effect.withSpan("Webhooks.remove")),

    rotateSecret: Effect.fn("Webhooks.rotateSecret")(function* (keepHours: number) {
      const drawn = yield* WebhookSecret.generate
      yield* write(
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          if (!(yield* endpoint.writeRotation(drawn, Duration.hours(keepHours), now))) return yield* noWebhook
          yield* Audit.record(sql, "webhook.rotate-secret", "webhook", { keep_hours: keepHours })
        }),
      )
      return { settings: yield* endpoint.settings, secret: Redacted.value(drawn) }
    }),

    test: Effect.gen(function* () {
      const messageId = yield* write(
        Effect.gen(function* () {
          if (!(yield* endpoint.exists)) return yield* noWebhook
          yield* endpoint.writeResumed
          yield* Audit.record(sql, "webhook.test", "webhook")
          return yield* outbox.writeMessage({ type: Outbox.testType, groupId: "", tasks: 0, data: { task_ids: [] } })
        }),
      )
      yield* wake
      return messageId
    }).pipe(Effect.withSpan("Webhooks.test")),

    deliveries: outbox.page,
    delivery: outbox.detail,

    resend: Effect.fn("Webhooks.resend")(function* (messageId: string) {
      yield* write(
        Effect.gen(function* () {
          if (!(yield* endpoint.exists)) return yield* noWebhook
          const isResent = yield* outbox.writeResend(messageId, yield* Clock.currentTimeMillis)
          if (!isResent) return yield* notFound("There is no such delivery.")
          yield* endpoint.writeResumed
          yield* Audit.record(sql, "webhook.resend", messageId)
        }),
      )
      yield* wake
    }),
  }
})

export class Webhooks extends Context.Service<Webhooks, Effect.Success<ReturnType<typeof make>>>()(
  "prefstream/service/Webhooks",
) {
  static readonly layer = (options: WebhooksOptions = {}): Layer.Layer<Webhooks, never, Database> => {
    const client = clientOptions(options)
    return Layer.effect(Webhooks, make(options, client)).pipe(
      Layer.provide(GuardedHttpClient.layer(client)),
      Layer.provide(WebhookSignature.layerMac),
      Layer.provide(SecureRandom.layerWebCrypto),
    )
  }
}
