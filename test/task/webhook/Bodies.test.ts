/** What anybody can do to a receiver who finds its port. */
import { createHmac } from "node:crypto"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import { effectTest } from "../../support/effectTest.ts"
import { test } from "../../support/job.ts"
import { completed, deliver, otherSecret, send, signed } from "../../support/webhooks.ts"
import {
  dial,
  dialled,
  due,
  exchange,
  headOf,
  logged,
  outstanding,
  received,
  testReceived,
  receiving,
  withLedger,
} from "./webhookSupport.ts"

/** Headers that only the body can show to be forged. */
const plausible = (at?: number) => signed("{}", { secret: otherSecret, at }).headers

const ago = (millis: number) => Date.now() - millis

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

/** A genuine delivery, as text. */
const genuine = (taskId: string, headers: Record<string, string | number> = {}) => {
  const delivery = signed(completed([taskId]))
  const head = headOf({ ...delivery.headers, "content-length": delivery.body.length, connection: "close", ...headers })
  return head + delivery.body
}

const nothingReceived = Ledger.use((ledger) =>
  Effect.map(ledger.deliveries, (deliveries) =>
    assert.deepStrictEqual(deliveries, { received: 0, last: Option.none() }),
  ),
)

describe("a receiver of webhooks", () => {
  testReceived(
    "serves small deliveries at once beside large ones that take all the place, and large ones again after them",
    function* (url) {
      const size = 1_000_000
      const large = [headOf({ ...plausible(), "content-length": size + 1 }), Buffer.alloc(size)] as const
      yield* Effect.gen(function* () {
        const senders = yield* dialled(url, 45, ...large)
        yield* Effect.repeat(Effect.yieldNow, {
          until: () => senders.some(({ said }) => statusOf(said()) === 503),
        })
        const small = { task_id: "task_0", padding: "x".repeat(60_000) }
        const held = yield* dialled(url, 40, headOf({ ...plausible(), "content-length": 60_001 }), Buffer.alloc(60_000))
        const statuses = yield* Effect.forEach(Array.from({ length: 20 }), () => deliver(url, small))
        assert.deepStrictEqual([...new Set(statuses)], [204])
        assert.deepStrictEqual([...new Set(held.map(({ said }) => said()))], [""])
        assert.isAbove(senders.filter(({ said }) => said() === "").length, 25)
      }).pipe(Effect.scoped)
      const payload = { task_id: "task_1", padding: "x".repeat(size) }
      yield* Effect.repeat(deliver(url, payload), { until: (status) => status === 204 })
      assert.deepStrictEqual(yield* due, ["task_0", "task_1"])
    },
  )

  it.effect("serves others at once beside more that never finish than it reads from: the oldest of them go", () =>
    received(function* (url) {
      const slow = yield* dialled(url, 520, headOf({ ...plausible(0), "content-length": 900_000 }), "{")
      for (const task of ["task_0", "task_1", "task_2"]) {
        assert.strictEqual(yield* deliver(url, completed([task]), { at: 0 }), 204)
      }
      assert.deepStrictEqual((yield* due).toSorted(), ["task_0", "task_1", "task_2"])
      const answers = slow.map(({ said }) => statusOf(said()))
      assert.deepStrictEqual([...new Set(answers.filter((status) => !Number.isNaN(status)))], [408])
    }),
  )

  it.effect("cuts off a sender that pauses for 5 seconds, and goes on", () =>
    received(function* (url) {
      const { said, socket } = dial(url, headOf({ ...plausible(0), "content-length": 900, expect: "100-continue" }))
      // It waits for the body from here on.
      yield* Effect.repeat(Effect.yieldNow, { until: () => said() === "HTTP/1.1 100 Continue\r\n\r\n" })
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual(yield* deliver(url, completed(["task_0"]), { at: 4_999 }), 204)
      assert.notInclude(said(), "408")
      yield* TestClock.adjust("1 millis")
      yield* Effect.repeat(Effect.yieldNow, { until: () => said().includes("HTTP/1.1 408") })
      assert.strictEqual(yield* deliver(url, completed(["task_1"]), { at: 5_000 }), 204)
      assert.deepStrictEqual(yield* due, ["task_0", "task_1"])
      socket.destroy()
    }),
  )

  it.effect("cuts off a sender that goes on and on after 15 seconds", () =>
    received(function* (url) {
      const { said, socket } = dial(url, headOf({ ...plausible(0), "content-length": 900_000 }))
      let sent = 0
      yield* Effect.gen(function* () {
        socket.write("x")
        sent++
        yield* Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
        yield* TestClock.adjust("5 millis")
      }).pipe(Effect.repeat({ until: () => said() !== "" }))
      assert.strictEqual(statusOf(said()), 408)
      assert.isAtLeast(sent, 3_000)
      socket.destroy()
    }),
  )

  testReceived("reads no body where the headers tell enough", function* (url) {
    const length = { "content-length": 900_000 }
    const refusals: ReadonlyArray<readonly [status: number, head: string]> = [
      [400, headOf(length)],
      [400, headOf({ ...length, ...plausible(), "webhook-timestamp": "now" })],
      [401, headOf({ ...length, ...plausible(ago(400_000)) })],
      [413, headOf({ ...plausible(), "content-length": 1_048_577 })],
      [415, headOf({ ...length, ...plausible(), "content-encoding": "gzip" })],
      [405, headOf(length).replace("POST", "PUT")],
      [404, headOf(length, "/elsewhere")],
    ]
    for (const [status, head] of refusals) {
      const { said, socket } = dial(url, head)
      yield* Effect.repeat(Effect.yieldNow, { until: () => said().endsWith("\r\n\r\n") })
      assert.strictEqual(statusOf(said()), status, head)
      socket.destroy()
    }
    yield* nothingReceived
  })

  testReceived("says who may go on: 100 to a delivery that may be genuine, nothing to others", function* (url) {
    const expect = { expect: "100-continue" }
    const [head = "", body = ""] = genuine("task_0", expect).split(/(?<=\r\n\r\n)/)
    const { said, socket } = dial(url, head)
    yield* Effect.repeat(Effect.yieldNow, { until: () => said().startsWith("HTTP/1.1 100 Continue\r\n\r\n") })
    socket.write(body)
    yield* Effect.repeat(Effect.yieldNow, { until: () => said().includes("HTTP/1.1 204") })
    const forged = yield* exchange(url, headOf({ ...expect, "content-length": 9 }))
    assert.strictEqual(statusOf(forged), 400)
    assert.deepStrictEqual(yield* due, ["task_0"])
  })

  test("refuses a compressed body with 415, and says what it takes", function* () {
    const lines = yield* logged(
      received(function* (url) {
        const body = gzipSync(JSON.stringify(completed(["task_0"])))
        const { headers } = signed("")
        const encoded = { ...headers, "content-encoding": "gzip", "content-length": body.length }
        const answer = yield* exchange(url, headOf(encoded), body)
        assert.strictEqual(statusOf(answer), 415)
        assert.match(answer, /^accept-encoding: identity\r$/im)
        yield* nothingReceived
        const identity = genuine("task_1", { "content-encoding": "Identity" })
        assert.strictEqual(statusOf(yield* exchange(url, identity)), 204)
      }),
    )
    assert.deepStrictEqual(lines, [
      "a webhook delivery was refused: its body is compressed (Content-Encoding), which is not supported",
    ])
  })

  testReceived("takes any of the signatures where the header came twice, and no two ids or times", function* (url) {
    const twice = (name: string, value: (once: string) => string) =>
      genuine("task_0").replace(
        new RegExp(`^${name}: (.*)$`, "m"),
        (line, once: string) => `${name}: ${value(once)}\r\n${line}`,
      )
    for (const [name, status] of [
      ["webhook-id", 401],
      ["webhook-timestamp", 400],
    ] as const) {
      const request = twice(name, (once) => once)
      assert.strictEqual(statusOf(yield* exchange(url, request)), status, name)
    }
    yield* nothingReceived
    const signatures = twice("webhook-signature", () => "v1,AAAA")
    assert.strictEqual(statusOf(yield* exchange(url, signatures)), 204)
    assert.deepStrictEqual(yield* due, ["task_0"])
  })

  testReceived("survives what is no request, headers without end, and senders that go away", function* (url) {
    assert.strictEqual(statusOf(yield* exchange(url, "\u0000\u0001 hello?\r\n\r\n")), 400)
    const endless = headOf({ ...plausible(), "x-long": "x".repeat(70_000) })
    assert.strictEqual(statusOf(yield* exchange(url, endless)), 431)
    const whole = genuine("task_0")
    for (const length of [10, whole.length - 200, whole.length - 1]) {
      const { socket } = dial(url, whole.slice(0, length))
      yield* Effect.callback<void>((resume) => {
        socket.on("close", () => resume(Effect.void))
        socket.end()
      })
    }
    yield* nothingReceived
    assert.strictEqual(statusOf(yield* exchange(url, genuine("task_2"))), 204)
    assert.deepStrictEqual(yield* due, ["task_2"])
  })

  effectTest(it.effect)(
    "says why it refused, once a minute, counts the rest, and tells no secret or signature",
    function* () {
      const lines = yield* logged(
        received(function* (url) {
          const wrong = Effect.suspend(() => send(url, { ...signed("{}", { secret: otherSecret, at: 0 }) }))
          yield* Effect.repeat(wrong, { times: 4 })
          yield* send(url, { body: "{}", headers: { "X-Signature": "v1,abc", "x-forwarded-for": "::1" } })
          yield* TestClock.adjust("1 minute")
          yield* wrong
          yield* wrong
        }),
      )
      assert.deepStrictEqual(lines, [
        "a webhook delivery was refused: its signature matches none of the configured secrets",
        "more webhook deliveries were refused since the last message: 4 with a wrong signature, 1 unsigned",
        "more webhook deliveries were refused since the last message: 2 with a wrong signature",
      ])
    },
  )

  test("that ends has recorded all that it answered with 204, and nothing that did not arrive", () =>
    Effect.gen(function* () {
      yield* outstanding
      const scope = yield* Scope.make()
      const url = yield* receiving().pipe(Scope.provide(scope))
      const [half] = yield* dialled(url, 1, genuine("task_2").slice(0, -1))
      const sending = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, i) => i),
        (i) => deliver(url, completed([`task_${i % 2}`]), { id: `msg_end_${i}` }).pipe(Effect.option),
        { concurrency: 20 },
      ).pipe(Effect.forkChild)
      yield* Effect.repeat(
        Effect.flatMap(Ledger, (ledger) => ledger.deliveries),
        { until: ({ received }) => received >= 20 },
      )
      yield* Scope.close(scope, Exit.void)
      const answers = yield* Fiber.join(sending)
      const answered = answers.filter((answer) => Option.contains(answer, 204)).length
      const { received } = yield* Ledger.use((ledger) => ledger.deliveries)
      assert.isAtLeast(answered, 20)
      assert.isBelow(answered, 200)
      assert.strictEqual(received, answered)
      assert.notInclude(yield* due, "task_2")
      assert.notMatch(half!.said(), /^HTTP\/1\.1 2/)
    }).pipe(withLedger()))

  testReceived(
    "verifies before it reads what a payload says, however deep or odd it is",
    function* (url) {
      const shared = (body: string) =>
        send(url, { body, headers: { "x-signature": createHmac("sha256", "key").update(body).digest("hex") } })
      for (const body of [
        "[".repeat(500_000),
        '{"task_id":'.repeat(50_000),
        `"${"\\ud800".repeat(1_000)}"`,
        "\u0000",
        "NaN",
      ]) {
        assert.strictEqual((yield* shared(body)).status, 204)
      }
      assert.strictEqual((yield* send(url, { body: "{", headers: { "x-signature": "0".repeat(64) } })).status, 401)
    },
    { scheme: { header: "X-Signature" }, secrets: [Redacted.make("key")] },
  )
})
