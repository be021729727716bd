import { createHook } from "node:async_hooks"
import { scryptSync } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Password from "../../src/node/Password.ts"
import { effectTest } from "../support/effectTest.ts"

const testLive = effectTest(it.live)

/** For tests of what does not depend on the cost. */
const cheap = Effect.provideService(Password.Cost, { log2N: 10, r: 8, p: 1 })

describe("Password", () => {
  testLive("stores salt and costs with the hash, and not the password", function* () {
    const [one, two] = yield* Effect.all([Password.hash("the same"), Password.hash("the same")], { concurrency: 2 })
    assert.match(one, /^\$scrypt\$ln=16,r=8,p=2\$[\w-]{22}\$[\w-]{43}$/)
    assert.notStrictEqual(one, two, "a salt for each")
  })

  testLive("goes by the costs that are stored", function* () {
    const key = scryptSync("p", "salt", 32, { N: 2 ** 10, r: 8, p: 1 }).toString("base64url")
    const stored = `$scrypt$ln=10,r=8,p=1$${Buffer.from("salt").toString("base64url")}$${key}`
    assert.isTrue(yield* Password.verify("p", stored))
    assert.isFalse(yield* Password.verify("q", stored))
  })

  it.live("takes the same letters in another form of Unicode", () =>
    Effect.gen(function* () {
      const stored = yield* Password.hash("caf\u00e9 au lait")
      assert.isTrue(yield* Password.verify("cafe\u0301 au lait", stored))
    }).pipe(cheap),
  )

  it.live("who gives up waits until the hash is done: no more than two are under way, whoever asks", () =>
    Effect.gen(function* () {
      let underWay = 0
      const hashes = new Set<number>()
      const hook = yield* Effect.acquireRelease(
        Effect.sync(() =>
          createHook({
            init: (id, type) => {
              if (type !== "SCRYPTREQUEST") return
              hashes.add(id)
              underWay++
            },
            before: (id) => {
              if (hashes.has(id)) underWay--
            },
          }),
        ),
        (hook) => Effect.sync(() => hook.disable()),
      )
      hook.enable()
      const asked = yield* Effect.forkChild(Password.hash("given up"), { startImmediately: true })
      assert.strictEqual(underWay, 1)
      yield* Fiber.interrupt(asked)
      assert.strictEqual(underWay, 0)
    }).pipe(cheap),
  )
})
