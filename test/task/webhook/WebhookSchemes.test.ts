/** Deliveries by each scheme, over real sockets: which count, which are one, and what is said of the others. */
import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { schemes } from "../../../src/api/WebhookScheme.ts"
import { SignatureRefused, type ReceivedDelivery } from "../../../src/api/WebhookSignature.ts"
import { Ledger } from "../../../src/task/ledger/Ledger.ts"
import type * as WebhookReceiver from "../../../src/task/webhook/WebhookReceiver.ts"
import { test } from "../../support/job.ts"
import { completed, secrets as standardSecrets, send, signed } from "../../support/webhooks.ts"
import { due, logged, looked, received } from "./webhookSupport.ts"

const secrets = [Redacted.make("the first of them"), Redacted.make("It's a Secret to Everybody")] as const
const [one, two] = secrets.map(Redacted.value) as [string, string]

const hmac = (key: string, content: string) => createHmac("sha256", key).update(content).digest("hex")

const now = () => Math.floor(Date.now() / 1000)

const gitHub = (payload: unknown, headers: Record<string, string> = {}, key = one) => {
  const body = JSON.stringify(payload)
  return { body, headers: { "x-hub-signature-256": `sha256=${hmac(key, body)}`, ...headers } }
}

const stripe = (payload: unknown, at = now(), key = one) => {
  const body = JSON.stringify(payload)
  return { body, headers: { "stripe-signature": `t=${at},v1=${hmac(key, `${at}.${body}`)}` } }
}

const shared = (payload: unknown, key = one) => ({
  body: JSON.stringify(payload),
  headers: { authorization: `Bearer ${key}` },
})

type Request = Parameters<typeof send>[1]

describe("a receiver of webhooks", () => {
  test("takes what is genuine by any of its secrets, and refuses what is forged or not signed", function* () {
    const lines = yield* logged(
      received(
        function* (url) {
          const status = (request: Request) => Effect.map(send(url, request), ({ status }) => status)
          assert.strictEqual(yield* status({ body: "{}", headers: { "x-vendor-signature": "abc" } }), 400)
          assert.strictEqual(yield* status(gitHub(completed(["task_0"]), {}, "guessed")), 401)
          assert.deepStrictEqual(yield* due, [])
          assert.strictEqual(yield* status(gitHub(completed(["task_1"]))), 204)
          assert.strictEqual(yield* status(gitHub(completed(["task_2"]), {}, two)), 204)
          assert.deepStrictEqual(yield* due, ["task_1", "task_2"])
        },
        { scheme: "github", secrets },
      ),
    )
    assert.deepStrictEqual(lines, [
      "a webhook delivery was refused: it lacks x-hub-signature-256, which the scheme github requires. The delivery has x-vendor-signature. Check that the service signs with the scheme github",
      "more webhook deliveries were refused since the last message: 1 with a wrong signature",
    ])
  })
})

/** Whether each of the deliveries, one after another, has had its task looked at. */
const counted = Effect.fnUntraced(function* (options: WebhookReceiver.ListenOptions, requests: ReadonlyArray<Request>) {
  const counts: Array<boolean> = []
  yield* received(function* (url) {
    for (const request of requests) {
      assert.strictEqual((yield* send(url, request)).status, 204)
      counts.push((yield* due).includes("task_0"))
      yield* looked
    }
    const { received } = yield* Ledger.use((ledger) => ledger.deliveries)
    assert.strictEqual(received, counts.filter((counts) => counts).length)
  }, options)
  return counts
})

