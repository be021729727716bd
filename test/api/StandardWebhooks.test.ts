import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Webhook, WebhookVerificationError } from "standardwebhooks"
import * as StandardWebhooks from "../../src/api/StandardWebhooks.ts"
import { layerMac } from "../../src/api/WebhookSignature.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const base64 = (length: number, fill = 7) => Buffer.alloc(length, fill).toString("base64")
const read = (text: string) => StandardWebhooks.readSecret(Redacted.make(text))

const id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const body = '{"test": 2432232314}'
const right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
const at = 1614265330

const headersWith = (signature: string, timestamp = String(at)) => ({
  "webhook-id": id,
  "webhook-timestamp": timestamp,
  "webhook-signature": signature,
})

const verify = Effect.fnUntraced(function* (
  secrets: ReadonlyArray<string>,
  headers: Record<string, string | undefined>,
  text: string,
) {
  const scheme = yield* StandardWebhooks.make({ secrets: yield* Effect.forEach(secrets, read) })
  const check = yield* scheme.open({ url: "/webhook", headers })
  return yield* check(bytes(text))
})

/** A verdict is a reason, or nothing where the delivery is genuine. */
const verdict = Effect.fnUntraced(function* (
  secrets: ReadonlyArray<string>,
  headers: Record<string, string | undefined>,
  text: string,
  now: number,
) {
  yield* TestClock.setTime(now * 1000)
  return yield* verify(secrets, headers, text).pipe(
    Effect.as(undefined),
    Effect.catchTag("SignatureRefused", (refused) => Effect.succeed(refused.reason)),
  )
}, Effect.provide(layerMac))

describe("verify", () => {
  const refusals: ReadonlyArray<readonly [what: string, headers: Record<string, string | undefined>, reason: string]> =
    [
      ["no id", { ...headersWith(right), "webhook-id": undefined }, "header_missing"],
      ["no timestamp", { ...headersWith(right), "webhook-timestamp": undefined }, "header_missing"],
      ["no signature", { ...headersWith(right), "webhook-signature": undefined }, "header_missing"],
      ["an empty signature", headersWith(""), "header_missing"],
      ["a timestamp that is no number", headersWith(right, `${at}x`), "timestamp_malformed"],
      ["a fraction of a second", headersWith(right, `${at}.5`), "timestamp_malformed"],
      ["a negative timestamp", headersWith(right, `-${at}`), "timestamp_malformed"],
      ["a timestamp ahead of ours", headersWith(right, String(at + 301)), "too_new"],
      ["another id", { ...headersWith(right), "webhook-id": `${id}x` }, "no_signature_matches"],
      ["another timestamp", headersWith(right, String(at + 1)), "no_signature_matches"],
      ["the right signature under another version", headersWith(right.replace("v1", "v1a")), "no_signature_matches"],
      ["no version", headersWith(right.slice(3)), "no_signature_matches"],
      ["a signature cut short", headersWith(right.slice(0, -2)), "no_signature_matches"],
      ["a version alone", headersWith("v1, v1 ,"), "no_signature_matches"],
    ]
  for (const [what, headers, reason] of refusals) {
    it.effect(`${what}: ${reason}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* verdict([secret], headers, body, at), reason)
      }),
    )
  }

  it.effect("any of several secrets will do, none will not", () =>
    Effect.gen(function* () {
      const other = `whsec_${base64(24)}`
      assert.isUndefined(yield* verdict([other, secret], headersWith(right), body, at))
      assert.strictEqual(yield* verdict([other], headersWith(right), body, at), "no_signature_matches")
      assert.strictEqual(yield* verdict([], headersWith(right), body, at), "no_signature_matches")
    }),
  )

  it.effect("tells the id and the time that were signed", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(at * 1000)
      assert.deepStrictEqual(yield* verify([secret], headersWith(right), body), { id, timestamp: at })
    }).pipe(Effect.provide(layerMac)),
  )
})

describe("secrets", () => {
  const problems: ReadonlyArray<readonly [what: string, text: string, problem: RegExp]> = [
    ["no prefix", base64(24), /begin with whsec_/],
    ["not base64", "whsec_not base64!", /base64/],
    ["nothing after the prefix", "whsec_", /24 to 64 bytes, found 0/],
    ["too short", `whsec_${base64(23)}`, /24 to 64 bytes, found 23/],
    ["too long", `whsec_${base64(65)}`, /24 to 64 bytes, found 65/],
  ]
  for (const [what, text, problem] of problems) {
    it.effect(`${what}: refused, and not repeated`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read(text))
        assert.match(error.message, problem)
        assert.isTrue(text === "whsec_" || !error.message.includes(text))
      }),
    )
  }

  it.effect("24 and 64 bytes are read, also from a line with its end", () =>
    Effect.forEach([`whsec_${base64(24)}`, `whsec_${base64(64)}\n`], read),
  )

  it.effect("a drawn one can be read, and is another each time", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* StandardWebhooks.drawSecret, yield* StandardWebhooks.drawSecret]
      yield* StandardWebhooks.readSecret(one)
      assert.notStrictEqual(Redacted.value(one), Redacted.value(two))
      assert.notInclude(JSON.stringify({ one }), "whsec_")
    }),
  )
})

describe("the reference library", () => {
  // The library reads the system's clock.
  const text = '{"type":"task_group.completed","data":{"text":"Grüße 👋"}}'

  it.live("accepts what we sign, each secret for itself", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* StandardWebhooks.drawSecret, yield* StandardWebhooks.drawSecret]
      const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const headers = yield* StandardWebhooks.sign(
        { id: "msg_1", timestamp, body: bytes(text) },
        yield* Effect.forEach([one, two], StandardWebhooks.readSecret),
      )
      for (const secret of [one, two]) {
        assert.deepStrictEqual(new Webhook(Redacted.value(secret)).verify(text, headers), JSON.parse(text))
      }
      const stranger = new Webhook(`whsec_${base64(32)}`)
      assert.throws(() => stranger.verify(text, headers), WebhookVerificationError)
    }).pipe(Effect.provide(layerMac)),
  )

  it.live("signs what we accept", () =>
    Effect.gen(function* () {
      const secret = yield* StandardWebhooks.drawSecret
      const secrets = [Redacted.value(secret)]
      const now = DateTime.toDate(yield* DateTime.now)
      const headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": new Webhook(Redacted.value(secret)).sign("msg_1", now, text),
      }
      yield* verify(secrets, headers, text)
      const refused = yield* Effect.flip(verify(secrets, headers, text.replace("Grüße", "Gruesse")))
      assert.strictEqual(refused._tag === "SignatureRefused" && refused.reason, "no_signature_matches")
    }).pipe(Effect.provide(layerMac)),
  )
})
