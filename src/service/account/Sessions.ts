/** Sessions: random cookies, stored as hashes. They end after an idle time and at a maximum age. */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { Database } from "../database/Database.ts"
import * as Secrets from "./Secrets.ts"

export type SessionKind = "operator" | "expert"

export const lifetimes: {
  readonly [kind in SessionKind]: { readonly idle: Duration.Duration; readonly absolute: Duration.Duration }
} = {
  operator: { idle: Duration.hours(12), absolute: Duration.days(7) },
  expert: { idle: Duration.days(30), absolute: Duration.days(180) },
}
const writeIntervalMillis = Duration.toMillis("1 minute")

const make = Effect.gen(function* () {
  const { sql, write } = yield* Database

  const insert = Effect.fn("Sessions.insert")(function* (kind: SessionKind, subject: string, value: string) {
    const now = yield* Clock.currentTimeMillis
    const { absolute, idle } = lifetimes[kind]
    yield* sql`DELETE FROM session WHERE kind = ${kind}
      AND (last_used_at <= ${now - Duration.toMillis(idle)} OR created_at <= ${now - Duration.toMillis(absolute)})`
    const row = { hash: Secrets.hash(value), kind, subject, created_at: now, last_used_at: now }
    yield* sql`INSERT INTO session ${sql.insert(row)}`
  })

  const find = Effect.fn("Sessions.find")(function* (kind: SessionKind, value: string) {
    if (value === "") return Option.none()
    const hash = Secrets.hash(value)
    const rows = yield* sql<{ subject: string; created_at: number; last_used_at: number }>`
      SELECT subject, created_at, last_used_at FROM session WHERE hash = ${hash} AND kind = ${kind}`
    const [session] = rows
    if (session === undefined) return Option.none()
    const now = yield* Clock.currentTimeMillis
    const { absolute, idle } = lifetimes[kind]
    const ended =
      now - session.last_used_at >= Duration.toMillis(idle) || now - session.created_at >= Duration.toMillis(absolute)
    if (ended) return Option.none()
    if (now - session.last_used_at >= writeIntervalMillis) {
      yield* write(sql`UPDATE session SET last_used_at = ${now} WHERE hash = ${hash}`)
    }
    return Option.some(session.subject)
  })

  const end = Effect.fn("Sessions.end")(function* (value: string) {
    yield* write(sql`DELETE FROM session WHERE hash = ${Secrets.hash(value)}`)
  })

  const endAll = Effect.fn("Sessions.endAll")(function* (kind: SessionKind, subject: string) {
    yield* sql`DELETE FROM session WHERE kind = ${kind} AND subject = ${subject}`
  })

  return { insert, find, end, endAll }
})

export class Sessions extends Context.Service<Sessions, Effect.Success<typeof make>>()("prefstream/service/Sessions") {
  static readonly layer = Layer.effect(Sessions, make)
}
