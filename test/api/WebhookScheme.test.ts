/** Each scheme against what others have published and against signatures that `node:crypto` makes. */
import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as WebhookScheme from "../../src/api/WebhookScheme.ts"
import * as WebhookSignature from "../../src/api/WebhookSignature.ts"
import { sharedData } from "../support/sharedData.ts"

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
    it.effect(`${vector.scheme}, ${vector.source}: ${vector.valid ? "accepted" : "refused"}`, () =>
      Effect.gen(function* () {
        const reason = yield* verdict({ scheme: vector.scheme }, [vector.secret], vector)
        assert.strictEqual(reason === undefined, vector.valid, reason)
      }),
    )
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

describe("stripe", () => {
  const now = 1_700_000_000
  const signed = (secret: string, body: string | Uint8Array, at = now) =>
    `v1=${hmac(secret, Buffer.concat([Buffer.from(`${at}.`), bytes(body)]))}`
  const judged = (value: string | undefined, settings: Partial<Settings> = {}, body: string | Uint8Array = binary) =>
    verdict({ scheme: "stripe", ...settings }, [one, two], {
      headers: { [settings.header ?? "stripe-signature"]: value },
      body,
      now,
    })

  const genuine: ReadonlyArray<readonly [what: string, value: string]> = [
    ["one signature", `t=${now},${signed(one, binary)}`],
    ["a signature by the other secret", `t=${now},${signed(two, binary)}`],
    ["several signatures, one of them ours", `t=${now},${signed(stranger, binary)},${signed(two, binary)},v1=zz`],
    ["the time after the signature, and spaces", `${signed(one, binary)} , t=${now}`],
    ["a header that came twice", `t=${now},${signed(stranger, binary)}, t=${now},${signed(one, binary)}`],
    ["the oldest time that is taken", `t=${now - 300},${signed(one, binary, now - 300)}`],
    ["the latest time that is taken", `t=${now + 300},${signed(one, binary, now + 300)}`],
  ]
  for (const [what, value] of genuine) {
    it.effect(`${what}: accepted`, () => Effect.map(judged(value), (reason) => assert.isUndefined(reason)))
  }

  const forged: ReadonlyArray<readonly [what: string, value: string | undefined, reason: string]> = [
    ["no header", undefined, "header_missing"],
    ["an empty header", "", "header_missing"],
    ["no time", signed(one, binary), "header_malformed"],
    ["two times", `t=${now},t=${now - 1},${signed(one, binary)}`, "header_malformed"],
    ["a time that is none", `t=now,${signed(one, binary)}`, "timestamp_malformed"],
    ["a time in milliseconds", `t=${now}000,${signed(one, binary)}`, "timestamp_malformed"],
    ["an old time", `t=${now - 301},${signed(one, binary, now - 301)}`, "too_old"],
    ["a time to come", `t=${now + 301},${signed(one, binary, now + 301)}`, "too_new"],
    ["a time that was not signed", `t=${now - 1},${signed(one, binary)}`, "no_signature_matches"],
    ["another body", `t=${now},${signed(one, "other")}`, "no_signature_matches"],
    ["another's secret", `t=${now},${signed(stranger, binary)}`, "no_signature_matches"],
    ["no signature", `t=${now}`, "no_signature_matches"],
    ["an empty signature", `t=${now},v1=`, "no_signature_matches"],
    ["half of the signature", `t=${now},${signed(one, binary).slice(0, 35)}`, "no_signature_matches"],
    ["the signature as another version", `t=${now},${signed(one, binary).replace("v1", "v0")}`, "no_signature_matches"],
  ]
  for (const [what, value, reason] of forged) {
    it.effect(`${what}: ${reason}`, () => Effect.map(judged(value), (found) => assert.strictEqual(found, reason)))
  }

  it.effect("takes a header and a tolerance of one's own", () =>
    Effect.gen(function* () {
      const value = `t=${now - 3600},${signed(one, binary, now - 3600)}`
      assert.isUndefined(yield* judged(value, { header: "x-vendor-signature", tolerance: "1 hour" }))
      assert.strictEqual(yield* judged(value, { tolerance: "59 minutes" }), "too_old")
    }),
  )

  it.effect("tells the time that was signed", () =>
    Effect.gen(function* () {
      const headers = { "stripe-signature": `t=${now - 9},${signed(one, binary, now - 9)}` }
      const verified = yield* verify({ scheme: "stripe" }, [one], { headers, body: binary, now })
      assert.deepStrictEqual(verified, { timestamp: now - 9 })
    }),
  )
})

describe("github", () => {
  const judged = (value: string | undefined, header?: string) =>
    verdict({ scheme: "github", ...(header && { header }) }, [one, two], {
      headers: { [header?.toLowerCase() ?? "x-hub-signature-256"]: value },
      body: binary,
    })

  const genuine: ReadonlyArray<readonly [what: string, value: string, header?: string]> = [
    ["hexadecimal digits", `sha256=${hmac(one, binary)}`],
    ["upper-case digits", `sha256=${hmac(one, binary).toUpperCase()}`],
    ["the other secret", `sha256=${hmac(two, binary)}`],
    ["a header that came twice", `sha256=${hmac(stranger, binary)}, sha256=${hmac(two, binary)}`],
    ["digits alone in a header of another name", hmac(one, binary), "Linear-Signature"],
    ["base64 in a header of another name", hmac(one, binary, "base64"), "x-shopify-hmac-sha256"],
  ]
  for (const [what, value, header] of genuine) {
    it.effect(`${what}: accepted`, () => Effect.map(judged(value, header), (reason) => assert.isUndefined(reason)))
  }

  const forged: ReadonlyArray<readonly [what: string, value: string | undefined, reason: string]> = [
    ["no header", undefined, "header_missing"],
    ["an empty header", "", "header_missing"],
    ["nothing after the name", "sha256=", "no_signature_matches"],
    ["another's secret", `sha256=${hmac(stranger, binary)}`, "no_signature_matches"],
    ["another body", `sha256=${hmac(one, "other")}`, "no_signature_matches"],
    ["half of the signature", `sha256=${hmac(one, binary).slice(0, 32)}`, "no_signature_matches"],
    ["the signature twice over", `sha256=${hmac(one, binary)}${hmac(one, binary)}`, "no_signature_matches"],
    ["another hash", `sha1=${createHmac("sha1", one).update(binary).digest("hex")}`, "no_signature_matches"],
    ["what is no signature at all", "é💥=,\0", "no_signature_matches"],
  ]
  for (const [what, value, reason] of forged) {
    it.effect(`${what}: ${reason}`, () => Effect.map(judged(value), (found) => assert.strictEqual(found, reason)))
  }
})

