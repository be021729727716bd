/** Each scheme against what others have published and against signatures that `node:crypto` makes. */
import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as WebhookScheme from "../../src/api/WebhookScheme.ts"
import * as WebhookSignature from "../../src/api/WebhookSignature.ts"
import { sharedData } from "../support/sharedData.ts"
import { clockTest } from "../support/job.ts"
import { effectTest } from "../support/effectTest.ts"

const test = effectTest(it.effect)

type Named = Exclude<WebhookScheme.WebhookScheme, { readonly verify: unknown }>

interface Settings {
  readonly scheme: WebhookScheme.SchemeName
  readonly header?: string
  readonly tolerance?: Duration.Input
}

interface Delivery {
  readonly headers: Record<string, string | undefined>
  readonly body: string | Uint8Array
  /** Seconds since 1970. */
  readonly now?: number | undefined
}

const bytes = (body: string | Uint8Array) => (typeof body === "string" ? new TextEncoder().encode(body) : body)

const verify = Effect.fnUntraced(function* (
  settings: Settings,
  secrets: ReadonlyArray<string>,
  { body, headers, now = 0 }: Delivery,
) {
  yield* TestClock.setTime(now * 1000)
  const redacted = secrets.map((secret) => Redacted.make(secret))
  const scheme = yield* WebhookScheme.make({ ...settings, secrets: redacted } as unknown as Named)
  const check = yield* scheme.open({ url: "/webhook", headers })
  return yield* check(bytes(body))
}, Effect.provide(WebhookSignature.layerMac))

/** The reason of a refusal; nothing where the delivery is genuine. */
const verdict = (settings: Settings, secrets: ReadonlyArray<string>, delivery: Delivery) =>
  verify(settings, secrets, delivery).pipe(
    Effect.as(undefined),
    Effect.catchTag("SignatureRefused", ({ reason }) => Effect.succeed(reason)),
  )

const standard = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  body: '{"test": 2432232314}',
  at: 1614265330,
  right: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  wrong: "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=",
}

const standardHeaders = (names: string, signature = standard.right) => ({
  [`${names}-id`]: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  [`${names}-timestamp`]: String(standard.at),
  [`${names}-signature`]: signature,
})

const severalSignatures = `${standard.wrong} ${standard.wrong.replace("v1", "v2")} ${standard.right} ${standard.wrong}`

const gitHub = {
  secret: "It's a Secret to Everybody",
  body: "Hello, World!",
  signature: "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
}

/** The event in the tests of Stripe's library for .NET, with its signatures. */
const stripe = {
  secret: "webhook_secret",
  at: 1533204620,
  v1: "v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7",
  v0: "v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef",
  body: `{
  "id": "evt_123",
  "object": "event",
  "account": "acct_123",
  "api_version": "2017-05-25",
  "created": 1533204620,
  "data": {
    "object": {
      "id": "cus_123",
      "object": "customer",
      "created": 123456789,
      "email": "test@stripe.com",
      "livemode": false,
      "metadata": {}
    }
  },
  "livemode": false,
  "pending_webhooks": 1,
  "request": {
    "id": "req_123",
    "idempotency_key": "idempotency-key-123"
  },
  "type": "customer.created"
}
`,
}

const stripeHeaders = (value = `t=${stripe.at},${stripe.v1},${stripe.v0}`) => ({ "stripe-signature": value })

interface Published extends Delivery {
  readonly source: string
  readonly scheme: WebhookScheme.SchemeName
  readonly secret: string
  readonly valid: boolean
}

const standardCase = { secret: standard.secret, body: standard.body, now: standard.at }

const published: ReadonlyArray<Published> = (["standard-webhooks", "svix"] as const).flatMap(
  (scheme): ReadonlyArray<Published> => {
    const names = scheme === "svix" ? "svix" : "webhook"
    const of = { ...standardCase, scheme, headers: standardHeaders(names) }
    const several = standardHeaders(names, severalSignatures)
    return [
      { ...of, source: "one signature", valid: true },
      { ...of, source: "several signatures, an unknown version among them", headers: several, valid: true },
      { ...of, source: "301 seconds later", now: standard.at + 301, valid: false },
      { ...of, source: "one byte of the body changed", body: '{"test": 2432232315}', valid: false },
    ]
  },
).concat([
  {
    source: "GitHub's documentation",
    scheme: "github",
    secret: gitHub.secret,
    headers: { "x-hub-signature-256": gitHub.signature },
    body: gitHub.body,
    valid: true,
  },
  {
    source: "Stripe's library for .NET",
    scheme: "stripe",
    secret: stripe.secret,
    headers: stripeHeaders(),
    body: stripe.body,
    now: stripe.at,
    valid: true,
  },
]) // prettier-ignore

