/**
 * One-time codes in links. A code is accepted once, before it expires, and only for its purpose. It is in the link's
 * fragment, which browsers do not send, so no server logs it. Call all functions except `find` inside `Database.write`.
 */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { Database } from "../database/Database.ts"
import { linkHours } from "../pageApi/PageConstants.ts"
import * as Secrets from "./Secrets.ts"

export type CodeKind = keyof typeof linkHours

const make = Effect.gen(function* () {
  const { sql } = yield* Database

  const issue = Effect.fn("OneTimeCodes.issue")(function* (kind: CodeKind, subject: string) {
    const code = yield* Secrets.draw()
    const created_at = yield* Clock.currentTimeMillis
    const expires_at = created_at + Duration.toMillis(Duration.hours(linkHours[kind]))
    yield* sql`DELETE FROM one_time_code WHERE (kind = ${kind} AND subject = ${subject}) OR expires_at <= ${created_at}`
    yield* sql`INSERT INTO one_time_code ${sql.insert({ hash: Secrets.hash(code), kind, subject, created_at, expires_at })}`
    return code
  })

  const find = Effect.fn("OneTimeCodes.find")(function* (kind: CodeKind, code: string) {
    const now = yield* Clock.currentTimeMillis
    const rows = yield* sql<{ subject: string }>`
      SELECT subject FROM one_time_code
      WHERE hash = ${Secrets.hash(code)} AND kind = ${kind} AND expires_at > ${now}`
    return Option.map(Option.fromUndefinedOr(rows[0]), ({ subject }) => subject)
  })

  const use = Effect.fn("OneTimeCodes.use")(function* (kind: CodeKind, code: string) {
    const now = yield* Clock.currentTimeMillis
    const rows = yield* sql<{ subject: string }>`
      DELETE FROM one_time_code
      WHERE hash = ${Secrets.hash(code)} AND kind = ${kind} AND expires_at > ${now} RETURNING subject`
    return Option.map(Option.fromUndefinedOr(rows[0]), ({ subject }) => subject)
  })

  const endAll = Effect.fn("OneTimeCodes.endAll")(function* (kind: CodeKind, subject: string) {
    yield* sql`DELETE FROM one_time_code WHERE kind = ${kind} AND subject = ${subject}`
  })

  return { issue, find, use, endAll }
})

export class OneTimeCodes extends Context.Service<OneTimeCodes, Effect.Success<typeof make>>()(
  "prefstream/service/OneTimeCodes",
) {
  static readonly layer = Layer.effect(OneTimeCodes, make)
}
