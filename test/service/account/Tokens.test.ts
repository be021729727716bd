import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as SqliteClient from "../../../src/node/SqliteClient.ts"
import { Database } from "../../../src/service/database/Database.ts"
import * as Secrets from "../../../src/service/account/Secrets.ts"
import { Tokens } from "../../../src/service/account/Tokens.ts"
import { accountsOver, inProcess, platform, temporaryFile } from "../web/support.ts"
import { databaseThrough } from "../webhook/support.ts"
import { testOver } from "../../support/effectTest.ts"

const isAccepted = (token: Redacted.Redacted<string>) =>
  Tokens.use((tokens) => Effect.map(tokens.accept(Secrets.hash(Redacted.value(token))), Option.isSome))

const storedLastUse = Database.use(({ sql }) =>
  Effect.map(
    sql<{ last_used_at: number | null }>`SELECT last_used_at FROM organization_token`,
    (rows) => rows[0]!.last_used_at,
  ),
)

const test = testOver(accountsOver(":memory:"))

testOver(platform)("a token that was revoked is refused at once, and after a restart", function* () {
  const file = yield* temporaryFile
  const [token, kept] = yield* Effect.gen(function* () {
    const tokens = yield* Tokens
    const { summary, token } = yield* tokens.create("leaked")
    const other = yield* tokens.create("other")
    yield* tokens.revoke(summary.token_id)
    assert.isFalse(yield* isAccepted(token))
    assert.isTrue(yield* isAccepted(other.token))
    yield* tokens.revoke(summary.token_id)
    assert.isNumber((yield* tokens.list)[1]!.revoked_at)
    return [token, other.token] as const
  }).pipe(inProcess(file))
  const accepted = Effect.all([isAccepted(token), isAccepted(kept)])
  assert.deepStrictEqual(yield* accepted.pipe(inProcess(file)), [false, true])
})

testOver(platform)("its last use is known at once, and written once a minute", function* () {
  const file = yield* temporaryFile
  yield* Effect.gen(function* () {
    const tokens = yield* Tokens
    const { token } = yield* tokens.create("pipeline")
    // Nothing to write within the first minute of the epoch, at which the test's clock starts.
    yield* TestClock.adjust("1 hour")
    assert.isNull((yield* tokens.list)[0]!.last_used_at)
    const start = 3_600_000
    yield* isAccepted(token)
    yield* TestClock.adjust("59 seconds")
    yield* isAccepted(token)
    assert.strictEqual((yield* tokens.list)[0]!.last_used_at, start + 59_000)
  }).pipe(inProcess(file))
  // What was asked for is written before the database is closed.
  const stored = yield* storedLastUse.pipe(inProcess(file))
  assert.strictEqual(stored, 3_600_000)
})

test("of a rotation and a revocation at once, the token is revoked in any case", function* () {
  const tokens = yield* Tokens
  for (const inOrder of [true, false]) {
    const { summary, token } = yield* tokens.create("pipeline")
    const rotate = Effect.exit(tokens.rotate(summary.token_id, 24))
    const revoke = Effect.exit(tokens.revoke(summary.token_id))
    const [first, second] = yield* Effect.all(inOrder ? [rotate, revoke] : [revoke, rotate], { concurrency: 2 })
    assert.include([first._tag, second._tag], "Success")
    assert.isFalse(yield* isAccepted(token))
    const listed = (yield* tokens.list).find(({ token_id }) => token_id === summary.token_id)
    assert.isNumber(listed!.revoked_at)
  }
})

test("of two rotations at once, both of the new tokens are accepted, and the old one for the shorter time", function* () {
  const tokens = yield* Tokens
  const { summary, token } = yield* tokens.create("pipeline")
  const fresh = yield* Effect.all([tokens.rotate(summary.token_id, 1), tokens.rotate(summary.token_id, 10)], {
    concurrency: 2,
  })
  for (const { token } of fresh) assert.isTrue(yield* isAccepted(token))
  yield* TestClock.adjust("59 minutes")
  assert.isTrue(yield* isAccepted(token))
  yield* TestClock.adjust("1 minute")
  assert.isFalse(yield* isAccepted(token))
  for (const { token } of fresh) assert.isTrue(yield* isAccepted(token))
  assert.strictEqual((yield* Effect.flip(tokens.rotate(summary.token_id, 2)))._tag, "Conflict")
  assert.strictEqual((yield* tokens.list).at(-1)!.expires_at, 3_600_000)
})

testOver(platform)("who gives up while a rotation is written leaves memory and file the same", function* () {
  const committed = yield* Deferred.make<void>()
  const goOn = yield* Deferred.make<void>()
  let gated = false
  /** The file's own database, which lets a write wait after its commit. */
  const slow = databaseThrough((write) =>
    Effect.tap(write, () =>
      gated ? Effect.andThen(Deferred.succeed(committed, undefined), Deferred.await(goOn)) : Effect.void,
    ),
  )
  const file = yield* temporaryFile
  yield* Effect.gen(function* () {
    const tokens = yield* Tokens
    const { summary, token } = yield* tokens.create("pipeline")
    gated = true
    const rotating = yield* Effect.forkChild(tokens.rotate(summary.token_id, 0))
    yield* Deferred.await(committed)
    const givenUp = yield* Effect.forkChild(Fiber.interrupt(rotating), { startImmediately: true })
    gated = false
    yield* Deferred.succeed(goOn, undefined)
    yield* Fiber.join(givenUp)
    const listed = (yield* tokens.list).find(({ token_id }) => token_id === summary.token_id)
    assert.strictEqual(listed!.expires_at, 0, "the file says that it has ended")
    assert.isFalse(yield* isAccepted(token), "and so does the memory")
  }).pipe(
    Effect.provide(
      Layer.fresh(Tokens.layer.pipe(Layer.provide(slow), Layer.provide(SqliteClient.layer({ filename: file })))),
    ),
  )
})
