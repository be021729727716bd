/**
 * Operators: people who sign in to the dashboard with a name and a password.
 *
 * Guarantees: accounts are created by sign-in links only; passwords are hashed; a wrong name and a wrong password take
 * the same time; attempts are throttled (`SignInAttempts`). A sign-in link for an existing name replaces its password
 * and ends its sessions. There are no roles; operators cannot be listed or removed.
 */
import { Clock, Context, Effect, Layer, Option, PartitionedSemaphore, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Password from "../../node/Password.ts"
import { Database } from "../database/Database.ts"
import { OneTimeCodes } from "./OneTimeCodes.ts"
import * as Secrets from "./Secrets.ts"
import { Sessions } from "./Sessions.ts"
import * as SignInAttempts from "./SignInAttempts.ts"

/** The link's code is used up, too old, or unknown. */
export class CodeRefused extends Schema.TaggedError<CodeRefused>()("CodeRefused", {}) {}
export class SignInRefused extends Schema.TaggedError<SignInRefused>()("SignInRefused", {}) {}
export interface SignedIn {
  readonly name: string
  /** The value of the session's cookie. */
  readonly session: string
}

/** Password hashes computed concurrently: each takes 64 MiB and a third of a second. */
const maxConcurrentHashes = 2

/** Names that look the same are the same: `Ann`, `ann`. */
const keyOf = (name: string) => name.normalize("NFKC").trim().toLowerCase()

const make = Effect.gen(function* () {
  const { sql, write } = yield* Database
  const codes = yield* OneTimeCodes
  const sessions = yield* Sessions
  const attempt = SignInAttempts.make()
  /** Addresses take turns. */
  const hashing = PartitionedSemaphore.makeUnsafe<string>({ permits: maxConcurrentHashes })

  const signInLink = write(codes.issue("sign-in", "")).pipe(
    Effect.map((code) => `/dashboard/#set-up=${code}`),
    Effect.withSpan("Accounts.signInLink"),
  )

  const anyOperator = Effect.map(sql`SELECT 1 FROM operator LIMIT 1`, (rows) => rows.length > 0)

  const setUp = Effect.fn("Accounts.setUp")(function* (code: string, name: string, password: string) {
    // Checked before hashing, so that only the holder of a code causes that work.
    if (Option.isNone(yield* codes.find("sign-in", code))) return yield* new CodeRefused()
    const hashed = yield* Password.hash(password)
    const session = yield* Secrets.draw()
    const name_key = keyOf(name)
    const created_at = yield* Clock.currentTimeMillis
    const used = yield* write(
      Effect.gen(function* () {
        const used = yield* codes.use("sign-in", code)
        if (Option.isNone(used)) return false
        yield* sql`INSERT INTO operator ${sql.insert({ name_key, name, password: hashed, created_at })}
          ON CONFLICT (name_key) DO UPDATE SET name = excluded.name, password = excluded.password`
        yield* sessions.endAll("operator", name_key)
        yield* sessions.insert("operator", name_key, session)
        return true
      }),
    )
    if (!used) return yield* new CodeRefused()
    return { name, session } satisfies SignedIn
  })

  const signIn = Effect.fn("Accounts.signIn")(function* (name: string, password: string, address: string) {
    const name_key = keyOf(name)
    const giveBack = yield* attempt(address, name_key)
    const rows = yield* sql<{ name: string; password: string }>`
      SELECT name, password FROM operator WHERE name_key = ${name_key}`
    const [operator] = rows
    const right = yield* hashing.withPermit(address)(Password.verify(password, operator?.password))
    if (operator === undefined || !right) return yield* new SignInRefused()
    yield* giveBack
    const session = yield* Secrets.draw()
    yield* write(sessions.insert("operator", name_key, session))
    return { name: operator.name, session } satisfies SignedIn
  })

  const findSession = Effect.fn("Accounts.findSession")(function* (session: string) {
    const subject = yield* sessions.find("operator", session)
    if (Option.isNone(subject)) return Option.none()
    const rows = yield* sql<{ name: string }>`SELECT name FROM operator WHERE name_key = ${subject.value}`
    return Option.map(Option.fromUndefinedOr(rows[0]), ({ name }) => name)
  })

  return { signInLink, anyOperator, setUp, signIn, findSession }
})

export class Accounts extends Context.Service<
  Accounts,
  {
    /** Path and code of a new sign-in link, relative to the service's root. Revokes the previous link. */
    readonly signInLink: Effect.Effect<string, SqlError>
    readonly anyOperator: Effect.Effect<boolean, SqlError>
    /** Makes the account of that name, or gives it a new password and ends its sessions; signs in. */
    readonly setUp: (code: string, name: string, password: string) => Effect.Effect<SignedIn, CodeRefused | SqlError>
    /** @param address where the attempt comes from */
    readonly signIn: (
      name: string,
      password: string,
      address: string,
    ) => Effect.Effect<SignedIn, SignInRefused | SignInAttempts.AttemptsExceeded | SqlError>
    /** The name of the operator whose session it is. */
    readonly findSession: (session: string) => Effect.Effect<Option.Option<string>, SqlError>
  }
>()("prefstream/service/Accounts") {
  static readonly layer = Layer.effect(Accounts, make)
}
