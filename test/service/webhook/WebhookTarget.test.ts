import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import type { Resolver } from "../../../src/node/GuardedHttpClient.ts"
import { Webhooks, type WebhooksOptions } from "../../../src/service/webhook/Webhooks.ts"
import * as WebhookTarget from "../../../src/service/webhook/WebhookTarget.ts"
import { build } from "../support.ts"
import { cheap, signedIn } from "../web/support.ts"
import { attempted, complete, detail, receiver, set, temporaryFile, webhooks } from "./support.ts"
import { testOver } from "../../support/effectTest.ts"

const test = testOver(Layer.empty)

/** A name's addresses, each time it is asked for the next of the given ones, the last again and again. */
const resolving = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const asked: Array<string> = []
  const resolver: Resolver = (host, _, callback) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? []
    asked.push(host)
    const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
    if (found.length === 0) callback(Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" }), [])
    else callback(null, found)
  }
  return { asked, resolver }
}

const problem = (url: string, policy: Partial<WebhookTarget.TargetPolicy> = {}, resolver?: Resolver) =>
  WebhookTarget.problem(url, {
    guard: WebhookTarget.guard({ allowLoopback: false, allowPrivate: false, ...policy }),
    resolver,
  }).pipe(Effect.map(Option.getOrUndefined))

const hosts = (list: string) => list.trim().split(/\s+/)
const loopback = hosts(`
  127.0.0.1 127.255.255.254 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.1 127.0.0.1. １２７.0.0.1 [::1]
  [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::127.0.0.1]
`)
const private_ = hosts(`
  10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1 0xc0a80101 100.64.0.1 100.127.255.255 [fd00::1]
  [fc00::1] [fec0::1] [::ffff:10.0.0.1] [64:ff9b::a00:1]
`)
const never = hosts(`
  0.0.0.0 0 0.1.2.3 169.254.169.254 [::ffff:169.254.169.254] [64:ff9b::169.254.169.254] 192.0.0.1 192.0.2.1
  198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 [::] [::127.0.0.1]
  [::10.0.0.1] [fe80::1] [ff02::1] [2001:db8::1] [2002:7f00:1::] [2002:a00:1::] [2001:0:7f00:1::] [64:ff9b:1::1]
  [100::1] [::ffff:0:127.0.0.1]
`)
const public_ = hosts(`
  8.8.8.8 1.1.1.1 172.32.0.1 100.128.0.1 [2606:4700::1111] [64:ff9b::808:808]
`)

const cases: ReadonlyArray<readonly [host: string, needs: "loopback" | "private" | "never" | "nothing"]> = [
  ...loopback.map((host) => [host, "loopback"] as const),
  ...private_.map((host) => [host, "private"] as const),
  ...never.map((host) => [host, "never"] as const),
  ...public_.map((host) => [host, "nothing"] as const),
]
for (const [host, needs] of cases) {
  test(`${host}: ${needs === "nothing" ? "allowed" : needs === "never" ? "never" : `if ${needs} is`}`, function* () {
    const url = `http://${host}:8080/hook`
    const allowed = {
      nobody: (yield* problem(url)) === undefined,
      loopback: (yield* problem(url, { allowLoopback: true })) === undefined,
      private: (yield* problem(url, { allowPrivate: true })) === undefined,
    }
    assert.deepStrictEqual(allowed, {
      nobody: needs === "nothing",
      loopback: needs === "nothing" || needs === "loopback",
      private: needs !== "never",
    })
  })
}

for (const [url, expected] of [
  ["", /not a URL/],
  ["example.com/hook", /not a URL/],
  ["http://", /not a URL/],
  ["http://1.2.3.4.5/", /not a URL/],
  ["ftp://example.com/", /https or http, not to ftp/],
  ["file:///etc/passwd", /https or http, not to file/],
  ["javascript:alert(1)", /https or http/],
  ["https://user@example.com/", /user name or a password/],
  ["https://:word@example.com/", /user name or a password/],
  ["https://example.com/#part", /fragment/],
  ["https://example.com/#", /fragment/],
] as const) {
  test(`${url || "nothing"}: refused`, function* () {
    const { asked, resolver } = resolving(["8.8.8.8"])
    assert.match((yield* problem(url, { allowPrivate: true }, resolver))!, expected)
    assert.lengthOf(asked, 0)
  })
}

