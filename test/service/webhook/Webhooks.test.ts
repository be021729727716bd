import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Result } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { version } from "../../../src/node/Version.ts"
import { Database } from "../../../src/service/database/Database.ts"
import { NotFound } from "../../../src/service/pageApi/WebProblems.ts"
import { Webhooks } from "../../../src/service/webhook/Webhooks.ts"
import {
  attempted,
  complete,
  detail,
  once,
  pausedUntil,
  type Reaction,
  receiver,
  requests,
  reset,
  sessions,
  set,
  settle,
  silent,
  subscriber,
  temporaryFile,
  until,
  verifiedBy,
  webhooks,
  webhooksThrough,
} from "./support.ts"
import { testOver } from "../../support/effectTest.ts"
import * as Logs from "../../support/logs.ts"

const test = testOver(webhooks())

const hour = 3_600_000

/** The delays before each attempt, from the table in the specification of Standard Webhooks 1.0.0. */
const standardSchedule = [0, 5_000, 300_000, 0.5 * hour, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

/** The service starts at that time. */
const startingAt = (time: number) => testOver(Layer.unwrap(Effect.as(TestClock.setTime(time), Layer.fresh(webhooks()))))

describe("a delivery", () => {
  startingAt(Date.UTC(2026, 0, 2, 3, 4, 5, 678))("is a signed POST of the group and its tasks", function* () {
    const target = yield* receiver()
    const secret = yield* set(`${target.url}?a=1`)
    const id = yield* complete("group 7", ["task_1", "task_2"])
    const { attempts, delivery, payload } = yield* attempted(id, 1)

    const got = target.received[0]!
    assert.strictEqual(got.method, "POST")
    assert.strictEqual(got.path, "/hook?a=1")
    assert.deepStrictEqual(verifiedBy(secret!, got), {
      type: "task_group.completed",
      timestamp: "2026-01-02T03:04:05.678Z",
      data: { group_id: "group 7", task_ids: ["task_1", "task_2"] },
    })
    assert.strictEqual(got.body, payload)
    assert.match(id, /^msg_[0-9a-f]{32}$/)
    assert.deepInclude(got.headers, {
      "content-type": "application/json",
      "user-agent": `prefstream/${version}`,
      "webhook-id": id,
      "webhook-timestamp": String(Date.UTC(2026, 0, 2, 3, 4, 5) / 1000),
    })
    const ours = ["host", "connection", "content-type", "content-length", "user-agent"]
    assert.deepStrictEqual(
      Object.keys(got.headers).filter((name) => !ours.includes(name)),
      ["webhook-id", "webhook-timestamp", "webhook-signature"],
    )

    const now = yield* Clock.currentTimeMillis
    assert.deepStrictEqual(delivery, {
      message_id: id,
      type: "task_group.completed",
      group_id: "group 7",
      tasks: 2,
      created_at: now,
      state: "delivered",
      attempts: 1,
      next_attempt_at: null,
      last_status: 204,
    })
    assert.deepStrictEqual(attempts, [
      { at: now, url: `${target.url}?a=1`, status: 204, error: null, millis: 0, answer: "" },
    ])
    yield* TestClock.adjust("10 days")
    yield* settle
    assert.lengthOf(target.received, 1)
  })

  testOver(webhooks({ keep: "1000 days" }))(
    "is attempted by the schedule, under one id, and fails at its end",
    function* () {
      const target = yield* receiver(() => ({ status: 500, body: "not today" }))
      const secret = yield* set(target.url)
      const id = yield* complete("g")
      const times: Array<number> = []
      const jitters = new Set<number>()
      for (const [i, planned] of standardSchedule.entries()) {
        const { delivery } = yield* attempted(id, i)
        if (i > 0) {
          assert.strictEqual(delivery.state, "waiting")
          const now = yield* Clock.currentTimeMillis
          const due = delivery.next_attempt_at!
          jitters.add((due - now) / planned)
          assert.isAtLeast(due - now, 0.8 * planned)
          assert.isAtMost(due - now, 1.2 * planned)
          yield* TestClock.setTime(due - 1)
          yield* settle
          assert.lengthOf(target.received, i)
          yield* TestClock.setTime(due)
        }
        times.push(yield* Clock.currentTimeMillis)
        yield* attempted(id, i + 1)
        assert.lengthOf(target.received, i + 1)
        const { headers } = target.received[i]!
        assert.strictEqual(headers["webhook-id"], id)
        assert.strictEqual(headers["webhook-timestamp"], String(Math.floor((yield* Clock.currentTimeMillis) / 1000)))
        verifiedBy(secret!, target.received[i]!)
      }
      assert.isAbove(jitters.size, 1)
      const { attempts, delivery } = yield* detail(id)
      assert.deepInclude(delivery, { state: "failed", attempts: 10, next_attempt_at: null, last_status: 500 })
      assert.deepStrictEqual(
        attempts.map(({ at }) => at),
        times,
      )
      assert.isTrue(attempts.every(({ answer, error, status }) => status === 500 && answer === "not today" && !error))
      yield* TestClock.adjust("2 days")
      yield* settle
      assert.lengthOf(target.received, 10)
    },
  )
})

describe("Retry-After", () => {
  for (const [header, earliest, latest] of [
    ["120", 120_000, 120_000],
    ["Fri, 02 Jan 2026 00:10:00 GMT", 600_000, 600_000],
    [String(7 * 86_400), 24 * hour, 24 * hour],
    ["Fri, 02 Jan 2099 00:00:00 GMT", 24 * hour, 24 * hour],
    ["1", 4_000, 6_000],
    ["soon", 4_000, 6_000],
    ["-5", 4_000, 6_000],
    ["Fri, 02 Jan 2020 00:00:00 GMT", 4_000, 6_000],
  ] as const) {
    startingAt(Date.UTC(2026, 0, 2))(`${header}: never earlier than the schedule, at most a day`, function* () {
      yield* subscriber(() => ({ status: 500, headers: { "retry-after": header } }))
      const { delivery } = yield* attempted(yield* complete("g"), 1)
      const delay = delivery.next_attempt_at! - (yield* Clock.currentTimeMillis)
      assert.isAtLeast(delay, earliest)
      assert.isAtMost(delay, latest)
      assert.strictEqual(yield* pausedUntil, 0, "it is of this delivery alone")
    })
  }

  test("with 429 all deliveries wait, an hour at most", function* () {
    const target = yield* subscriber(once({ status: 429, headers: { "retry-after": "7200" } }))
    const first = yield* complete("first")
    yield* attempted(first, 1)
    assert.strictEqual(yield* pausedUntil, hour)
    const second = yield* complete("second")
    yield* TestClock.setTime(hour - 1)
    yield* settle
    assert.lengthOf(target.received, 1)
    yield* TestClock.setTime(hour)
    const { attempts } = yield* attempted(second, 1)
    assert.strictEqual(attempts[0]!.at, hour)
    yield* TestClock.setTime(2 * hour)
    yield* attempted(first, 2)
  })
})

describe("a receiver that", () => {
  test("answers 410 is left alone until a URL is set again", function* () {
    const target = yield* receiver(() => ({ status: 410 }))
    const service = yield* Webhooks
    const secret = yield* set(target.url)
    const id = yield* complete("g")
    const { attempts } = yield* attempted(id, 1)
    assert.match(attempts[0]!.error!, /no more/)

    const settings = yield* service.settings
    assert.isFalse(settings.enabled)
    assert.match(settings.disabled_reason!, /410/)
    const later = yield* complete("later")
    yield* TestClock.adjust("5 days")
    yield* settle
    assert.lengthOf(target.received, 1)
    for (const message of [id, later]) {
      assert.deepInclude((yield* detail(message)).delivery, { state: "waiting", next_attempt_at: null })
    }

    target.react = () => ({ status: 200 })
    const again = yield* service.set(target.url)
    assert.isTrue(Option.isNone(again.secret))
    assert.deepInclude(again.settings, { enabled: true, disabled_reason: null })
    yield* attempted(id, 2)
    const { attempts: first } = yield* attempted(later, 1)
    assert.strictEqual(first[0]!.at, yield* Clock.currentTimeMillis)
    assert.lengthOf(target.received, 3)
    for (const request of target.received) verifiedBy(secret!, request)
  })

  test("redirects is not followed", function* () {
    const elsewhere = yield* receiver()
    yield* subscriber(() => ({ status: 307, headers: { location: elsewhere.url } }))
    const { attempts, delivery } = yield* attempted(yield* complete("g"), 1)
    assert.deepInclude(delivery, { state: "waiting", last_status: 307 })
    assert.match(attempts[0]!.error!, /redirect/)
    yield* settle
    assert.lengthOf(elsewhere.received, 0)
  })

  const startsHeaders: Reaction = (response) => response.socket?.write("HTTP/1.1 200 OK\r\nx-a: 1\r\n")
  for (const [what, reaction] of [
    ["never answers", silent],
    ["never ends its headers", startsHeaders],
  ] as const) {
    test(`${what} is given 15 seconds, and its connection is closed`, function* () {
      const target = yield* subscriber(() => reaction)
      const id = yield* complete("g")
      yield* requests(target, 1)
      yield* TestClock.adjust("14999 millis")
      yield* settle
      assert.strictEqual((yield* detail(id)).delivery.attempts, 0)
      yield* TestClock.adjust("1 millis")
      const { attempts, delivery } = yield* attempted(id, 1)
      assert.deepInclude(delivery, { state: "waiting", last_status: null })
      assert.deepInclude(attempts[0], { status: null, error: "no answer within 15s", millis: 15_000 })
      yield* until(Effect.sync(target.open), (n) => n === 0)
    })
  }

  test("dribbles the body of its 200 has said 200", function* () {
    let wrote = false
    const target = yield* subscriber(() => (response) => {
      response.writeHead(200)
      response.write("a beginning", () => (wrote = true))
    })
    const id = yield* complete("g")
    yield* until(
      Effect.sync(() => wrote),
      (written) => written,
    )
    yield* settle
    yield* TestClock.adjust("15 seconds")
    const { attempts, delivery } = yield* attempted(id, 1)
    assert.deepInclude(delivery, { state: "delivered", last_status: 200 })
    assert.strictEqual(attempts[0]!.answer, "a beginning")
    yield* until(Effect.sync(target.open), (n) => n === 0)
  })

  test("answers without end is read to a small bound", function* () {
    let sent = 0
    const target = yield* subscriber(() => (response) => {
      response.writeHead(500)
      const chunk = Buffer.alloc(65_536, "x")
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length
        if (!response.destroyed) response.once("drain", more)
      }
      more()
    })
    const { attempts } = yield* attempted(yield* complete("g"), 1)
    assert.strictEqual(attempts[0]!.answer, "x".repeat(1_000))
    assert.strictEqual(attempts[0]!.status, 500)
    yield* until(Effect.sync(target.open), (n) => n === 0)
    // What the sockets' buffers took.
    assert.isBelow(sent, 20_000_000)
  })

  for (const [what, body, kept] of [
    ["answers with bytes that are not text", Buffer.from([0x61, 0, 0xff, 0xf0, 0x9f, 0x62]), /^a\uFFFD+b$/u],
    ["answers with a long text has it cut between characters", `x${"👋".repeat(2_000)}`, /^x(👋){999}$/u],
  ] as const) {
    test(what, function* () {
      yield* subscriber(() => ({ status: 400, body }))
      const { attempts } = yield* attempted(yield* complete("g"), 1)
      assert.match(attempts[0]!.answer, kept)
    })
  }

  test("refuses connections, or breaks them off, is tried again", function* () {
    const { url } = yield* Effect.scoped(receiver())
    yield* set(url)
    const refused = yield* complete("refused")
    const { attempts } = yield* attempted(refused, 1)
    assert.deepInclude(attempts[0], { status: null, error: "connection refused (ECONNREFUSED)" })

    const target = yield* subscriber(() => reset)
    const { attempts: second } = yield* attempted(refused, 2)
    assert.match(second[1]!.error!, /the connection was lost/)
    assert.deepStrictEqual(
      second.map((attempt) => attempt.url),
      [url, target.url],
    )
  })

  test("does not speak TLS at an https address is tried again", function* () {
    const target = yield* receiver()
    yield* set(target.url.replace("http:", "https:"))
    const { attempts, delivery } = yield* attempted(yield* complete("g"), 1)
    assert.strictEqual(delivery.state, "waiting")
    assert.match(attempts[0]!.error!, /^no secure connection \(/)
    assert.lengthOf(target.received, 0)
  })

  test("is slow holds up eight at once, and no more wait behind one", function* () {
    const target = yield* subscriber(({ body }) => (/"slow/.test(body) ? silent : { status: 200 }))
    const slow = yield* Effect.forEach(Array.from({ length: 7 }), (_, i) => complete(`slow${i}`))
    const quick = yield* Effect.forEach(Array.from({ length: 30 }), (_, i) => complete(`quick${i}`))
    for (const id of quick) yield* attempted(id, 1)
    for (const id of slow) assert.strictEqual((yield* detail(id)).delivery.attempts, 0)

    slow.push(yield* complete("slow7"))
    yield* requests(target, 38)
    const last = yield* complete("last")
    yield* settle
    assert.lengthOf(target.received, 38)
    yield* TestClock.adjust("15 seconds")
    const { attempts } = yield* attempted(last, 1)
    assert.strictEqual(attempts[0]!.at, 15_000)
    for (const id of slow) yield* attempted(id, 1)
  })
})

test("secrets of before sign beside the new one for their time, or not at all", function* () {
  const target = yield* receiver()
  const service = yield* Webhooks
  const first = (yield* set(target.url))!
  const second = (yield* service.rotateSecret(24)).secret
  const { secret: third, settings } = yield* service.rotateSecret(1)
  assert.deepStrictEqual(
    settings.secrets.map(({ expires_at }) => expires_at),
    [null, hour, 24 * hour],
  )
  const signers = Effect.fnUntraced(function* (group: string) {
    yield* attempted(yield* complete(group), 1)
    return [first, second, third].map((secret) => {
      try {
        return verifiedBy(secret, target.received.at(-1)!) !== undefined
      } catch {
        return false
      }
    })
  })
  assert.deepStrictEqual(yield* signers("all"), [true, true, true])
  yield* TestClock.setTime(hour)
  assert.deepStrictEqual(yield* signers("two"), [true, false, true])
  yield* TestClock.setTime(24 * hour - 1)
  assert.deepStrictEqual(yield* signers("still two"), [true, false, true])
  yield* TestClock.setTime(24 * hour)
  assert.deepStrictEqual(yield* signers("one"), [false, false, true])
  yield* service.rotateSecret(0)
  assert.deepStrictEqual(yield* signers("none of them"), [false, false, false])
  assert.lengthOf((yield* service.settings).secrets, 1)
})

describe("what is stored", () => {
  test("an event whose transaction fails is not", function* () {
    const { sql, write } = yield* Database
    const service = yield* Webhooks
    const target = yield* subscriber()
    const written = write(
      service
        .enqueue({ organization: "default", groupId: "g", taskIds: ["t"] })
        .pipe(Effect.andThen(sql`INSERT INTO no_such_table VALUES (1)`)),
    )
    assert.isTrue(Result.isFailure(yield* Effect.result(written)))
    yield* service.wake
    yield* settle
    assert.deepStrictEqual((yield* service.deliveries({})).deliveries, [])
    const id = yield* complete("another")
    yield* attempted(id, 1)
    assert.deepStrictEqual(
      target.received.map(({ headers }) => headers["webhook-id"]),
      [id],
    )
  })

  test("removing the webhook fails what waits and forgets the secret; it can be resent to the next one", function* () {
    const target = yield* receiver(() => ({ status: 500 }))
    const service = yield* Webhooks
    const first = yield* set(target.url)
    const id = yield* complete("g")
    yield* attempted(id, 1)
    yield* service.remove
    assert.deepInclude(yield* service.settings, { url: null, enabled: false, failing: null, waiting: 0, secrets: [] })
    assert.strictEqual((yield* detail(id)).delivery.state, "failed")
    yield* TestClock.adjust("1 day")
    assert.lengthOf(target.received, 1)

    target.react = () => ({ status: 200 })
    const second = yield* set(target.url)
    assert.isDefined(second)
    assert.notStrictEqual(first, second)
    yield* settle
    assert.lengthOf(target.received, 1)
    yield* service.resend(id)
    const { delivery } = yield* attempted(id, 2)
    assert.strictEqual(delivery.state, "delivered")
  })

  for (const status of [410, 500]) {
    test(`a new URL set during an attempt counts, also if the attempt ends in ${status}`, function* () {
      let answer: () => void = () => {}
      const old = yield* subscriber(() => (response) => {
        answer = () => response.writeHead(status).end()
      })
      const id = yield* complete("g")
      yield* requests(old, 1)
      yield* subscriber()
      yield* Effect.sync(() => answer())
      const { delivery } = yield* attempted(id, 2)
      assert.strictEqual(delivery.state, "delivered")
      assert.isTrue((yield* (yield* Webhooks).settings).enabled)
    })
  }

  testOver(Layer.empty)("outcomes wait for a database that cannot be written; nothing is sent then", function* () {
    let broken = false
    const error = new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: new Error("disk full") }) })
    const layer = webhooksThrough((write) => Effect.suspend(() => (broken ? Effect.fail(error) : write)))
    const target = yield* receiver((_, ordinal) => {
      broken = true
      return { status: ordinal === 1 ? 200 : 500 }
    })
    yield* Effect.gen(function* () {
      yield* set(target.url)
      const id = yield* complete("g")
      yield* requests(target, 1)
      yield* settle
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.lengthOf(target.received, 1)
      broken = false
      yield* TestClock.adjust("1 minute")
      const { delivery } = yield* attempted(id, 1)
      assert.strictEqual(delivery.state, "delivered")
      assert.lengthOf(target.received, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a database that could not be read for a while is soon tried again, however often that happens", () => {
    const { during, messages } = Logs.make()
    const failures = () => messages.filter((line) => line.includes("Webhook messages could not be read")).length
    return Effect.gen(function* () {
      const { sql, write } = yield* Database
      yield* subscriber()
      const service = yield* Webhooks
      for (let time = 1; time <= 8; time++) {
        yield* write(sql`ALTER TABLE webhook_secret RENAME TO elsewhere`)
        yield* service.wake
        yield* until(Effect.sync(failures), (failures) => failures === time)
        yield* settle
        yield* write(sql`ALTER TABLE elsewhere RENAME TO webhook_secret`)
        const id = yield* complete(`g${time}`)
        yield* TestClock.adjust("100 millis")
        yield* attempted(id, 1)
        assert.strictEqual(failures(), time)
      }
    }).pipe(Effect.provide(webhooks()), during)
  })

  test("pages, newest first", function* () {
    yield* subscriber()
    const service = yield* Webhooks
    const ids = yield* Effect.forEach(Array.from({ length: 7 }), (_, i) => complete(`g${i}`))
    const seen: Array<string> = []
    let before: number | undefined
    for (const size of [3, 3, 1]) {
      const page = yield* service.deliveries({ before, limit: 3 })
      assert.lengthOf(page.deliveries, size)
      seen.push(...page.deliveries.map(({ message_id }) => message_id))
      before = page.next ?? undefined
    }
    assert.isUndefined(before)
    assert.deepStrictEqual(seen, ids.toReversed())
  })

  test("is forgotten a month after its end, what waits never", function* () {
    const { sql } = yield* Database
    const target = yield* subscriber()
    const service = yield* Webhooks
    const delivered = yield* complete("g")
    yield* attempted(delivered, 1)
    // More than are deleted in one write.
    yield* sql`CREATE TEMP TABLE copy AS SELECT * FROM webhook_message`
    yield* sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
      INSERT INTO webhook_message SELECT sequence + i, 'copy ' || i, type, group_id, tasks, created_at, state, attempts,
        step, next_attempt_at, finished_at, last_status, gathering, payload FROM copy, n`
    target.react = () => ({ status: 410 })
    const waiting = yield* complete("waiting")
    yield* attempted(waiting, 1)

    yield* TestClock.adjust("29 days")
    yield* settle
    assert.isTrue(Option.isSome(yield* service.delivery(delivered)))
    yield* TestClock.adjust("2 days")
    yield* until(sql`SELECT 1 FROM webhook_message`, (rows) => rows.length === 1)
    assert.lengthOf(yield* sql`SELECT 1 FROM webhook_attempt`, 1)
    assert.strictEqual((yield* detail(waiting)).delivery.state, "waiting")
  })
})

describe("the settings", () => {
  testOver(webhooks({ schedule: ["0 seconds", "1 minute", "1 hour"] }))(
    "say since when attempts fail, and what comes next",
    function* () {
      const target = yield* subscriber()
      const { settings } = yield* Webhooks
      yield* attempted(yield* complete("well"), 1)
      assert.deepInclude(yield* settings, { failing: null, waiting: 0, next_attempt_at: null })

      target.react = () => ({ status: 500 })
      yield* TestClock.setTime(1_000)
      const one = yield* complete("one")
      const next_attempt_at = (yield* attempted(one, 1)).delivery.next_attempt_at!
      target.react = () => reset
      yield* TestClock.setTime(next_attempt_at)
      yield* attempted(one, 2)
      const dead = yield* settings
      assert.deepInclude(dead, { enabled: true, waiting: 1 })
      assert.deepInclude(dead.failing, { since: 1_000, attempts: 2, last_at: next_attempt_at, last_status: null })
      assert.isString(dead.failing!.last_error)
      assert.isAbove(dead.next_attempt_at!, next_attempt_at)

      // A receiver that asks for time gets it.
      target.react = () => ({ status: 503, headers: { "retry-after": "3000" } })
      yield* (yield* Webhooks).resend(one)
      yield* attempted(one, 3)
      assert.strictEqual((yield* settings).next_attempt_at, yield* pausedUntil)

      target.react = () => ({ status: 204 })
      yield* (yield* Webhooks).resend(one)
      yield* until(settings, ({ failing }) => failing === null)
    },
  )

  test("of another URL are not judged by the old one's failures", function* () {
    yield* subscriber(() => ({ status: 500 }))
    yield* attempted(yield* complete("g"), 1)
    const service = yield* Webhooks
    assert.isNotNull((yield* service.settings).failing)
    assert.isNull((yield* service.set((yield* receiver()).url)).settings.failing)
  })
})

describe("by hand", () => {
  test("a test event is delivered like any other, but tried once; the settings show what came of it", function* () {
    const target = yield* receiver((_, ordinal) => ({ status: ordinal === 1 ? 204 : 502 }))
    const secret = yield* set(target.url)
    const service = yield* Webhooks
    const { delivery } = yield* attempted(yield* service.test, 1)
    assert.deepInclude(delivery, { type: "webhook.test", group_id: "", tasks: 0, state: "delivered" })
    const payload = verifiedBy(secret!, target.received[0]!) as object
    assert.deepInclude(payload, { type: "webhook.test", data: { task_ids: [] } })

    const failed = yield* attempted(yield* service.test, 1)
    assert.deepInclude(failed.delivery, { state: "failed", next_attempt_at: null })
    const { failing, next_attempt_at, waiting } = yield* service.settings
    assert.deepInclude(failing, { since: 0, attempts: 1, last_status: 502 })
    assert.deepStrictEqual([waiting, next_attempt_at], [0, null])
  })

  testOver(webhooks({ schedule: ["0 seconds", "1 minute"] }))(
    "what has ended is sent again under its id",
    function* () {
      const target = yield* subscriber()
      const service = yield* Webhooks
      const id = yield* complete("g")
      yield* attempted(id, 1)
      target.react = () => ({ status: 500 })
      yield* service.resend(id)
      const again = yield* attempted(id, 2)
      assert.strictEqual(again.delivery.state, "waiting")
      assert.strictEqual(target.received[1]!.headers["webhook-id"], id)
      assert.strictEqual(target.received[1]!.body, target.received[0]!.body)
      yield* TestClock.setTime(again.delivery.next_attempt_at!)
      assert.strictEqual((yield* attempted(id, 3)).delivery.state, "failed")

      target.react = () => ({ status: 200 })
      yield* service.resend(id)
      assert.strictEqual((yield* attempted(id, 4)).delivery.state, "delivered")
      assert.instanceOf(yield* Effect.flip(service.resend("msg_unknown")), NotFound)
    },
  )

  test("what is resent does not wait for a receiver that asked for time, nor does a test event", function* () {
    yield* subscriber(once({ status: 503, headers: { "retry-after": "3000" } }))
    const id = yield* complete("g")
    yield* attempted(id, 1)
    const service = yield* Webhooks
    // A delivery that does not exist cannot be resent, which changes nothing.
    assert.instanceOf(yield* Effect.flip(service.resend("msg_unknown")), NotFound)
    assert.strictEqual(yield* pausedUntil, 3_000_000)
    assert.strictEqual((yield* attempted(yield* service.test, 1)).attempts[0]!.at, 0)
    yield* service.resend(id)
    const { attempts, delivery } = yield* attempted(id, 2)
    assert.strictEqual(delivery.state, "delivered")
    assert.strictEqual(attempts[1]!.at, 0)
  })

  test("what is resent during an attempt goes out again at once, though the attempt fails", function* () {
    let answer: () => void = () => {}
    const target = yield* subscriber(
      once((response) => {
        answer = () => response.writeHead(500).end()
      }),
    )
    const id = yield* complete("g")
    yield* requests(target, 1)
    yield* TestClock.setTime(1_000)
    yield* (yield* Webhooks).resend(id)
    yield* Effect.sync(() => answer())
    const { attempts, delivery } = yield* attempted(id, 2)
    assert.strictEqual(delivery.state, "delivered")
    assert.deepStrictEqual(
      attempts.map(({ at, status }) => [at, status]),
      [
        [0, 500],
        [1_000, 200],
      ],
    )
  })
})

describe("restart", () => {
  testOver(Layer.empty)("keeps a pause that the receiver asked for", function* () {
    const file = yield* temporaryFile
    const target = yield* receiver(once({ status: 429, headers: { "retry-after": "3000" } }))
    const during = sessions(file)
    yield* during(function* () {
      yield* set(target.url)
      yield* attempted(yield* complete("first"), 1)
    })
    yield* during(function* () {
      assert.strictEqual(yield* pausedUntil, 3_000_000)
      const second = yield* complete("second")
      yield* settle
      assert.lengthOf(target.received, 1)
      yield* TestClock.setTime(3_000_000)
      const { attempts } = yield* attempted(second, 1)
      assert.strictEqual(attempts[0]!.at, 3_000_000)
    })
  })

  testOver(Layer.empty)("goes on where it was: due times, secrets and what was disabled are stored", function* () {
    const file = yield* temporaryFile
    const target = yield* receiver(() => ({ status: 500 }))
    const during = sessions(file)

    const [secret, id] = yield* during(function* () {
      const secret = yield* set(target.url)
      const id = yield* complete("g")
      yield* attempted(id, 1)
      return [secret!, id] as const
    })
    const due = yield* during(function* () {
      return (yield* detail(id)).delivery.next_attempt_at!
    })
    yield* during(function* () {
      yield* TestClock.setTime(due - 1)
      yield* settle
      assert.lengthOf(target.received, 1)
    })
    // Its time comes while nothing runs.
    yield* TestClock.setTime(due + 1)
    target.react = () => ({ status: 410 })
    yield* during(function* () {
      yield* attempted(id, 2)
    })
    yield* during(function* () {
      assert.isFalse((yield* (yield* Webhooks).settings).enabled)
      yield* settle
      assert.lengthOf(target.received, 2)
      target.react = () => ({ status: 200 })
      yield* set(target.url)
      assert.strictEqual((yield* attempted(id, 3)).delivery.state, "delivered")
    })
    for (const request of target.received) {
      verifiedBy(secret, request)
      assert.strictEqual(request.headers["webhook-id"], id)
    }
  })
})
