/**
 * The webhook's URL, state, and signing secrets. A delivery has at most five signatures: with the newest secret, and
 * with replaced secrets that have not expired. Use effects named `write…` inside `Database.write`.
 */
import { Clock, Duration, Effect, Option, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import * as WebhookSecret from "../../api/WebhookSecret.ts"
import type { WebhookSettings } from "../pageApi/WebhookApi.ts"
import type { Outcome } from "./Attempt.ts"

type EndpointRow = Pick<WebhookSettings, "disabled_reason"> & { url: string; enabled: number; paused_until: number }
type SecretRow = WebhookSettings["secrets"][number] & { readonly secret: string }

export interface Target {
  readonly url: string
  readonly secrets: ReadonlyArray<WebhookSecret.WebhookSecret>
  /** The service delivers no message before this time (epoch milliseconds). */
  readonly pausedUntil: number
}

const maxSecrets = 5

const none: WebhookSettings = {
  url: null,
  enabled: false,
  disabled_reason: null,
  failing: null,
  waiting: 0,
  next_attempt_at: null,
  secrets: [],
}

export const make = (sql: SqlClient.SqlClient) => {
  const find = Effect.map(
    sql<EndpointRow>`SELECT url, enabled, disabled_reason, paused_until FROM webhook_endpoint`,
    (rows) => Option.fromUndefinedOr(rows[0]),
  )

  const valid = Effect.fnUntraced(function* (now: number) {
    return yield* sql<SecretRow>`
      SELECT secret, created_at, expires_at FROM webhook_secret
      WHERE expires_at IS NULL OR expires_at > ${now} ORDER BY secret_id DESC LIMIT ${maxSecrets}`
  })

  const settings = Effect.gen(function* () {
    const endpoint = yield* find
    if (Option.isNone(endpoint)) return none
    const { disabled_reason, enabled, paused_until, url } = endpoint.value
    const failures = yield* sql<NonNullable<WebhookSettings["failing"]>>`
      SELECT since, attempts, last_at, last_status, last_error FROM webhook_failure`
    const [messages] = yield* sql<{ waiting: number; next: number | null }>`
      SELECT COUNT(*) AS waiting, MIN(next_attempt_at) AS next FROM webhook_message WHERE state = 'waiting'`
    const { next, waiting } = messages!
    const secrets = yield* valid(yield* Clock.currentTimeMillis)
    return {
      url,
      enabled: enabled === 1,
      disabled_reason,
      failing: failures[0] ?? null,
      waiting,
      next_attempt_at: next === null || enabled === 0 ? null : Math.max(next, paused_until),
      secrets: secrets.map(({ created_at, expires_at }) => ({ created_at, expires_at })),
    } satisfies WebhookSettings
  })

  const target = Effect.fnUntraced(function* (now: number) {
    const endpoint = yield* find
    if (Option.isNone(endpoint) || endpoint.value.enabled === 0) return Option.none<Target>()
    const rows = yield* valid(now)
    const secrets = yield* Effect.orDie(Effect.forEach(rows, ({ secret }) => WebhookSecret.read(secret, "whsec")))
    return Option.some<Target>({ url: endpoint.value.url, secrets, pausedUntil: endpoint.value.paused_until })
  })

  const writeSecret = Effect.fnUntraced(function* (secret: Redacted.Redacted<string>, now: number) {
    const row = { secret: Redacted.value(secret), created_at: now, expires_at: null }
    yield* sql`INSERT INTO webhook_secret ${sql.insert(row)}`
  })

  /** Sets the URL, and enables the webhook. If no secret is stored yet, stores `secret` and returns true. */
  const writeUrl = Effect.fnUntraced(function* (url: string, secret: Redacted.Redacted<string>, now: number) {
    yield* sql`
      INSERT INTO webhook_endpoint (endpoint_id, url, enabled, disabled_reason, paused_until)
      VALUES (1, ${url}, 1, NULL, 0)
      ON CONFLICT DO UPDATE SET url = excluded.url, enabled = 1, disabled_reason = NULL, paused_until = 0`
    yield* sql`DELETE FROM webhook_failure`
    const secrets = yield* sql`SELECT 1 FROM webhook_secret WHERE expires_at IS NULL`
    if (secrets.length > 0) return false
    yield* writeSecret(secret, now)
    return true
  })

  /** Replaces the secret. The old one stays valid for the time `keep`. Returns false if there is no webhook. */
  const writeRotation = Effect.fnUntraced(function* (
    secret: Redacted.Redacted<string>,
    keep: Duration.Duration,
    now: number,
  ) {
    if (Option.isNone(yield* find)) return false
    const expires = now + Duration.toMillis(keep)
    yield* sql`UPDATE webhook_secret SET expires_at = ${expires} WHERE expires_at IS NULL`
    yield* expires === now
      ? sql`DELETE FROM webhook_secret`
      : sql`DELETE FROM webhook_secret WHERE expires_at <= ${now}`
    yield* writeSecret(secret, now)
    return true
  })

  const writeRemoval = Effect.gen(function* () {
    yield* sql`DELETE FROM webhook_endpoint`
    yield* sql`DELETE FROM webhook_secret`
  })

  const writeHealth = (url: string, delivered: boolean, { at, error, status }: Outcome) =>
    delivered
      ? sql`DELETE FROM webhook_failure WHERE endpoint_id = (SELECT endpoint_id FROM webhook_endpoint WHERE url = ${url})`
      : sql`INSERT INTO webhook_failure (endpoint_id, since, attempts, last_at, last_status, last_error)
          SELECT endpoint_id, ${at}, 1, ${at}, ${status}, ${error} FROM webhook_endpoint WHERE url = ${url}
          ON CONFLICT DO UPDATE SET attempts = attempts + 1, last_at = excluded.last_at,
            last_status = excluded.last_status, last_error = excluded.last_error`

  /** Disables the webhook, unless its URL has changed since the attempt. */
  const writeDisabled = (url: string, reason: string) =>
    sql`UPDATE webhook_endpoint SET enabled = 0, disabled_reason = ${reason} WHERE url = ${url}`

  const writePause = (url: string, until: number) =>
    sql`UPDATE webhook_endpoint SET paused_until = MAX(paused_until, ${until}) WHERE url = ${url}`

  const writeResumed = sql`UPDATE webhook_endpoint SET paused_until = 0`

  return {
    exists: Effect.map(find, Option.isSome),
    isAt: (url: string) => Effect.map(find, (endpoint) => Option.isSome(endpoint) && endpoint.value.url === url),
    settings,
    target,
    writeDisabled,
    writeHealth,
    writePause,
    writeRemoval,
    writeResumed,
    writeRotation,
    writeUrl,
  }
}

export type Endpoint = ReturnType<typeof make>
