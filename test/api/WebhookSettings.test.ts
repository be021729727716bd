/** Signatures by settings: those of services that publish no vector, every setting, and settings that are refused. */
import { createHmac } from "node:crypto"
import { assert, describe } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import type { SignatureSettings } from "../../src/api/HmacSignature.ts"
import * as WebhookScheme from "../../src/api/WebhookScheme.ts"
import { layerMac } from "../../src/api/WebhookSignature.ts"
import * as Webhooks from "../../src/task/webhook/Webhooks.ts"
import { clockTest } from "../support/job.ts"

const secret = "a secret of the service"
const body = '{"id":1,"text":"Grüße 👋"}'
const at = 1_700_000_000

const hmac = (content: string, encoding: "hex" | "base64" | "base64url" = "hex", hash = "sha256", key: string | Buffer = secret) =>
  createHmac(hash, key).update(content).digest(encoding) // prettier-ignore

type Scheme = Exclude<WebhookScheme.WebhookScheme["scheme"], undefined>

/** The signatures as the services' documentation has them computed. */
const rows: ReadonlyArray<readonly [what: string, Scheme, headers: Record<string, string>, secret?: string]> = [
  ["Shopify", "shopify", { "X-Shopify-Hmac-Sha256": hmac(body, "base64") }],
  ["Linear", "linear", { "linear-signature": hmac(body) }],
  ["Zoom", "zoom", { "x-zm-request-timestamp": String(at), "x-zm-signature": `v0=${hmac(`v0:${at}:${body}`)}` }],
  ["Typeform", "typeform", { "Typeform-Signature": `sha256=${hmac(body, "base64")}` }],
  ["Labelbox", "labelbox", { "X-Hub-Signature-256": `sha256=${hmac(body)}` }],
  ["Prolific", "prolific", { "X-Prolific-Request-Timestamp": String(at), "X-Prolific-Request-Signature": hmac(at + body, "base64") }],
  ["a secret in a header", { header: "X-Secret", digest: "none" }, { "x-secret": secret }],
  ["SHA-512 in base64url", { header: "x-s", digest: "sha512", encoding: "base64url" }, { "X-S": hmac(body, "base64url", "sha512") }],
  ["a time by RFC 3339, after the id", { header: "x-s", signed: "{id}{timestamp}{body}", id: "x-id", timestamp: "x-time", unit: "iso", prefix: "sha256=" }, { "x-id": "m-1", "x-time": "2023-11-14T22:13:20.123456789Z", "x-s": `sha256=${hmac(`m-12023-11-14T22:13:20.123456789Z${body}`)}` }],
  ["the URL before the body", { header: "x-s", signed: "{url}{body}", url: "https://hooks.example/w?a=b" }, { "x-s": hmac(`https://hooks.example/w?a=b${body}`) }],
  ["text after the body, and two signatures between semicolons", { header: "x-s", signed: "{body}:{timestamp}:end", timestamp: "ts=", prefix: "h1=" }, { "x-s": `ts=${at};h1=${hmac("other")};h1=${hmac(`${body}:${at}:end`)}` }],
  ["a key in hex", { header: "x-s", key: "hex" }, { "x-s": hmac(body, "hex", "sha256", Buffer.from("00ff10", "hex")) }, "00ff10"],
  ["a key in base64, as of Argilla", { ...WebhookScheme.schemes["standard-webhooks"], key: "base64" }, { "webhook-id": "m", "webhook-timestamp": String(at), "webhook-signature": `v1,${hmac(`m.${at}.${body}`, "base64", "sha256", Buffer.from("AP8Q", "base64"))}` }, "AP8Q"],
] // prettier-ignore

const verify = Effect.fnUntraced(function* (scheme: Scheme, delivery: Webhooks.UnverifiedDelivery, by = secret) {
  yield* TestClock.setTime(at * 1000)
  const verify = yield* Webhooks.verifier({ scheme, secrets: [by] })
  return yield* verify(delivery)
})

