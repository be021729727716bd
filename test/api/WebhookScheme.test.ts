/** Each scheme against what others have published and against signatures that `node:crypto` makes. */
import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { SignatureSettings } from "../../src/api/HmacSignature.ts"
import * as WebhookScheme from "../../src/api/WebhookScheme.ts"
import * as WebhookSignature from "../../src/api/WebhookSignature.ts"
import { standard, standardHeaders, stripeHeaders } from "../support/webhookVectors.ts"
import { testOver } from "../support/effectTest.ts"

const test = testOver(WebhookSignature.layerMac)

type Named = Exclude<WebhookScheme.WebhookScheme, { readonly verify: unknown }>
type Settings = Pick<Named, "scheme">

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

const hmac = (secret: string, content: string | Uint8Array, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", secret).update(content).digest(encoding)

/** Not UTF-8: what is signed are bytes. */
const binary = Uint8Array.from([0xff, 0, 0xfe, 0x0a, 0x80])

const [one, two, stranger] = ["the first secret", "another one", "of somebody else"] as const

type Row = readonly [
  what: string,
  headers: Delivery["headers"],
  reason?: string | undefined,
  changes?: Partial<SignatureSettings>,
]

/** One test per row: a delivery with these headers is refused for this reason, or accepted. */
const describeVerdicts = (
  scheme: WebhookScheme.SchemeName,
  secrets: ReadonlyArray<string>,
  delivery: Omit<Delivery, "headers">,
  rows: ReadonlyArray<Row>,
) =>
  describe(`the scheme ${scheme}`, () => {
    for (const [what, headers, reason, changes] of rows) {
      it.effect(`${what}: ${reason ?? "accepted"}`, () =>
        Effect.map(
          verdict({ scheme: { ...WebhookScheme.schemes[scheme], ...changes } }, secrets, { ...delivery, headers }),
          (found) => assert.strictEqual(found, reason),
        ),
      )
    }
  })

const [missing, malformed, mismatch] = ["header_missing", "header_malformed", "no_signature_matches"] as const

const { at, right } = standard
const standardWith = (more: object) => ({ ...standardHeaders("webhook"), ...more })
const signedBy = (signature: string) => standardHeaders("webhook", signature)
const sentAt = (timestamp: string) => standardWith({ "webhook-timestamp": timestamp })

const ofBytes = (length: number) => `whsec_${Buffer.alloc(length, 7).toString("base64")}`

describeVerdicts("standard-webhooks", [ofBytes(24), standard.secret], { body: standard.body, now: at }, [
  ["any of several secrets", signedBy(right)],
  ["a fraction of a second", sentAt(`${at}.5`), "timestamp_malformed"],
  ["a negative timestamp", sentAt(`-${at}`), "timestamp_malformed"],
  ["a timestamp ahead of ours", sentAt(String(at + 301)), "too_new"],
  ["the right signature under another version", signedBy(right.replace("v1", "v1a")), malformed],
  ["no version", signedBy(right.slice(3)), malformed],
  ["a version alone", signedBy("v1, v1 ,"), malformed],
])

const now = 1_700_000_000
const signed = (secret: string, body: string | Uint8Array, at = now) =>
  `v1=${hmac(secret, Buffer.concat([Buffer.from(`${at}.`), bytes(body)]))}`
const hourAgo = `t=${now - 3600},${signed(one, binary, now - 3600)}`

describeVerdicts("stripe", [one, two], { body: binary, now }, [
  ["a signature by the other secret", stripeHeaders(`t=${now},${signed(two, binary)}`)],
  ["the time after the signature, and spaces", stripeHeaders(`${signed(one, binary)} , t=${now}`)],
  ["the oldest time that is taken", stripeHeaders(`t=${now - 300},${signed(one, binary, now - 300)}`)],
  ["the latest time that is taken", stripeHeaders(`t=${now + 300},${signed(one, binary, now + 300)}`)],
  [
    "a custom header and tolerance",
    { "x-vendor-signature": hourAgo },
    undefined,
    { header: "x-vendor-signature", tolerance: "1 hour" },
  ],
  ["older than a custom tolerance", stripeHeaders(hourAgo), "too_old", { tolerance: "59 minutes" }],
  ["no time", stripeHeaders(signed(one, binary)), malformed],
  ["two times", stripeHeaders(`t=${now},t=${now - 1},${signed(one, binary)}`), malformed],
  ["a time in milliseconds", stripeHeaders(`t=${now}000,${signed(one, binary)}`), "timestamp_malformed"],
])

const iso = (time: string) =>
  stripeHeaders(`t=${time},v1=${hmac(one, Buffer.concat([Buffer.from(`${time}.`), binary]))}`)

describeVerdicts(
  "stripe",
  [one],
  { body: binary, now },
  [
    ["a time as text", "2023-11-14T22:13:20Z"],
    ["a time with an offset", "2023-11-14T23:13:20.000+01:00"],
    ["a time without a zone", "2023-11-14T22:13:20", "timestamp_malformed"],
    ["a day that no month has", "2023-11-41T22:13:20Z", "timestamp_malformed"],
  ].map(([what, time, reason]) => [what!, iso(time!), reason, { unit: "iso" }]),
)

const hub = (value: string) => ({ "x-hub-signature-256": value })

describeVerdicts("github", [one, two], { body: binary }, [
  ["upper-case digits", hub(`sha256=${hmac(one, binary).toUpperCase()}`)],
  [
    "digits alone in a header of another name",
    { "linear-signature": hmac(one, binary) },
    undefined,
    { header: "Linear-Signature", prefix: "" },
  ],
  [
    "base64 in a header of another name",
    { "x-shopify-hmac-sha256": hmac(one, binary, "base64") },
    undefined,
    { header: "x-shopify-hmac-sha256", prefix: "", encoding: "base64" },
  ],
  ["nothing after the name", hub("sha256="), malformed],
  ["the signature twice over", hub(`sha256=${hmac(one, binary)}${hmac(one, binary)}`), malformed],
  ["another hash", hub(`sha1=${createHmac("sha1", one).update(binary).digest("hex")}`), malformed],
  ["what is no signature at all", hub("é💥=,\0"), malformed],
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

test("a shared secret is refused before there is a body", function* () {
  const scheme = yield* WebhookScheme.make({ scheme: "shared-secret", secrets: [Redacted.make(one)] })
  const refused = yield* Effect.flip(scheme.open({ url: "/", headers: { authorization: stranger } }))
  assert.strictEqual(refused.reason, mismatch)
})

describe("secrets", () => {
  const problems: ReadonlyArray<readonly [WebhookScheme.SchemeName, string, RegExp]> = [
    ["svix", "hunter2", /begin with whsec_/],
    ["standard-webhooks", ofBytes(15), /16 to 64 bytes, found 15/],
    ["standard-webhooks", ofBytes(65), /16 to 64 bytes, found 65/],
    ["stripe", " \n", /it is empty/],
    ["github", "", /it is empty/],
    ["shared-secret", "Bearer ", /it is empty/],
    ["shared-secret", "hunter2\u00e9", /characters that are not allowed in a header/],
    ["shared-secret", "hunter2\nhunter3", /characters that are not allowed in a header/],
  ]
  for (const [scheme, secret, problem] of problems) {
    test(`${JSON.stringify(secret)} is none for ${scheme}, and not repeated`, function* () {
      const failure = yield* Effect.flip(verify({ scheme }, [secret], { headers: {}, body: "" }))
      assert.strictEqual(failure._tag, "MalformedSecret")
      assert.match(failure.message, problem)
      assert.notMatch(failure.message, /hunter|Bwc/)
    })
  }

  test("of 16 and 64 bytes are read, also from a line with its end", function* () {
    yield* WebhookScheme.make({ secrets: [ofBytes(16), `${ofBytes(64)}\n`] })
  })

  test("stand in nothing that is printed", function* () {
    for (const scheme of WebhookScheme.names) {
      const secrets = [Redacted.make(standard.secret)]
      const made = yield* WebhookScheme.make({ scheme, secrets } as unknown as Named)
      assert.notInclude(JSON.stringify({ made }), standard.secret.slice(6))
    }
  })
})
