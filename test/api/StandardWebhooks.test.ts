import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { clockTest } from "../support/job.ts"
import { Webhook, WebhookVerificationError } from "standardwebhooks"
import * as HmacSignature from "../../src/api/HmacSignature.ts"
import * as WebhookScheme from "../../src/api/WebhookScheme.ts"
import * as WebhookSecret from "../../src/api/WebhookSecret.ts"
import { layerMac } from "../../src/api/WebhookSignature.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const base64 = (length: number, fill = 7) => Buffer.alloc(length, fill).toString("base64")
const read = (secret: WebhookSecret.SecretInput) => WebhookSecret.read(secret, "whsec")

const id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const body = '{"test": 2432232314}'
const right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
const at = 1614265330

const verify = Effect.fnUntraced(function* (
  secrets: readonly [string],
  headers: Record<string, string | undefined>,
  text: string,
) {
  const scheme = yield* WebhookScheme.make({ secrets })
  const check = yield* scheme.open({ url: "/webhook", headers })
  return yield* check(bytes(text))
})

it.effect("verify tells the id and the time that were signed", () =>
  Effect.gen(function* () {
    const headers = { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": right }
    yield* TestClock.setTime(at * 1000)
    assert.deepStrictEqual(yield* verify([secret], headers, body), { id, timestamp: at })
  }).pipe(Effect.provide(layerMac)),
)

describe("secrets", () => {
  const problems: ReadonlyArray<readonly [what: string, text: string, problem: RegExp]> = [
    ["no prefix", base64(24), /begin with whsec_/],
    ["not base64", "whsec_not base64!", /base64/],
    ["nothing after the prefix", "whsec_", /16 to 64 bytes, found 0/],
    ["too short", `whsec_${base64(15)}`, /16 to 64 bytes, found 15/],
    ["too long", `whsec_${base64(65)}`, /16 to 64 bytes, found 65/],
  ]
  for (const [what, text, problem] of problems) {
    clockTest(`${what}: refused, and not repeated`, function* () {
      const error = yield* Effect.flip(read(text))
      assert.match(error.message, problem)
      assert.isTrue(text === "whsec_" || !error.message.includes(text))
    })
  }

  it.effect("16 and 64 bytes are read, also from a line with its end", () =>
    Effect.forEach([`whsec_${base64(16)}`, `whsec_${base64(64)}\n`], read),
  )

  clockTest("a drawn one can be read, and is another each time", function* () {
    const [one, two] = [yield* WebhookSecret.generate, yield* WebhookSecret.generate]
    yield* read(one)
    assert.notStrictEqual(Redacted.value(one), Redacted.value(two))
    assert.notInclude(JSON.stringify({ one }), "whsec_")
  })
})

describe("the reference library", () => {
  // The library reads the system's clock.
  const text = '{"type":"task_group.completed","data":{"text":"Grüße 👋"}}'

  it.live("accepts what we sign, each secret for itself", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* WebhookSecret.generate, yield* WebhookSecret.generate]
      const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const headers = yield* HmacSignature.sign(
        WebhookScheme.schemes["standard-webhooks"],
        { id: "msg_1", timestamp, body: bytes(text) },
        yield* Effect.forEach([one, two], read),
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
      const secret = yield* WebhookSecret.generate
      const secrets = [Redacted.value(secret)] as const
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