describe("shared-secret", () => {
  const judged = (secrets: ReadonlyArray<string>, value: string | undefined, header?: string) =>
    verdict({ scheme: "shared-secret", ...(header && { header }) }, secrets, {
      headers: { [header?.toLowerCase() ?? "authorization"]: value },
      body: binary,
    })

  const genuine: ReadonlyArray<readonly [what: string, secret: string, value: string, header?: string]> = [
    ["a bearer token", one, `Bearer ${one}`],
    ["a bearer token in lower case", one, `bearer   ${one}`],
    ["the secret alone", one, one],
    ["a header of another name", one, one, "X-Webhook-Secret"],
    ["a user and a password", "Basic dXNlcjpwYXNz", "Basic dXNlcjpwYXNz"],
    ["a secret that was set with its Bearer", `Bearer ${one}`, `Bearer ${one}`],
    ["the other of two", two, `Bearer ${two}`],
  ]
  for (const [what, secret, value, header] of genuine) {
    it.effect(`${what}: accepted`, () =>
      Effect.map(judged([stranger, secret], value, header), (reason) => assert.isUndefined(reason)),
    )
  }

  const forged: ReadonlyArray<readonly [what: string, value: string | undefined, reason: string]> = [
    ["no header", undefined, "header_missing"],
    ["an empty header", "", "header_missing"],
    ["a bearer of nothing", "Bearer ", "no_signature_matches"],
    ["another secret", `Bearer ${stranger}`, "no_signature_matches"],
    ["the beginning of the secret", `Bearer ${one.slice(0, -1)}`, "no_signature_matches"],
    ["the secret and more", `Bearer ${one}x`, "no_signature_matches"],
    ["the secret in other case", `Bearer ${one.toUpperCase()}`, "no_signature_matches"],
    ["the secret for another kind", `Basic ${one}`, "no_signature_matches"],
  ]
  for (const [what, value, reason] of forged) {
    it.effect(`${what}: ${reason}`, () =>
      Effect.map(judged([one], value), (found) => assert.strictEqual(found, reason)),
    )
  }

  it.effect("is refused before there is a body", () =>
    Effect.gen(function* () {
      const scheme = yield* WebhookScheme.make({ scheme: "shared-secret", secrets: [Redacted.make(one)] })
      const refused = yield* Effect.flip(scheme.open({ url: "/", headers: { authorization: stranger } }))
      assert.strictEqual(refused.reason, "no_signature_matches")
    }).pipe(Effect.provide(WebhookSignature.layerMac)),
  )
})

describe("secrets", () => {
  const malformed: ReadonlyArray<readonly [WebhookScheme.SchemeName, string, RegExp]> = [
    ["standard-webhooks", "hunter2", /begin with whsec_/],
    ["svix", "hunter2", /begin with whsec_/],
    ["stripe", " \n", /it is empty/],
    ["github", "", /it is empty/],
    ["shared-secret", "Bearer ", /it is empty/],
    ["shared-secret", "hunter2\u00e9", /characters that no header has/],
    ["shared-secret", "hunter2\nhunter3", /characters that no header has/],
  ]
  for (const scheme of ["standard-webhooks", "svix", "stripe"] as const) {
    it.effect(`a tolerance below a second or above an hour is none for ${scheme}`, () =>
      Effect.gen(function* () {
        const secrets = [Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")] as const
        for (const tolerance of ["0 seconds", "999 millis", "3601 seconds"] as const) {
          const made = WebhookScheme.make({ scheme, secrets, tolerance }).pipe(
            Effect.provide(WebhookSignature.layerMac),
          )
          assert.strictEqual((yield* Effect.flip(made))._tag, "MalformedTolerance")
        }
        for (const tolerance of ["1 second", "1 hour"] as const) {
          yield* WebhookScheme.make({ scheme, secrets, tolerance }).pipe(Effect.provide(WebhookSignature.layerMac))
        }
      }),
    )
  }

  for (const [scheme, secret, problem] of malformed) {
    it.effect(`${JSON.stringify(secret)} is none for ${scheme}, and not repeated`, () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(verify({ scheme }, [secret], { headers: {}, body: "" }))
        assert.strictEqual(failure._tag, "MalformedSecret")
        assert.match(failure.message, problem)
        assert.notInclude(failure.message, "hunter")
      }),
    )
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

describe("a scheme that there is not", () => {
  it.effect("is found out when it is set", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(verify({ scheme: "md5" as "svix" }, ["s"], { headers: {}, body: "" }))
      assert.strictEqual(
        failure.message,
        'unknown webhook scheme "md5": expected standard-webhooks, svix, stripe, github, shared-secret, or a function verify',
      )
    }),
  )
})