describe("signatures by settings", () => {
  for (const [what, scheme, headers, by] of rows) {
    clockTest(`${what}: the genuine is accepted, another body or secret is not`, function* () {
      for (const form of [headers, new Headers(headers), Object.entries(headers)] as const) {
        yield* verify(scheme, { headers: form, body }, by)
      }
      const other = yield* Effect.flip(
        verify(scheme, { headers, body }, by === undefined ? "other" : `${by.slice(0, -2)}AA`),
      )
      assert.strictEqual(other._tag, "SignatureRefused")
      const isSigned = typeof scheme === "string" || scheme.digest !== "none"
      const changed = verify(scheme, { headers, body: `${body} ` }, by)
      assert.strictEqual(yield* Effect.isFailure(changed), isSigned)
    })
  }

  const standard = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  for (const scheme of [...WebhookScheme.names, ...rows.map(([, scheme]) => scheme)]) {
    clockTest(`${JSON.stringify(scheme)} accepts what it signs itself`, function* () {
      yield* TestClock.setTime(at * 1000)
      const settings: SignatureSettings = typeof scheme === "string" ? WebhookScheme.schemes[scheme] : scheme
      const key = { whsec: standard, hex: "00ff", base64: "AP8Q", text: secret }[settings.key ?? "text"]
      const options = { scheme, secrets: [key] } as const
      const made = yield* Effect.provide(WebhookScheme.make(options), layerMac)
      const headers = yield* made.sign({ id: "m-1", timestamp: at, body: new TextEncoder().encode(body) })
      const verified = yield* (yield* Webhooks.verifier(options))({ headers, body })
      const { signed = "", timestamp } = settings
      assert.deepStrictEqual(verified, {
        ...(signed.includes("{id}") && { id: "m-1" }),
        ...(timestamp !== undefined && { timestamp: at }),
      })
    })
  }

  clockTest("SHA-1 is verified with a warning, once", function* () {
    const lines: Array<unknown> = []
    const logger = Logger.make(({ logLevel, message }) => void lines.push(logLevel, message))
    const settings = { header: "x-hub-signature", digest: "sha1", prefix: "sha1=" } as const
    const check = yield* Effect.provide(
      Webhooks.verifier({ scheme: settings, secrets: [secret] }),
      Logger.layer([logger]),
    )
    const headers = { "x-hub-signature": `sha1=${hmac(body, "hex", "sha1")}` }
    yield* check({ headers, body })
    assert.deepStrictEqual(lines, [
      "Warn",
      ["webhooks are verified by SHA-1, which is outdated: use sha256 if the service offers it"],
    ])
    const refused = yield* Effect.flip(check({ headers: { "x-hub-signature": `sha1=${hmac(body)}` }, body }))
    assert.match(refused.message, /its x-hub-signature has no signature: expected sha1= and 40 hex digits$/)
  })
})

