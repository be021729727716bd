/** The organization's access tokens. The cache never accepts a token that the database would refuse. */
import { Clock, Context, Duration, Effect, Layer, Option, Redacted, Scope, Struct } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import type { TokenSummary } from "../pageApi/TokensApi.ts"
import { conflict, notFound } from "../pageApi/WebProblems.ts"
import * as Secrets from "./Secrets.ts"
import type * as AccountIds from "./AccountIds.ts"

export interface AcceptedToken {
  readonly tokenId: string
  readonly organization: string
}

/** Every token begins with this prefix, so that secret scanners recognize it. 43 random characters follow. */
const prefix = "pst_"

export const draw = Effect.map(Secrets.draw(prefix), (token) => Redacted.make(token, { label: "organization token" }))

const organization = "default"
const writeIntervalMillis = Duration.toMillis("1 minute")

interface Row extends TokenSummary {
  readonly organization: string
  readonly hash: string
}

interface Entry extends AcceptedToken {
  expiresAt: number | null
  lastUsedAt: number | null
  writtenAt: number
}

const make = Effect.gen(function* () {
  const { sql, write } = yield* Database
  const scope = yield* Scope.Scope
  const random = yield* SecureRandom.SecureRandom

  const columns = sql.literal(
    "token_id, organization, name, hash, hint, created_at, last_used_at, expires_at, revoked_at",
  )
  const accepted = new Map<string, Entry>()
  const remember = (row: Row) =>
    accepted.set(row.hash, {
      tokenId: row.token_id,
      organization: row.organization,
      expiresAt: row.expires_at,
      lastUsedAt: accepted.get(row.hash)?.lastUsedAt ?? row.last_used_at,
      writtenAt: row.last_used_at ?? 0,
    })
  for (const row of yield* sql<Row>`SELECT ${columns} FROM organization_token WHERE revoked_at IS NULL`) remember(row)

  const summaryOf = (row: Row): TokenSummary => ({
    ...Struct.omit(row, ["hash", "organization"]),
    last_used_at: accepted.get(row.hash)?.lastUsedAt ?? row.last_used_at,
  })

  const find = Effect.fnUntraced(function* (tokenId: string) {
    const rows = yield* sql<Row>`SELECT ${columns} FROM organization_token WHERE token_id = ${tokenId}`
    return rows[0] ?? (yield* notFound("There is no such token."))
  })

  const drawRow = Effect.fnUntraced(function* (name: string, created_at: number) {
    const token = yield* draw
    const text = Redacted.value(token)
    const row: Row = {
      token_id: `tok_${Hex.encode(yield* random.randomBytes(8))}`,
      organization,
      name,
      hash: Secrets.hash(text),
      hint: text.slice(0, prefix.length + 4),
      created_at,
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
    }
    return { token, row }
  })

  /** Keeps memory and database consistent, even if the caller is interrupted. */
  const uninterruptible = Effect.uninterruptible

  const add = <A, E>(row: Row, store: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      remember(row)
      return Effect.onError(store, () => Effect.sync(() => accepted.delete(row.hash)))
    })

  const create = Effect.fn("Tokens.create")(function* (name: string) {
    const { row, token } = yield* drawRow(name, yield* Clock.currentTimeMillis)
    const stored = sql`INSERT INTO organization_token ${sql.insert({ ...row })}`
    yield* add(row, write(Effect.andThen(stored, Audit.record(sql, "token.create", row.token_id, { name }))))
    return { token, summary: summaryOf(row) }
  }, uninterruptible)

  const rotate = Effect.fn("Tokens.rotate")(function* (tokenId: string, keepHours: number) {
    const now = yield* Clock.currentTimeMillis
    const { name } = yield* find(tokenId)
    const { row, token } = yield* drawRow(name, now)
    const until = now + Math.round(Duration.toMillis(Duration.hours(keepHours)))
    const rotated = write(
      Effect.gen(function* () {
        // If an earlier rotation already set an earlier expiry time, the old token keeps that time.
        const [old] =
          yield* sql<Row>`UPDATE organization_token SET expires_at = MIN(COALESCE(expires_at, ${until}), ${until})
          WHERE token_id = ${tokenId} AND revoked_at IS NULL AND COALESCE(expires_at, ${now} + 1) > ${now}
          RETURNING ${columns}`
        if (old === undefined) return yield* conflict("The token is no longer accepted. Create a new one.")
        yield* sql`INSERT INTO organization_token ${sql.insert({ ...row })}`
        const details = { name, new_token: row.token_id, keep_hours: keepHours }
        yield* Audit.record(sql, "token.rotate", tokenId, details)
        return old
      }),
    )
    const old = yield* add(row, rotated)
    const entry = accepted.get(old.hash)
    if (entry !== undefined) entry.expiresAt = Math.min(entry.expiresAt ?? Infinity, old.expires_at ?? Infinity)
    return { token, summary: summaryOf(row) }
  }, uninterruptible)

  const revoke = Effect.fn("Tokens.revoke")(function* (tokenId: string) {
    const { hash, name } = yield* find(tokenId)
    const revoked_at = yield* Clock.currentTimeMillis
    const last_used_at = accepted.get(hash)?.lastUsedAt ?? null
    // After this deletion, the token is refused, even if the database write below fails.
    accepted.delete(hash)
    yield* write(
      Effect.gen(function* () {
        const revoked = yield* sql`UPDATE organization_token
          SET revoked_at = ${revoked_at}, last_used_at = COALESCE(${last_used_at}, last_used_at)
          WHERE token_id = ${tokenId} AND revoked_at IS NULL RETURNING token_id`
        if (revoked.length > 0) yield* Audit.record(sql, "token.revoke", tokenId, { name })
      }),
    )
  }, uninterruptible)

  const list = Effect.map(
    sql<Row>`SELECT ${columns} FROM organization_token ORDER BY seq DESC`,
    (rows): ReadonlyArray<TokenSummary> => rows.map(summaryOf),
  ).pipe(Effect.withSpan("Tokens.list"))

  const accept = Effect.fnUntraced(function* (hash: string) {
    const entry = accepted.get(hash)
    if (entry === undefined) return Option.none<AcceptedToken>()
    const now = yield* Clock.currentTimeMillis
    if (entry.expiresAt !== null && entry.expiresAt <= now) return Option.none<AcceptedToken>()
    entry.lastUsedAt = now
    if (now - entry.writtenAt >= writeIntervalMillis) {
      entry.writtenAt = now
      yield* write(sql`UPDATE organization_token SET last_used_at = ${now} WHERE token_id = ${entry.tokenId}`).pipe(
        Effect.ignore({ log: "Warn" }),
        Effect.forkIn(scope),
      )
    }
    return Option.some<AcceptedToken>(entry)
  })

  return { create, rotate, revoke, list, accept }
})

export type Tokens = AccountIds.Tokens
const Service = Context.Service<Tokens, Effect.Success<typeof make>>("prefstream/service/Tokens")

export const Tokens = Object.assign(Service, {
  layer: Layer.effect(Service, make).pipe(Layer.provide(SecureRandom.layerWebCrypto)),
})
