/**
 * Where deliveries go: the URL, whether it is in use, and the secrets that sign.
 *
 * Guarantees: the newest secret signs until it is replaced, a replaced one until its time is
 * over, unless the old ones are ended at once (0 hours). Several replaced in a row each keep
 * theirs, so that a receiver that has none but the first goes on verifying; but the newest five
 * secrets sign, and no others: the header has to stay of a size that every receiver reads.
 *
 * Effects whose names begin with `write` are statements for use within a write of `Database`.
 */
import { Clock, Duration, Effect, Option, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import * as StandardWebhooks from "../../api/StandardWebhooks.ts"
import type { WebhookSecret } from "../../api/WebhookSignature.ts"
import type { WebhookSettings } from "../web/DashboardApi.ts"

interface EndpointRow {
  readonly url: string
  readonly enabled: number
  readonly disabled_reason: string | null
  readonly paused_until: number
}

interface SecretRow {
  readonly secret: string
  readonly created_at: number
  readonly expires_at: number | null
}

/** What an attempt needs. */
export interface Target {
  readonly url: string
  readonly secrets: ReadonlyArray<WebhookSecret>
  /** Nothing is sent before that time (epoch milliseconds). */
  readonly pausedUntil: number
}

const mostSecrets = 5

export const make = (sql: SqlClient.SqlClient) => {
  const find = Effect.map(
    sql<EndpointRow>`SELECT url, enabled, disabled_reason, paused_until FROM webhook_endpoint`,
    (rows) => Option.fromUndefinedOr(rows[0]),
  )

  const valid = Effect.fnUntraced(function* (now: number) {
    return yield* sql<SecretRow>`
      SELECT secret, created_at, expires_at FROM webhook_secret
      WHERE expires_at IS NULL OR expires_at > ${now} ORDER BY secret_id DESC LIMIT ${mostSecrets}`
  })

  const settings = Effect.gen(function* () {
    const endpoint = yield* find
    if (Option.isNone(endpoint)) return { url: null, enabled: false, disabled_reason: null, secrets: [] }
    const { disabled_reason, enabled, url } = endpoint.value
    const secrets = yield* valid(yield* Clock.currentTimeMillis)
    return {
      url,
      enabled: enabled === 1,
      disabled_reason,
      secrets: secrets.map(({ created_at, expires_at }) => ({ created_at, expires_at })),
    } satisfies WebhookSettings
  })

  /** None where no URL is set, or it is disabled. */
  const target = Effect.fnUntraced(function* (now: number) {
    const endpoint = yield* find
    if (Option.isNone(endpoint) || endpoint.value.enabled === 0) return Option.none<Target>()
    const rows = yield* valid(now)
    const secrets = yield* Effect.orDie(
      Effect.forEach(rows, ({ secret }) => StandardWebhooks.readSecret(Redacted.make(secret))),
    )
    return Option.some<Target>({ url: endpoint.value.url, secrets, pausedUntil: endpoint.value.paused_until })
  })

  const writeSecret = Effect.fnUntraced(function* (secret: Redacted.Redacted<string>, now: number) {
    const row = { secret: Redacted.value(secret), created_at: now, expires_at: null }
    yield* sql`INSERT INTO webhook_secret ${sql.insert(row)}`
  })

  /** Sets the URL and enables it. @returns whether `secret` has become the first one. */
  const writeUrl = Effect.fnUntraced(function* (url: string, secret: Redacted.Redacted<string>, now: number) {
    yield* sql`
      INSERT INTO webhook_endpoint (endpoint_id, url, enabled, disabled_reason, paused_until)
      VALUES (1, ${url}, 1, NULL, 0)
      ON CONFLICT DO UPDATE SET url = excluded.url, enabled = 1, disabled_reason = NULL, paused_until = 0`
    const secrets = yield* sql`SELECT 1 FROM webhook_secret WHERE expires_at IS NULL`
    if (secrets.length > 0) return false
    yield* writeSecret(secret, now)
    return true
  })

  /** @returns whether there is an endpoint whose secret could be replaced. */
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

  /** Where the URL was changed since the attempt, the new one is not judged by the old one's answer. */
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
    writePause,
    writeRemoval,
    writeResumed,
    writeRotation,
    writeUrl,
  }
}

export type Endpoint = ReturnType<typeof make>
