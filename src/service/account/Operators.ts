/**
 * Management of operators by admins: list, invite by link, set a role, remove.
 *
 * Guarantees: there is always an admin who can sign in. Removal ends sessions and revokes links in the same write. A
 * link is for the account that it was made for, whatever name its user enters.
 */
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import type { OperatorLink, OperatorSummary } from "../pageApi/OperatorsApi.ts"
import type { Role } from "../pageApi/OperatorSession.ts"
import { keyOf } from "./Accounts.ts"
import { OneTimeCodes } from "./OneTimeCodes.ts"
import { Sessions } from "./Sessions.ts"

export class NameTaken extends Schema.TaggedError<NameTaken>()("NameTaken", {}) {}
export class NoSuchOperator extends Schema.TaggedError<NoSuchOperator>()("NoSuchOperator", {}) {}
/** The change would leave nobody who can manage operators. */
export class LastAdmin extends Schema.TaggedError<LastAdmin>()("LastAdmin", {}) {}

interface Row extends Omit<OperatorSummary, "joined"> {
  readonly joined: number
}

type Checked<A, E> = Effect.fn.Return<Result.Result<A, E>, SqlError>

const make = Effect.gen(function* () {
  const { sql, write } = yield* Database
  const codes = yield* OneTimeCodes
  const sessions = yield* Sessions

  const columns = sql.literal("operator_no, name, role, password IS NOT NULL AS joined, created_at, signed_in_at")
  const summaryOf = (row: Row): OperatorSummary => ({ ...row, joined: row.joined === 1 })

  /** Runs statements in a write. They check before they change anything, so a failure changes nothing. */
  const writeChecked = <A, E>(
    statements: () => Effect.fn.Return<Result.Result<A, E>, SqlError>,
  ): Effect.Effect<A, E | SqlError> => Effect.flatMap(write(Effect.gen(statements)), Effect.fromResult)

  /** Lists operators by name. */
  const list = Effect.map(sql<Row>`SELECT ${columns} FROM operator ORDER BY name_key`, (rows) =>
    rows.map(summaryOf),
  ).pipe(Effect.withSpan("Operators.list"))

  const find = (operatorNo: number) =>
    Effect.map(
      sql<Row & { name_key: string }>`SELECT name_key, ${columns} FROM operator WHERE operator_no = ${operatorNo}`,
      ([row]) => row,
    )

  const linkOf = (nameKey: string) =>
    Effect.map(codes.issue("sign-in", nameKey), (code) => `/dashboard/#set-up=${code}`)

  const add = Effect.fn("Operators.add")(function* (name: string, role: Role) {
    const row = { name_key: keyOf(name), name, role, created_at: yield* Clock.currentTimeMillis }
    return yield* writeChecked(function* (): Checked<OperatorLink, NameTaken> {
      const [added] = yield* sql<Row>`
          INSERT INTO operator ${sql.insert(row)} ON CONFLICT DO NOTHING RETURNING ${columns}`
      if (added === undefined) return Result.fail(new NameTaken())
      const link = yield* linkOf(row.name_key)
      yield* Audit.record(sql, "operator.add", name, { role })
      return Result.succeed({ operator: summaryOf(added), link })
    })
  })

  /** Makes a link that replaces the operator's password, and revokes the previous link. */
  const renew = Effect.fn("Operators.renew")((operatorNo: number) =>
    writeChecked(function* (): Checked<OperatorLink, NoSuchOperator> {
      const row = yield* find(operatorNo)
      if (row === undefined) return Result.fail(new NoSuchOperator())
      const { name_key, ...operator } = row
      yield* Audit.record(sql, "operator.link", row.name)
      return Result.succeed({ operator: summaryOf(operator), link: yield* linkOf(name_key) })
    }),
  )

  /** Whether the operator is the only admin with a password. */
  const isLastAdmin = ({ joined, operator_no, role }: Row) =>
    role === "admin" && joined === 1
      ? Effect.map(
          sql`SELECT 1 FROM operator
            WHERE role = 'admin' AND password IS NOT NULL AND operator_no <> ${operator_no} LIMIT 1`,
          (others) => others.length === 0,
        )
      : Effect.succeed(false)

  const setRole = Effect.fn("Operators.setRole")((operatorNo: number, role: Role) =>
    writeChecked(function* (): Checked<OperatorSummary, NoSuchOperator | LastAdmin> {
      const row = yield* find(operatorNo)
      if (row === undefined) return Result.fail(new NoSuchOperator())
      if (role !== "admin" && (yield* isLastAdmin(row))) return Result.fail(new LastAdmin())
      yield* Audit.record(sql, "operator.role", row.name, { role, was: row.role })
      const [changed] = yield* sql<Row>`
          UPDATE operator SET role = ${role} WHERE operator_no = ${operatorNo} RETURNING ${columns}`
      return Result.succeed(summaryOf(changed!))
    }),
  )

  const remove = Effect.fn("Operators.remove")((operatorNo: number) =>
    writeChecked(function* (): Checked<void, NoSuchOperator | LastAdmin> {
      const row = yield* find(operatorNo)
      if (row === undefined) return Result.fail(new NoSuchOperator())
      if (yield* isLastAdmin(row)) return Result.fail(new LastAdmin())
      yield* Audit.record(sql, "operator.remove", row.name, { role: row.role })
      yield* sql`DELETE FROM operator WHERE operator_no = ${operatorNo}`
      yield* sessions.endAll("operator", row.name_key)
      yield* codes.endAll("sign-in", row.name_key)
      return Result.void
    }),
  )

  return { list, add, renew, setRole, remove }
})

export class Operators extends Context.Service<Operators, Effect.Success<typeof make>>()(
  "prefstream/service/Operators",
) {
  static readonly layer = Layer.effect(Operators, make)
}