describe("published vectors", () => {
  for (const vector of published) {
    clockTest(`${vector.scheme}, ${vector.source}: ${vector.valid ? "accepted" : "refused"}`, function* () {
      const reason = yield* verdict({ scheme: vector.scheme }, [vector.secret], vector)
      assert.strictEqual(reason === undefined, vector.valid, reason)
    })
  }

  const file = sharedData("../spec/webhook-vectors.json")
  it.skipIf(file === undefined)("are all those of the shared file, and more", () => {
    const { cases } = JSON.parse(readFileSync(file!, "utf8")) as { readonly cases: ReadonlyArray<Published> }
    assert.isNotEmpty(cases)
    const texts = published.map(({ body, headers, now, scheme, secret, valid }) =>
      JSON.stringify({ scheme, secret, headers, body, now, valid }),
    )
    for (const { body, headers, now, scheme, secret, valid } of cases) {
      assert.include(texts, JSON.stringify({ scheme, secret, headers, body, now, valid }))
    }
  })
})

const hmac = (secret: string, content: string | Uint8Array, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", secret).update(content).digest(encoding)

/** Not UTF-8: what is signed are bytes. */
const binary = Uint8Array.from([0xff, 0, 0xfe, 0x0a, 0x80])

const [one, two, stranger] = ["the first secret", "another one", "of somebody else"] as const

type Row = readonly [
  what: string,
  headers: Delivery["headers"],
  reason?: string | undefined,
  settings?: Partial<Settings>,
]

/** One test per row: a delivery with these headers is refused for this reason, or accepted. */
const describeVerdicts = (
  scheme: WebhookScheme.SchemeName,
  secrets: ReadonlyArray<string>,
  delivery: Omit<Delivery, "headers">,
  rows: ReadonlyArray<Row>,
) =>
  describe(`the scheme ${scheme}`, () => {
    for (const [what, headers, reason, settings] of rows) {
      it.effect(`${what}: ${reason ?? "accepted"}`, () =>
        Effect.map(verdict({ scheme, ...settings }, secrets, { ...delivery, headers }), (found) =>
          assert.strictEqual(found, reason),
        ),
      )
    }
  })

const [missing, malformed, mismatch] = ["header_missing", "header_malformed", "no_signature_matches"] as const

const { at, right } = standard
const standardWith = (more: object) => ({ ...standardHeaders("webhook"), ...more })
const signedBy = (signature: string) => standardHeaders("webhook", signature)
const sentAt = (timestamp: string) => standardWith({ "webhook-timestamp": timestamp })

/** Of 24 bytes. */
const otherSecret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`

describeVerdicts("standard-webhooks", [otherSecret, standard.secret], { body: standard.body, now: at }, [
  ["any of several secrets", signedBy(right)],
  ["no id", standardWith({ "webhook-id": undefined }), missing],
  ["no timestamp", standardWith({ "webhook-timestamp": undefined }), missing],
  ["no signature", standardWith({ "webhook-signature": undefined }), missing],
  ["an empty signature", signedBy(""), missing],
  ["a timestamp that is no number", sentAt(`${at}x`), "timestamp_malformed"],
  ["a fraction of a second", sentAt(`${at}.5`), "timestamp_malformed"],
  ["a negative timestamp", sentAt(`-${at}`), "timestamp_malformed"],
  ["a timestamp ahead of ours", sentAt(String(at + 301)), "too_new"],
  ["another id", standardWith({ "webhook-id": "msg_other" }), mismatch],
  ["another timestamp", sentAt(String(at + 1)), mismatch],
  ["the right signature under another version", signedBy(right.replace("v1", "v1a")), mismatch],
  ["no version", signedBy(right.slice(3)), mismatch],
  ["a signature cut short", signedBy(right.slice(0, -2)), mismatch],
  ["a version alone", signedBy("v1, v1 ,"), mismatch],
  ["another signature", signedBy(standard.wrong), mismatch],
])

const now = 1_700_000_000
const signed = (secret: string, body: string | Uint8Array, at = now) =>
  `v1=${hmac(secret, Buffer.concat([Buffer.from(`${at}.`), bytes(body)]))}`
const hourAgo = `t=${now - 3600},${signed(one, binary, now - 3600)}`

describeVerdicts("stripe", [one, two], { body: binary, now }, [
  ["one signature", stripeHeaders(`t=${now},${signed(one, binary)}`)],
  ["a signature by the other secret", stripeHeaders(`t=${now},${signed(two, binary)}`)],
  [
    "several signatures, one of them ours",
    stripeHeaders(`t=${now},${signed(stranger, binary)},${signed(two, binary)},v1=zz`),
  ],
  ["the time after the signature, and spaces", stripeHeaders(`${signed(one, binary)} , t=${now}`)],
  ["a header that came twice", stripeHeaders(`t=${now},${signed(stranger, binary)}, t=${now},${signed(one, binary)}`)],
  ["the oldest time that is taken", stripeHeaders(`t=${now - 300},${signed(one, binary, now - 300)}`)],
  ["the latest time that is taken", stripeHeaders(`t=${now + 300},${signed(one, binary, now + 300)}`)],
  [
    "a custom header and tolerance",
    { "x-vendor-signature": hourAgo },
    undefined,
    { header: "x-vendor-signature", tolerance: "1 hour" },
  ],
  ["older than a custom tolerance", stripeHeaders(hourAgo), "too_old", { tolerance: "59 minutes" }],
  ["no header", {}, missing],
  ["an empty header", stripeHeaders(""), missing],
  ["no time", stripeHeaders(signed(one, binary)), malformed],
  ["two times", stripeHeaders(`t=${now},t=${now - 1},${signed(one, binary)}`), malformed],
  ["a time that is none", stripeHeaders(`t=now,${signed(one, binary)}`), "timestamp_malformed"],
  ["a time in milliseconds", stripeHeaders(`t=${now}000,${signed(one, binary)}`), "timestamp_malformed"],
  ["an old time", stripeHeaders(`t=${now - 301},${signed(one, binary, now - 301)}`), "too_old"],
  ["a time to come", stripeHeaders(`t=${now + 301},${signed(one, binary, now + 301)}`), "too_new"],
  ["a time that was not signed", stripeHeaders(`t=${now - 1},${signed(one, binary)}`), mismatch],
  ["another body", stripeHeaders(`t=${now},${signed(one, "other")}`), mismatch],
  ["another's secret", stripeHeaders(`t=${now},${signed(stranger, binary)}`), mismatch],
  ["no signature", stripeHeaders(`t=${now}`), mismatch],
  ["an empty signature", stripeHeaders(`t=${now},v1=`), mismatch],
  ["half of the signature", stripeHeaders(`t=${now},${signed(one, binary).slice(0, 35)}`), mismatch],
  ["another version", stripeHeaders(`t=${now},${signed(one, binary).replace("v1", "v0")}`), mismatch],
])

clockTest("stripe tells the time that was signed", function* () {
  const headers = stripeHeaders(`t=${now - 9},${signed(one, binary, now - 9)}`)
  const verified = yield* verify({ scheme: "stripe" }, [one], { headers, body: binary, now })
  assert.deepStrictEqual(verified, { timestamp: now - 9 })
})

const hub = (value: string) => ({ "x-hub-signature-256": value })

describeVerdicts("github", [one, two], { body: binary }, [
  ["hexadecimal digits", hub(`sha256=${hmac(one, binary)}`)],
  ["upper-case digits", hub(`sha256=${hmac(one, binary).toUpperCase()}`)],
  ["the other secret", hub(`sha256=${hmac(two, binary)}`)],
  ["a header that came twice", hub(`sha256=${hmac(stranger, binary)}, sha256=${hmac(two, binary)}`)],
  [
    "digits alone in a header of another name",
    { "linear-signature": hmac(one, binary) },
    undefined,
    { header: "Linear-Signature" },
  ],
  [
    "base64 in a header of another name",
    { "x-shopify-hmac-sha256": hmac(one, binary, "base64") },
    undefined,
    { header: "x-shopify-hmac-sha256" },
  ],
  ["no header", {}, missing],
  ["an empty header", hub(""), missing],
  ["nothing after the name", hub("sha256="), mismatch],
  ["another's secret", hub(`sha256=${hmac(stranger, binary)}`), mismatch],
  ["another body", hub(`sha256=${hmac(one, "other")}`), mismatch],
  ["half of the signature", hub(`sha256=${hmac(one, binary).slice(0, 32)}`), mismatch],
  ["the signature twice over", hub(`sha256=${hmac(one, binary)}${hmac(one, binary)}`), mismatch],
  ["another hash", hub(`sha1=${createHmac("sha1", one).update(binary).digest("hex")}`), mismatch],
  ["what is no signature at all", hub("é💥=,\0"), mismatch],
])

const authorized = (authorization: string) => ({ authorization })

describeVerdicts("shared-secret", [one, two, "Basic dXNlcjpwYXNz", "Bearer a third"], { body: binary }, [
  ["a bearer token", authorized(`Bearer ${one}`)],
  ["a bearer token in lower case", authorized(`bearer   ${one}`)],
  ["the secret alone", authorized(one)],
  ["a header of another name", { "x-webhook-secret": one }, undefined, { header: "X-Webhook-Secret" }],
  ["a user and a password", authorized("Basic dXNlcjpwYXNz")],
  ["a secret that was set with its Bearer", authorized("Bearer a third")],
  ["the other of two", authorized(`Bearer ${two}`)],
  ["no header", {}, missing],
  ["an empty header", authorized(""), missing],
  ["a bearer of nothing", authorized("Bearer "), mismatch],
  ["another secret", authorized(`Bearer ${stranger}`), mismatch],
  ["the beginning of the secret", authorized(`Bearer ${one.slice(0, -1)}`), mismatch],
  ["the secret and more", authorized(`Bearer ${one}x`), mismatch],
  ["the secret in other case", authorized(`Bearer ${one.toUpperCase()}`), mismatch],
  ["the secret for another kind", authorized(`Basic ${one}`), mismatch],
])

it.effect("a shared secret is refused before there is a body", () =>
  Effect.gen(function* () {
    const scheme = yield* WebhookScheme.make({ scheme: "shared-secret", secrets: [Redacted.make(one)] })
    const refused = yield* Effect.flip(scheme.open({ url: "/", headers: { authorization: stranger } }))
    assert.strictEqual(refused.reason, mismatch)
  }).pipe(Effect.provide(WebhookSignature.layerMac)),
)

describe("secrets", () => {
  const problems: ReadonlyArray<readonly [WebhookScheme.SchemeName, string, RegExp]> = [
    ["standard-webhooks", "hunter2", /begin with whsec_/],
    ["svix", "hunter2", /begin with whsec_/],
    ["stripe", " \n", /it is empty/],
    ["github", "", /it is empty/],
    ["shared-secret", "Bearer ", /it is empty/],
    ["shared-secret", "hunter2\u00e9", /characters that are not allowed in a header/],
    ["shared-secret", "hunter2\nhunter3", /characters that are not allowed in a header/],
  ]
  for (const scheme of ["standard-webhooks", "svix", "stripe"] as const) {
    test(`a tolerance below a second or above an hour is none for ${scheme}`, function* () {
      const secrets = [Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")] as const
      for (const tolerance of ["0 seconds", "999 millis", "3601 seconds"] as const) {
        const made = WebhookScheme.make({ scheme, secrets, tolerance }).pipe(Effect.provide(WebhookSignature.layerMac))
        assert.strictEqual((yield* Effect.flip(made))._tag, "MalformedTolerance")
      }
      for (const tolerance of ["1 second", "1 hour"] as const) {
        yield* WebhookScheme.make({ scheme, secrets, tolerance }).pipe(Effect.provide(WebhookSignature.layerMac))
      }
    })
  }

  for (const [scheme, secret, problem] of problems) {
    test(`${JSON.stringify(secret)} is none for ${scheme}, and not repeated`, function* () {
      const failure = yield* Effect.flip(verify({ scheme }, [secret], { headers: {}, body: "" }))
      assert.strictEqual(failure._tag, "MalformedSecret")
      assert.match(failure.message, problem)
      assert.notInclude(failure.message, "hunter")
    })
  }

  it.effect("stand in nothing that is printed", () =>
    Effect.gen(function* () {
      for (const scheme of WebhookScheme.schemes) {
        const secrets = [Redacted.make(standard.secret)]
        const made = yield* WebhookScheme.make({ scheme, secrets } as unknown as Named)
        assert.notInclude(JSON.stringify({ made }), standard.secret.slice(6))
      }
    }).pipe(Effect.provide(WebhookSignature.layerMac)),
  )
})

test("an unknown scheme is found out when it is set", function* () {
  const failure = yield* Effect.flip(verify({ scheme: "md5" as "svix" }, ["s"], { headers: {}, body: "" }))
  assert.strictEqual(
    failure.message,
    'unknown webhook scheme "md5": expected standard-webhooks, svix, stripe, github, shared-secret, or a verify function',
  )
})