describe("two deliveries are one", () => {
  const named = { task_id: "task_0" }
  const sent = now()
  const by = (id: string) => ({ "x-github-delivery": id })
  const gitHubOptions = { scheme: "github", secrets } as const

  const rows: ReadonlyArray<
    readonly [what: string, WebhookReceiver.ListenOptions, ReadonlyArray<readonly [Request, counts: boolean]>]
  > = [
    [
      "for standard-webhooks, with the same id at the same time",
      { secrets: standardSecrets },
      [
        [signed(named, { id: "msg_same", at: (sent - 60) * 1000 }), true],
        [signed(named, { id: "msg_same", at: (sent - 60) * 1000 }), false],
        [signed(named, { id: "msg_same", at: sent * 1000 }), true],
      ],
    ],
    [
      "for stripe, with the same body at the same time",
      { scheme: "stripe", secrets },
      [
        [stripe(named, sent), true],
        [stripe(named, sent), false],
        [stripe(named, sent - 1), false],
        [stripe(named, sent + 1), true],
        [stripe({ ...named, more: 1 }, sent), true],
      ],
    ],
    [
      "for stripe, with the same id in the payload at the same time, where that is said",
      { scheme: "stripe", secrets, deliveryId: { path: "event.id" } },
      [
        [stripe({ ...named, event: { id: "evt_1" } }, sent), true],
        [stripe({ ...named, event: { id: "evt_1", attempt: 2 } }, sent), false],
        [stripe({ ...named, event: { id: "evt_2" } }, sent), true],
        [stripe({ ...named, event: { id: "evt_1", attempt: 3 } }, sent + 1), true],
      ],
    ],
    [
      "for github, with the same body and id, which nobody signed",
      gitHubOptions,
      [
        [gitHub(named, by("a")), true],
        [gitHub(named, by("a")), false],
        [gitHub(named, by("b")), true],
        // An id alone can't have another delivery passed over.
        [gitHub({ ...named, more: 1 }, by("a")), true],
      ],
    ],
    [
      "for github, with the same id in the payload, where that is said",
      { ...gitHubOptions, deliveryId: { path: "id" } },
      [
        [gitHub({ ...named, id: 7 }, by("a")), true],
        [gitHub({ ...named, id: 7, attempt: 2 }, by("b")), false],
        [gitHub({ ...named, id: 8 }, by("a")), true],
      ],
    ],
    [
      "for a shared secret, in no case, for nothing tells them apart",
      { scheme: "shared-secret", secrets },
      [
        [shared(named), true],
        [shared(named), true],
      ],
    ],
    [
      "for a shared secret, with the same body and id in a header, where that is said",
      { scheme: { ...schemes["shared-secret"], header: "x-secret" }, secrets, deliveryId: { header: "X-Request-Id" } },
      [
        [{ body: JSON.stringify(named), headers: { "x-secret": two, "x-request-id": "r" } }, true],
        [{ body: JSON.stringify(named), headers: { "x-secret": one, "x-request-id": "r" } }, false],
        [{ body: JSON.stringify(named), headers: { "x-secret": one, "x-request-id": "x".repeat(9_000) } }, true],
        [{ body: JSON.stringify(named), headers: { "x-secret": one, "x-request-id": "x".repeat(9_000) } }, false],
      ],
    ],
  ]
  for (const [what, options, requests] of rows) {
    test(what, function* () {
      const found = yield* counted(
        options,
        requests.map(([request]) => request),
      )
      assert.deepStrictEqual(
        found,
        requests.map(([, counts]) => counts),
      )
    })
  }
})

describe("a function of one's own", () => {
  test("sees the delivery as it came, and tells its id and time", function* () {
    const seen: Array<ReceivedDelivery> = []
    const at = now()
    const verify = (delivery: ReceivedDelivery) => {
      seen.push(delivery)
      return delivery.url.endsWith("?key=open-sesame")
        ? Effect.succeed({ id: delivery.headers["x-id"], timestamp: at })
        : Effect.fail(new SignatureRefused({ reason: "no_signature_matches" }))
    }
    yield* received(
      function* (url) {
        const request = { body: '{"task_id":"task_0"}', headers: { "X-Id": "one" } }
        assert.strictEqual((yield* send(`${url}?key=guessed`, request)).status, 401)
        assert.deepStrictEqual(yield* due, [])
        for (const expected of [["task_0"], []]) {
          assert.strictEqual((yield* send(`${url}?key=open-sesame`, request)).status, 204)
          assert.deepStrictEqual(yield* due, expected)
          yield* looked
        }
      },
      { verify },
    )
    assert.deepStrictEqual(
      seen.map(({ body, url }) => [new TextDecoder().decode(body), url]),
      ["guessed", "open-sesame", "open-sesame"].map((key) => ['{"task_id":"task_0"}', `/webhook?key=${key}`]),
    )
  })

  test("may say why it refuses", function* () {
    for (const [reason, status, words] of [
      ["header_missing", 400, "it is not signed"],
      ["header_malformed", 400, "it has a malformed signature"],
      ["too_old", 401, "by this machine's clock, it is too old"],
    ] as const) {
      const lines = yield* logged(
        received(
          function* (url) {
            assert.strictEqual((yield* send(url, { body: "{}" })).status, status)
          },
          { verify: () => Effect.fail(new SignatureRefused({ reason })) },
        ),
      )
      assert.deepStrictEqual(lines, [`a webhook delivery was refused: ${words}`])
    }
  })

  test("that throws is an error of ours, which the service may try again, and not the end of the receiver", function* () {
    let broken = true
    const lines = yield* logged(
      received(
        function* (url) {
          assert.strictEqual((yield* send(url, { body: '{"task_id":"task_0"}' })).status, 500)
          broken = false
          assert.strictEqual((yield* send(url, { body: '{"task_id":"task_0"}' })).status, 204)
          assert.deepStrictEqual(yield* due, ["task_0"])
        },
        {
          verify: () => {
            if (broken) throw new Error("forgot something")
            return Effect.succeed({})
          },
        },
      ),
    )
    assert.lengthOf(lines, 1)
    assert.match(lines[0] ?? "", /could not be recorded.*forgot something/)
  })

  it.effect("that never ends is given up after 15 seconds", () =>
    received(
      function* (url) {
        const answer = yield* Effect.forkChild(send(url, { body: "{}" }))
        yield* Effect.repeat(Effect.yieldNow, { until: () => asked })
        yield* TestClock.adjust(Duration.seconds(15))
        const { status } = yield* Fiber.join(answer)
        assert.strictEqual(status, 503)
        assert.deepStrictEqual(yield* Ledger.use((ledger) => ledger.deliveries), { received: 0, last: Option.none() })
      },
      {
        verify: () => {
          asked = true
          return Effect.never
        },
      },
    ),
  )
  let asked = false
})
