import { readdirSync, readFileSync } from "node:fs"
import { dirname } from "node:path"
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Password from "../../../src/node/Password.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { Accounts } from "../../../src/service/account/Accounts.ts"
import { Operators } from "../../../src/service/account/Operators.ts"
import { Sessions } from "../../../src/service/account/Sessions.ts"
import { Tokens } from "../../../src/service/account/Tokens.ts"
import { accountsOver, inProcess, platform, temporaryFile } from "../web/support.ts"
import { testOver } from "../../support/effectTest.ts"

const cheap = Layer.succeed(Password.Cost, { log2N: 4, r: 8, p: 1 })
const test = testOver(Layer.merge(accountsOver(":memory:"), cheap))

const password = "a password of some length"

const here = "203.0.113.7"

/** An attempt with a wrong password; what comes of it. */
const guess = (name: string, address: string) =>
  Accounts.use((accounts) => Effect.map(Effect.flip(accounts.signIn(name, "guess", address)), ({ _tag }) => _tag)).pipe(
    Effect.forkChild,
  )

/** The code of a new sign-in link. */
const code = Accounts.use((accounts) =>
  Effect.map(accounts.signInLink, (link) => /^\/dashboard\/#set-up=([\w-]{43})$/.exec(link)![1]!),
)
const operator = Effect.fnUntraced(function* (name = "Ann") {
  return yield* (yield* Accounts).setUp(yield* code, name, password)
})
const isSignedIn = (session: string) =>
  Accounts.use((accounts) => Effect.map(accounts.findSession(session), Option.isSome))

describe("Accounts", () => {
  test("of two who use one link at once, one gets in", function* () {
    const accounts = yield* Accounts
    assert.isFalse(yield* accounts.anyOperator)
    const used = yield* code
    const exits = yield* Effect.all(
      ["Ann", "Eve"].map((name) => Effect.exit(accounts.setUp(used, name, password))),
      { concurrency: 2 },
    )
    assert.lengthOf(
      exits.filter(({ _tag }) => _tag === "Success"),
      1,
    )
    assert.isTrue(yield* accounts.anyOperator)
  })

  test("a link for any account ends the links of the account that it is used for", function* () {
    const accounts = yield* Accounts
    const { link } = yield* Operators.use((operators) => operators.add("Ann", "admin"))
    yield* operator()
    const pending = /set-up=([\w-]{43})$/.exec(link)![1]!
    assert.strictEqual((yield* Effect.flip(accounts.setUp(pending, "Ann", password)))._tag, "Forbidden")
  })

  test("a sign-in link ends after a day, and when there is a newer one", function* () {
    const accounts = yield* Accounts
    const replaced = yield* code
    const old = yield* code
    assert.strictEqual((yield* Effect.flip(accounts.setUp(replaced, "Ann", password)))._tag, "Forbidden")
    yield* TestClock.adjust("24 hours")
    assert.strictEqual((yield* Effect.flip(accounts.setUp(old, "Ann", password)))._tag, "Forbidden")
    const young = yield* code
    yield* TestClock.adjust("23 hours")
    assert.strictEqual((yield* accounts.setUp(young, "Ann", password)).name, "Ann")
  })

  test("a new link gives a new password, and ends the sessions of the old one", function* () {
    const { session } = yield* operator()
    const other = yield* operator("Bob")
    const accounts = yield* Accounts
    const fresh = yield* accounts.setUp(yield* code, "ann", "quite another password")
    assert.isFalse(yield* isSignedIn(session))
    assert.isTrue(yield* isSignedIn(fresh.session))
    assert.isTrue(yield* isSignedIn(other.session))
    assert.strictEqual((yield* Effect.flip(accounts.signIn("Ann", password, here)))._tag, "SignInRefused")
    yield* accounts.signIn("Ann", "quite another password", here)
  })

  test("at the same address the right password gets in while another's guesses go on, only later", function* () {
    yield* operator()
    const accounts = yield* Accounts
    for (let i = 0; i < 10; i++) yield* Fiber.join(yield* guess("Ann", here))
    for (let round = 0; round < 3; round++) {
      const guessed = yield* guess("Ann", here)
      const right = yield* Effect.forkChild(accounts.signIn("Ann", password, here))
      yield* TestClock.adjust("90 seconds")
      assert.strictEqual(yield* Fiber.join(guessed), "SignInRefused")
      assert.strictEqual((yield* Fiber.join(right)).name, "Ann")
    }
  })

  testOver(platform)("passwords, codes, sessions and tokens stand nowhere in the files", function* () {
    const file = yield* temporaryFile
    yield* Effect.gen(function* () {
      const accounts = yield* Accounts
      const { session } = yield* operator()
      const open = yield* code
      const { token } = yield* Tokens.use((tokens) => tokens.create("pipeline"))
      yield* accounts.signIn("Ann", password, here)
      const folder = dirname(file)
      const texts = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, "latin1"))
      assert.isTrue(
        texts.some((text) => text.includes("$scrypt$")),
        "what is stored is looked into",
      )
      for (const secret of [session, open, password, Redacted.value(token).slice(8)]) {
        assert.isFalse(texts.some((text) => text.includes(secret)))
      }
    }).pipe(Effect.provide(cheap), inProcess(file))
  })
})

describe("Sessions", () => {
  const open = Effect.fnUntraced(function* (kind: "operator" | "expert", subject: string, value: string) {
    const { write } = yield* Database
    yield* write((yield* Sessions).insert(kind, subject, value))
  })
  const find = (kind: "operator" | "expert", value: string) =>
    Sessions.use((sessions) => Effect.map(sessions.find(kind, value), Option.getOrUndefined))

  for (const [kind, used, uses, unused] of [
    ["operator", "11 hours", 2, "12 hours"],
    // Seven days after it began, however often it is used.
    ["operator", "8 hours", 20, "8 hours"],
    ["expert", "29 days", 1, "30 days"],
  ] as const) {
    test(`an ${kind}'s, used ${uses} times, each after ${used}, ends after further ${unused}`, function* () {
      yield* open(kind, "ann", "value")
      for (let i = 0; i < uses; i++) {
        yield* TestClock.adjust(used)
        assert.strictEqual(yield* find(kind, "value"), "ann")
      }
      yield* TestClock.adjust(unused)
      assert.isUndefined(yield* find(kind, "value"))
    })
  }

  test("those that have ended are removed", function* () {
    const { sql } = yield* Database
    yield* open("operator", "ann", "old")
    yield* TestClock.adjust("13 hours")
    yield* open("operator", "ann", "new")
    assert.lengthOf(yield* sql`SELECT * FROM session`, 1)
  })
})
