/**
 * Sign-in to the dashboard with a name and a password. A password is first set with a link. `Operators` makes links for
 * one account. A link from `signInLink` names no account: its user chooses one. An unknown name is refused after the
 * same time as a wrong password. A change of password ends the account's sessions and refuses sign-ins begun before it.
 */
import { Clock, Context, Effect, Layer, Option, PartitionedSemaphore, Schema, Struct } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Forbidden } from "../../api/Problems.ts"
import * as Password from "../../node/Password.ts"
import * as Audit from "../database/Audit.ts"
import { Database } from "../database/Database.ts"
import type { Operator } from "../pageApi/OperatorSession.ts"
import { OneTimeCodes } from "./OneTimeCodes.ts"
import * as Secrets from "./Secrets.ts"
import { Sessions } from "./Sessions.ts"
import * as SignInAttempts from "./SignInAttempts.ts"
import type * as AccountIds from "./AccountIds.ts"
import { nameKey } from "./nameKey.ts"

const codeRefused = new Forbidden({
  detail:
    "This link has already been used, has expired, or was replaced. Ask an admin for a new one, or restart the service with --sign-in-link.",
})

export class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", {}) {}
export interface SignedIn extends Omit<Operator, "operator_no"> {
  readonly session: string
}

/** The maximum number of password hashes computed concurrently. Each takes 64 MiB and a third of a second. */
const maxConcurrentHashes = 2

/** A sign-in code's subject is an account's `name_key`, or this value if the code is valid for any account. */
const anyAccount = ""

type SameTransaction = Effect.Effect<unknown, SqlError>

const make = Effect.gen(function* () {
  const { sql, write } = yield* Database
  const codes = yield* OneTimeCodes
  const sessions = yield* Sessions
  const attempt = SignInAttempts.make()
  const hashing = PartitionedSemaphore.makeUnsafe<string>({ permits: maxConcurrentHashes })

  const signInLink = write(
    Effect.tap(codes.issue("sign-in", anyAccount), Audit.record(sql, "operator.link", "anybody")),
  ).pipe(
    Effect.map((code) => `/dashboard/#set-up=${code}`),
    Effect.withSpan("Accounts.signInLink"),
  )

  const anyOperator = Effect.map(
    sql`SELECT 1 FROM operator WHERE password IS NOT NULL LIMIT 1`,
    (rows) => rows.length > 0,
  )

  const findLink = Effect.fn("Accounts.findLink")(function* (code: string) {
    const subject = yield* codes.find("sign-in", code)
    if (Option.isNone(subject)) return yield* codeRefused
    if (subject.value === anyAccount) return Option.none()
    const rows = yield* sql<{ name: string }>`SELECT name FROM operator WHERE name_key = ${subject.value}`
    return Option.some(rows[0]!.name)
  })

  /** If the link has no account, the account `chosen` gets the password, and is created as an admin if missing. */
  const setUp = Effect.fn("Accounts.setUp")(function* (code: string, chosen: string, password: string) {
    // The code is checked before hashing, because hashing is expensive.
    const name = Option.getOrElse(yield* findLink(code), () => chosen)
    const hashed = yield* Password.hash(password)
    const session = yield* Secrets.draw()
    const name_key = nameKey(name)
    const now = yield* Clock.currentTimeMillis
    const operator = yield* write(
      Effect.gen(function* () {
        const used = yield* codes.use("sign-in", code)
        if (Option.isNone(used)) return yield* codeRefused
        const row = { name_key, name, password: hashed, role: "admin", created_at: now, signed_in_at: now }
        const [operator] = yield* sql<Operator>`INSERT INTO operator ${sql.insert(row)}
          ON CONFLICT (name_key) DO UPDATE
          SET name = excluded.name, password = excluded.password, signed_in_at = excluded.signed_in_at
          RETURNING operator_no, name, role`
        yield* codes.endAll("sign-in", name_key)
        yield* sessions.endAll("operator", name_key)
        yield* sessions.insert("operator", name_key, session)
        yield* recordOf(operator!, "operator.set-up")
        return operator!
      }),
    )
    return { name: operator.name, role: operator.role, session } satisfies SignedIn
  })

  /** Records an action of an operator who has no session yet. */
  const recordOf = (operator: Omit<Operator, "role">, action: string) =>
    Effect.provideService(Audit.record(sql, action, operator.name), Audit.Actor, operator)

  const operatorOf = (name_key: string) =>
    Effect.map(
      sql<Operator & { password: string | null }>`
        SELECT operator_no, name, role, password FROM operator WHERE name_key = ${name_key}`,
      ([operator]) => operator,
    )

  const verified = Effect.fnUntraced(function* (name_key: string, password: string, address: string) {
    const giveBack = yield* attempt(address, name_key)
    const operator = yield* operatorOf(name_key)
    const right = yield* hashing.withPermit(address)(Password.verify(password, operator?.password ?? undefined))
    if (operator === undefined || !right) return yield* new SignInRefused()
    yield* giveBack
    return operator
  })

  const openSession = Effect.fnUntraced(function* (name_key: string, password: string | null, along: SameTransaction) {
    const session = yield* Secrets.draw()
    yield* write(
      Effect.gen(function* () {
        const rows = yield* sql`SELECT 1 FROM operator WHERE name_key = ${name_key} AND password = ${password}`
        if (rows.length === 0) return yield* new SignInRefused()
        yield* along
        yield* sessions.insert("operator", name_key, session)
      }),
    )
    return session
  })

  const signIn = Effect.fn("Accounts.signIn")(function* (name: string, password: string, address: string) {
    const name_key = nameKey(name)
    const operator = yield* verified(name_key, password, address)
    const now = yield* Clock.currentTimeMillis
    const session = yield* openSession(
      name_key,
      operator.password,
      Effect.andThen(
        sql`UPDATE operator SET signed_in_at = ${now} WHERE name_key = ${name_key}`,
        recordOf(operator, "operator.sign-in"),
      ),
    )
    return { name: operator.name, role: operator.role, session } satisfies SignedIn
  })

  const changePassword = Effect.fn("Accounts.changePassword")(function* (
    name: string,
    current: string,
    password: string,
    address: string,
  ) {
    const name_key = nameKey(name)
    const operator = yield* verified(name_key, current, address)
    const hashed = yield* Password.hash(password)
    return yield* openSession(
      name_key,
      operator.password,
      Effect.gen(function* () {
        yield* recordOf(operator, "operator.password")
        yield* sql`UPDATE operator SET password = ${hashed} WHERE name_key = ${name_key}`
        yield* sessions.endAll("operator", name_key)
        yield* codes.endAll("sign-in", name_key)
      }),
    )
  })

  const findSession = Effect.fn("Accounts.findSession")(function* (session: string) {
    const subject = yield* sessions.find("operator", session)
    if (Option.isNone(subject)) return Option.none()
    const operator = yield* operatorOf(subject.value)
    return Option.map(Option.fromUndefinedOr(operator), Struct.pick(["operator_no", "name", "role"]))
  })

  return { signInLink, anyOperator, findLink, setUp, signIn, changePassword, findSession }
})

export type Accounts = AccountIds.Accounts
const Service = Context.Service<Accounts, Effect.Success<typeof make>>("prefstream/service/Accounts")

export const Accounts = Object.assign(Service, { layer: Layer.effect(Service, make) })
