/**
 * Lets admins manage operators. The last admin who can sign in cannot be removed, and keeps the role. Removing an
 * operator ends the operator's sessions and links.
 */
import { Clock, Context, Effect, Layer } from "effect"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import type { OperatorLink, OperatorSummary } from "../pageApi/OperatorsApi.ts"
import type { Role } from "../pageApi/OperatorSession.ts"
import { conflict, notFound } from "../pageApi/WebProblems.ts"
import { nameKey } from "./nameKey.ts"
import { OneTimeCodes } from "./OneTimeCodes.ts"
import { Sessions } from "./Sessions.ts"

interface Row extends Omit<OperatorSummary, "joined"> {
  readonly joined: number
}

const noSuchOperator = notFound("There is no such operator.")

const make = Effect.gen(function* () {
  const { sql, write } = yield* Database
  const codes = yield* OneTimeCodes
  const sessions = yield* Sessions

  const columns = sql.literal("operator_no, name, role, password IS NOT NULL AS joined, created_at, signed_in_at")
  const summaryOf = (row: Row): OperatorSummary => ({ ...row, joined: row.joined === 1 })

  const list = Effect.map(sql<Row>`SELECT ${columns} FROM operator ORDER BY name_key`, (rows) =>
    rows.map(summaryOf),
  ).pipe(Effect.withSpan("Operators.list"))

  const find = (operatorNo: number) =>
    Effect.flatMap(
      sql<Row & { name_key: string }>`SELECT name_key, ${columns} FROM operator WHERE operator_no = ${operatorNo}`,
      ([row]) => (row === undefined ? Effect.fail(noSuchOperator) : Effect.succeed(row)),
    )

  const linkOf = (nameKey: string) =>
    Effect.map(codes.issue("sign-in", nameKey), (code) => `/dashboard/#set-up=${code}`)

  const add = Effect.fn("Operators.add")(function* (name: string, role: Role) {
    const row = { name_key: nameKey(name), name, role, created_at: yield* Clock.currentTimeMillis }
    const [added] = yield* sql<Row>`
      INSERT INTO operator ${sql.insert(row)} ON CONFLICT DO NOTHING RETURNING ${columns}`
    if (added === undefined) return yield* conflict(`An operator named ${name} already exists.`)
    const link = yield* linkOf(row.name_key)
    yield* Audit.record(sql, "operator.add", name, { role })
    return { operator: summaryOf(added), link } satisfies OperatorLink
  }, write)

  const renew = Effect.fn("Operators.renew")(function* (operatorNo: number) {
    const { name_key, ...operator } = yield* find(operatorNo)
    yield* Audit.record(sql, "operator.link", operator.name)
    return { operator: summaryOf(operator), link: yield* linkOf(name_key) } satisfies OperatorLink
  }, write)

  const refuseLastAdmin = Effect.fnUntraced(function* ({ joined, operator_no, role }: Row) {
    if (role !== "admin" || joined === 0) return
    const others = yield* sql`SELECT 1 FROM operator
      WHERE role = 'admin' AND password IS NOT NULL AND operator_no <> ${operator_no} LIMIT 1`
    if (others.length > 0) return
    return yield* conflict("This is the last admin who can sign in. Make another operator an admin first.")
  })

  const setRole = Effect.fn("Operators.setRole")(function* (operatorNo: number, role: Role) {
    const row = yield* find(operatorNo)
    if (role !== "admin") yield* refuseLastAdmin(row)
    yield* Audit.record(sql, "operator.role", row.name, { role, was: row.role })
    const [changed] = yield* sql<Row>`
      UPDATE operator SET role = ${role} WHERE operator_no = ${operatorNo} RETURNING ${columns}`
    return summaryOf(changed!)
  }, write)

  const remove = Effect.fn("Operators.remove")(function* (operatorNo: number) {
    const row = yield* find(operatorNo)
    yield* refuseLastAdmin(row)
    yield* Audit.record(sql, "operator.remove", row.name, { role: row.role })
    yield* sql`DELETE FROM operator WHERE operator_no = ${operatorNo}`
    yield* sessions.endAll("operator", row.name_key)
    yield* codes.endAll("sign-in", row.name_key)
  }, write)

  return { list, add, renew, setRole, remove }
})

export class Operators extends Context.Service<Operators, Effect.Success<typeof make>>()(
  "prefstream/service/Operators",
) {
  static readonly layer = Layer.effect(Operators, make)
}