/** Values that programs without types may pass, and the setting that the error names with what it expects. */
const wrong: ReadonlyArray<readonly [what: string, options: unknown, setting: string, problem: RegExp]> = [
  ["nothing", undefined, "options", /an object with `secrets`/],
  ["a scheme that is none", { scheme: "strip" }, "scheme", /unknown scheme "strip" \(did you mean stripe\?\): expected standard-webhooks, /],
  ["a name of Object", { scheme: "constructor" }, "scheme", /unknown scheme "constructor"/],
  ["a number for a scheme", { scheme: 7 }, "scheme", /expected a name or settings$/],
  ["null for a scheme", { scheme: null }, "scheme", /expected a name or settings$/],
  ["no header", { scheme: {} }, "header", /a header name/],
  ["a header with spaces", { scheme: { header: "x signature" } }, "header", /a header name/],
  ["a number for a header", { scheme: { header: 1 } }, "header", /a header name/],
  ["an unknown setting", { scheme: { header: "x", digets: "sha256" } }, "digets", /did you mean digest\?/],
  ["an unknown digest", { scheme: { header: "x", digest: "md5" } }, "digest", /sha256, sha512, sha1 or none/],
  ["an unknown encoding", { scheme: { header: "x", encoding: "utf8" } }, "encoding", /hex, base64 or base64url/],
  ["a prefix with a space", { scheme: { header: "x", prefix: "v1 " } }, "prefix", /text before each signature/],
  ["no body in the signed text", { scheme: { header: "x", signed: "{url}" } }, "signed", /\{body\} exactly once/],
  ["the body twice", { scheme: { header: "x", signed: "{body}{body}" } }, "signed", /\{body\} exactly once/],
  ["an unknown placeholder", { scheme: { header: "x", signed: "{body}{nonce}" } }, "signed", /other placeholders are/],
  ["an id from nowhere", { scheme: { header: "x", signed: "{id}{body}" } }, "id", /required, because \{id\} is signed/],
  ["a URL that is none", { scheme: { header: "x", signed: "{url}{body}", url: "/w" } }, "url", /http or https URL/],
  ["a URL that is not signed", { scheme: { header: "x", url: "https://h.example/" } }, "url", /allowed only if the signature covers this value/],
  ["a time that is not signed", { scheme: { header: "x", timestamp: "x-t" } }, "timestamp", /allowed only if the signature covers this value/],
  ["a time in two words", { scheme: { header: "x", signed: "{timestamp}{body}", timestamp: "x t" } }, "timestamp", /a header name, such as x-timestamp, if the time has its own header; or/],
  ["an unknown unit", { scheme: { ...WebhookScheme.schemes.stripe, unit: "us" } }, "unit", /s, ms or iso/],
  ["a unit without a time", { scheme: { header: "x", unit: "ms" } }, "unit", /allowed only together with the setting `timestamp`/],
  ["a tolerance without a time", { scheme: { header: "x", tolerance: "1 minute" } }, "tolerance", /allowed only together with the setting `timestamp`/],
  ...[0, "999 millis", "3601 seconds", "a while", {}, Number.NaN].map(
    (tolerance) => ["a tolerance", { scheme: { ...WebhookScheme.schemes.stripe, tolerance } }, "tolerance", /1 second to 1 hour/] as const,
  ),
  ["an unknown form of keys", { scheme: { header: "x", key: "pem" } }, "key", /text, hex, base64 or whsec/],
  ["a prefix of a bare secret", { scheme: { header: "x", digest: "none", prefix: "a" } }, "prefix", /not allowed with `digest: "none"`, which signs nothing: remove this setting/],
  ["a function that is none", { verify: "yes" }, "verify", /a function/],
] // prettier-ignore

describe("wrong options from plain JavaScript are typed errors", () => {
  for (const [what, options, setting, problem] of wrong) {
    clockTest(`${what}: ${setting}`, function* () {
      const all = typeof options === "object" ? { secrets: [secret], ...options } : options
      const failure = yield* Effect.flip(Webhooks.verifier(all as WebhookScheme.WebhookScheme))
      assert.strictEqual(failure._tag === "InvalidWebhookSetting" && failure.setting, setting)
      assert.match(failure.message, problem)
      assert.throws(
        () => Webhooks.fetchHandler(all as WebhookScheme.WebhookScheme, () => {}),
        Webhooks.InvalidWebhookSetting,
      )
    })
  }

  for (const secrets of [undefined, [], "secret", [7], [""], [null], [" "]]) {
    clockTest(`secrets ${JSON.stringify(secrets)}`, function* () {
      for (const scheme of ["github", "shared-secret"] as const) {
        const failure = yield* Effect.flip(
          Webhooks.verifier({ scheme, secrets } as unknown as WebhookScheme.WebhookScheme),
        )
        assert.strictEqual(failure._tag, "MalformedSecret")
      }
    })
  }

  clockTest("headers and a body that something has parsed", function* () {
    const check = yield* Webhooks.verifier({ scheme: "github", secrets: [secret] })
    for (const [delivery, setting] of [
      [{ headers: {}, body: { id: 1 } }, "body"],
      [{ headers: {}, body: undefined }, "body"],
      [{ body: "" }, "headers"],
      [{ headers: "x-hub-signature-256", body: "" }, "headers"],
    ] as const) {
      const failure = yield* Effect.flip(check(delivery as unknown as Webhooks.UnverifiedDelivery))
      assert.strictEqual(failure._tag === "InvalidWebhookSetting" && failure.setting, setting)
    }
    // Headers as `node:http` has them, and the bytes of the body.
    const body = Buffer.from("{}")
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
    for (const value of [signature, ["sha256=0", signature]]) {
      yield* check({ headers: { "X-Hub-Signature-256": value, cookie: undefined }, body })
    }
  })
})
