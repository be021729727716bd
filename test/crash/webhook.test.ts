import { existsSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { type Receiver, receiver, silent, temporaryFile, verifiedBy } from "../service/webhook/support.ts"
import { bundle } from "../support/built.ts"
import { drawn, leftOut } from "../support/cases.ts"
import { spawned, until } from "../support/process.ts"

const fixture = await bundle("webhooks", "test/crash/fixtures/webhooks.ts")
const events = 24

/** A number from a file that another process is writing; while it can't be read, one that is equal to nothing. */
const count = (file: string, from: string): number => {
  if (!existsSync(file)) return NaN
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly: true })
    return Number(database.prepare(`SELECT COUNT(*) AS n FROM ${from}`).get()!["n"])
  } catch {
    return NaN // not created yet, or being recovered
  } finally {
    database?.close()
  }
}

const messages = "webhook_message"
const waiting = "webhook_message WHERE state = 'waiting'"
const attempts = "webhook_attempt"

interface World {
  readonly file: string
  readonly target: Receiver
}

/** Starts a service, kills it at a moment, if one is given, and keeps what it said. */
const makeService = Effect.fnUntraced(function* (file: string) {
  const stored = new Set<string>()
  let secret = ""

  const run = (args: ReadonlyArray<string>, moment: () => boolean) =>
    Effect.promise(async () => {
      const service = spawned(process.execPath, [fixture, file, ...args])
      const { child } = service
      try {
        await until("the moment to kill", () => child.exitCode !== null || child.signalCode !== null || moment())
      } finally {
        child.kill("SIGKILL")
      }
      const { signal, stderr, stdout } = await service.ended
      assert.strictEqual(signal, "SIGKILL", `it ended before the moment came: ${stderr}`)
      for (const [, id] of stdout.matchAll(/stored (\S+)/g)) stored.add(id!)
      secret = /secret (\S+)/.exec(stdout)?.[1] ?? secret
    })

  return { run, stored, secret: () => secret }
})

/** Each stored event has been received, under its id and with one body, and is known to be. */
const nothingIsLost = (
  { file, target }: World,
  service: Effect.Success<ReturnType<typeof makeService>>,
  accepted: ReadonlySet<string>,
) => {
  assert.strictEqual(count(file, waiting), 0)
  assert.strictEqual(count(file, "webhook_message WHERE state = 'delivered'"), accepted.size)
  for (const id of service.stored) assert.isTrue(accepted.has(id), `${id} was stored and never accepted`)
  const bodies = new Map<string, string>()
  for (const request of target.received) {
    const id = String(request.headers["webhook-id"])
    assert.strictEqual(request.body, bodies.get(id) ?? request.body)
    bodies.set(id, request.body)
    verifiedBy(service.secret(), request)
  }
  assert.strictEqual(new Set(bodies.values()).size, bodies.size)
}

const world = Effect.gen(function* () {
  const file = yield* temporaryFile
  const accepted = new Set<string>()
  const target = yield* receiver()
  const accept: Receiver["react"] = ({ headers }) => {
    accepted.add(String(headers["webhook-id"]))
    return { status: 200 }
  }
  return { file, target, accepted, accept, service: yield* makeService(file) }
})

const toStart = (url: string) => [url, String(events)]
const isLeftOut = leftOut(3)
const delivered = (file: string) => () => count(file, attempts) > 0 && count(file, waiting) === 0