describe("names", () => {
  test("localhost is a name that leads to loopback", function* () {
    assert.match((yield* problem("http://localhost/"))!, /loopback/)
    assert.isUndefined(yield* problem("http://localhost/", { allowLoopback: true }))
  })

  test("whose addresses are all refused are refused when they are set; those with none are not", function* () {
    const to = (...addresses: ReadonlyArray<string>) => problem("https://a.test/", {}, resolving(addresses).resolver)
    assert.match((yield* to("10.0.0.1", "fd00::1"))!, /^10\.0\.0\.1: a private address/)
    assert.match((yield* to("::ffff:169.254.169.254"))!, /link-local/)
    assert.isUndefined(yield* to("10.0.0.1", "8.8.8.8"))
    assert.isUndefined(yield* to())
  })

  const attempt = Effect.fnUntraced(function* (url: string, options: WebhooksOptions) {
    return yield* Effect.gen(function* () {
      yield* set(url)
      return yield* attempted(yield* complete("g"), 1)
    }).pipe(Effect.provide(webhooks(options)))
  })

  test("that come to lead elsewhere after they were set are refused at the connection", function* () {
    const target = yield* receiver()
    const { asked, resolver } = resolving(["8.8.8.8"], ["127.0.0.1"])
    const { attempts, delivery } = yield* attempt(target.url.replace("127.0.0.1", "rebinding.test"), {
      allowLoopback: false,
      resolver,
    })
    assert.deepStrictEqual(asked, ["rebinding.test", "rebinding.test"])
    assert.deepInclude(delivery, { state: "waiting", last_status: null })
    assert.match(attempts[0]!.error!, /^not sent: 127\.0\.0\.1: a loopback address/)
    assert.strictEqual(target.connections(), 0)
  })

  test("are connected to at their permitted addresses only", function* () {
    const target = yield* receiver()
    const { resolver } = resolving(["169.254.169.254", "10.0.0.1", "127.0.0.1"])
    const { delivery } = yield* attempt(target.url.replace("127.0.0.1", "mixed.test"), { resolver })
    assert.strictEqual(delivery.state, "delivered")
    assert.strictEqual(target.received[0]!.headers.host, `mixed.test:${new URL(target.url).port}`)
  })

  test("that are not known are tried again", function* () {
    const { attempts, delivery } = yield* attempt("http://nowhere.test/", { resolver: resolving([]).resolver })
    assert.strictEqual(delivery.state, "waiting")
    assert.strictEqual(attempts[0]!.error, "unknown host name (ENOTFOUND)")
  })
})

const putWebhook = Effect.fnUntraced(function* (publicUrl: string | undefined, allowPrivateWebhooks: boolean) {
  const { base, services } = yield* build({ publicUrl, allowPrivateWebhooks })
  const operator = yield* signedIn({ base, services }, { origin: publicUrl ?? base })
  const { json, status } = yield* operator.ask("PUT", "/dashboard/api/webhook", { url: "http://127.0.0.1:6379/" })
  return { status, detail: json.detail }
})

it.effect("this machine is a target where nobody else can reach the service, or where whoever starts it says so", () =>
  Effect.gen(function* () {
    assert.strictEqual((yield* putWebhook(undefined, false)).status, 200)
    assert.strictEqual((yield* putWebhook("https://annotate.example", true)).status, 200)
    const { detail, status } = yield* putWebhook("https://annotate.example", false)
    assert.strictEqual(status, 409)
    assert.match(detail, /^127\.0\.0\.1: a loopback address, .*--allow-private-webhooks/)
  }).pipe(cheap),
)

describe("what a receiver answers", () => {
  const secret = "credentials of this machine"
  const answered = (options: WebhooksOptions, host = "127.0.0.1") =>
    Effect.gen(function* () {
      const target = yield* receiver(() => ({ status: 200, body: secret }))
      yield* set(target.url.replace("127.0.0.1", host))
      const { attempts } = yield* attempted(yield* complete("g"), 1)
      return { status: attempts[0]!.status, answer: attempts[0]!.answer }
    }).pipe(Effect.provide(webhooks(options)))

  test("on this machine is shown where only this machine can reach the service", function* () {
    assert.deepStrictEqual(yield* answered({ allowLoopback: true }), { status: 200, answer: secret })
  })

  test("at an address that had to be allowed is not shown, whatever the host is called", function* () {
    const options = { allowLoopback: false, allowPrivate: true }
    const hidden = {
      status: 200,
      answer: "(The response body was not stored, because the webhook URL leads to a private network.)",
    }
    assert.deepStrictEqual(yield* answered(options), hidden)
    const { resolver } = resolving(["127.0.0.1"])
    assert.deepStrictEqual(yield* answered({ ...options, resolver }, "named.test"), hidden)
  })
})

describe("a stored URL", () => {
  test("to an address that is no longer allowed is refused at each attempt", function* () {
    const file = yield* temporaryFile
    const target = yield* receiver()
    yield* set(target.url).pipe(Effect.provide(webhooks({}, file), { local: true }))
    const { attempts } = yield* Effect.gen(function* () {
      const id = yield* complete("g")
      yield* attempted(id, 1)
      return yield* detail(id)
    }).pipe(Effect.provide(webhooks({ allowLoopback: false }, file), { local: true }))
    assert.match(attempts[0]!.error!, /^not sent: 127\.0\.0\.1/)
    assert.strictEqual(target.connections(), 0)
  })

  testOver(webhooks())("stays as it was when another is refused", function* () {
    const target = yield* receiver()
    const service = yield* Webhooks
    yield* set(target.url)
    const refused = yield* Effect.flip(service.set("http://10.0.0.1/"))
    assert.strictEqual(refused._tag, "Conflict")
    assert.strictEqual((yield* service.settings).url, target.url)
  })
})
