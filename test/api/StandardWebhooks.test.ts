import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Redacted } from "effect"
import { liveOver } from "../support/effectTest.ts"
import { clockTest } from "../support/job.ts"
import { Webhook, WebhookVerificationError } from "standardwebhooks"
import * as HmacSignature from "../../src/api/HmacSignature.ts"
import * as WebhookScheme from "../../src/api/WebhookScheme.ts"
import * as WebhookSecret from "../../src/api/WebhookSecret.ts"
import { layerMac } from "../../src/api/WebhookSignature.ts"

const live = liveOver(layerMac)
const bytes = (text: string) => new TextEncoder().encode(text)
const base64 = (length: number, fill = 7) => Buffer.alloc(length, fill).toString("base64")
const read = (secret: WebhookSecret.SecretInput) => WebhookSecret.read(secret, "whsec")

const verify = Effect.fnUntraced(function* (
  secrets: readonly [string],
  headers: Record<string, string | undefined>,
  text: string,
) {
  const scheme = yield* WebhookScheme.make({ secrets })
  const check = yield* scheme.open({ url: "/webhook", headers })
  return yield* check(bytes(text))
})

describe("secrets", () => {
  for (const [text, problem] of [
    [base64(24), /begin with whsec_/],
    ["whsec_not base64!", /base64/],
    [`whsec_${base64(15)}`, /16 to 64 bytes, found 15/],
    [`whsec_${base64(65)}`, /16 to 64 bytes, found 65/],
  ] as const) {
    clockTest(`${text}: refused, and not repeated`, function* () {
      const error = yield* Effect.flip(read(text))
      assert.match(error.message, problem)
      assert.notInclude(error.message, text)
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

  live("accepts what we sign, each secret for itself", function* () {
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
  })

  live("signs what we accept", function* () {
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
  })
})