describe("kill -9 of a service that has webhooks to send", () => {
  for (const [when, reached] of drawn([
    ["the first event is stored", (file: string) => count(file, messages) > 0],
    ["the first attempt is stored", (file: string) => count(file, attempts) > 0],
    ["10 are delivered", (file: string) => count(file, "webhook_message WHERE state = 'delivered'") >= 10],
  ] as const)) {
    it.live(`when ${when}: what was stored arrives`, () =>
      Effect.gen(function* () {
        const { accept, accepted, file, service, target } = yield* world
        target.react = accept
        yield* service.run(toStart(target.url), () => reached(file))
        // What was stored in the moment of the kill had no time to be said.
        const stored = count(file, messages)
        assert.isAtLeast(stored, Math.max(1, service.stored.size))
        yield* service.run([], () => count(file, waiting) === 0)
        assert.strictEqual(accepted.size, stored)
        nothingIsLost({ file, target }, service, accepted)
      }),
    )
  }

  it.live.skipIf(isLeftOut(0))("while the receiver is down, again and again: all arrives when it is up", () =>
    Effect.gen(function* () {
      const { accepted, file, service } = yield* world
      const first = yield* Scope.make()
      const { url } = yield* receiver().pipe(Scope.provide(first))
      yield* Scope.close(first, Exit.void)

      yield* service.run(toStart(url), () => count(file, messages) === events && count(file, attempts) >= 2 * events)
      for (const more of [3, 4]) {
        const before = count(file, attempts)
        assert.strictEqual(count(file, waiting), events)
        yield* service.run([], () => count(file, attempts) >= before + more * events)
      }

      const target = yield* receiver(
        ({ headers }) => {
          accepted.add(String(headers["webhook-id"]))
          return { status: 200 }
        },
        Number(new URL(url).port),
      )
      yield* service.run([], delivered(file))
      nothingIsLost({ file, target }, service, accepted)
      assert.strictEqual(accepted.size, events)
      assert.lengthOf(target.received, events)
    }),
  )

  it.live.skipIf(isLeftOut(1))(
    "while the receiver answers 500, in the moment of a request: all arrives when it answers 200",
    () =>
      Effect.gen(function* () {
        const { accept, accepted, file, service, target } = yield* world
        target.react = () => ({ status: 500 })
        for (const [i, requests] of [1, 15, 70].entries()) {
          yield* service.run(i === 0 ? toStart(target.url) : [], () => target.received.length >= requests)
        }
        target.react = accept
        yield* service.run([], delivered(file))
        nothingIsLost({ file, target }, service, accepted)
      }),
  )

  it.live.skipIf(isLeftOut(2))("while the receiver is slow: what was under way is sent again under its id", () =>
    Effect.gen(function* () {
      const { accept, accepted, file, service, target } = yield* world
      target.react = () => silent
      yield* service.run(toStart(target.url), () => target.received.length === 8 && count(file, messages) === events)
      assert.strictEqual(count(file, attempts), 0)
      const broken = target.received.map(({ headers }) => String(headers["webhook-id"]))
      yield* service.run([], () => target.received.length === 16)
      assert.sameMembers(
        target.received.slice(8).map(({ headers }) => String(headers["webhook-id"])),
        broken,
      )
      target.react = accept
      yield* service.run([], delivered(file))
      nothingIsLost({ file, target }, service, accepted)
    }),
  )

  it.live.skipIf(isLeftOut(3))("in the moment of a 200: it is delivered, twice at most", () =>
    Effect.gen(function* () {
      const { accept, accepted, file, service, target } = yield* world
      target.react = accept
      yield* service.run(toStart(target.url), () => target.received.length >= 5)
      yield* service.run([], () => count(file, waiting) === 0)
      nothingIsLost({ file, target }, service, accepted)
      for (const id of accepted) {
        assert.isAtMost(target.received.filter(({ headers }) => headers["webhook-id"] === id).length, 2)
      }
    }),
  )

  it.live.skipIf(isLeftOut(4))(
    "around a 410: it stays disabled over restarts, and all arrives when the URL is set again",
    () =>
      Effect.gen(function* () {
        const { accept, accepted, file, service, target } = yield* world
        target.react = () => ({ status: 410 })
        const disabled = () => count(file, "webhook_endpoint WHERE enabled = 0") === 1
        yield* service.run(toStart(target.url), () => target.received.length >= 1)
        yield* service.run([], disabled)

        const before = target.received.length
        target.react = accept
        let ready = false
        yield* Effect.promise(async () => {
          const idle = spawned(process.execPath, [fixture, file])
          await idle.says(/ready/)
          ready = true
          idle.child.kill("SIGKILL")
          await idle.ended
        })
        assert.isTrue(ready)
        assert.lengthOf(target.received, before)
        assert.isTrue(disabled())
        assert.isAtLeast(count(file, waiting), 1)

        yield* service.run([target.url], () => count(file, waiting) === 0)
        nothingIsLost({ file, target }, service, accepted)
      }),
  )
})
