/** Published signatures: each is accepted; each that is changed in one place is refused, by a message without secrets. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { SignatureSettings } from "../../src/api/HmacSignature.ts"
import { schemes } from "../../src/api/WebhookScheme.ts"
import * as Webhooks from "../../src/task/webhook/Webhooks.ts"
import { clockTest } from "../support/job.ts"
import { sharedData } from "../support/sharedData.ts"
import { otherSecret } from "../support/webhooks.ts"
import { published, type Published } from "../support/webhookVectors.ts"

const verify = Effect.fnUntraced(function* ({ body, headers, now = 0, scheme, secret }: Published) {
  yield* TestClock.setTime(now * 1000)
  const verify = yield* Webhooks.verifier({ scheme, secrets: [secret] })
  return yield* verify({ headers, body })
})

interface Forgery extends Published {
  readonly what: string
  readonly message: RegExp
}

/** The vector with one thing changed, for each thing that its scheme checks. */
const forgeriesOf = (vector: Published): ReadonlyArray<Forgery> => {
  const { header, id, prefix = "", timestamp }: SignatureSettings = schemes[vector.scheme]
  const { body, headers, now = 0, secret } = vector
  const value = headers[header] ?? ""
  const signed = (value: string) => ({ ...headers, [header]: value })
  // One digit of the signature is another.
  const forged = value.replace(
    /([0-9a-zA-Z+/])([0-9a-zA-Z+/]{20})/,
    (_, digit, rest) => (digit === "1" ? "2" : "1") + rest,
  )
  const mismatch = /matches none of the configured secrets$/
  const base = [
    { ...vector, what: "another body", body: `${body.slice(0, -1)}?`, message: mismatch },
    { ...vector, what: "another secret", secret: secret.startsWith("whsec_") ? otherSecret : `${secret}x`, message: mismatch },
    { ...vector, what: "another signature", headers: signed(forged), message: mismatch },
    { ...vector, what: "two wrong signatures", headers: signed(`${forged}, ${forged}`), message: mismatch },
    { ...vector, what: "a short signature", headers: signed(value.replace(/[0-9a-zA-Z+/]{20}(?=[=}]*(,v0|$))/, "")), message: /has no signature: expected .*(64 hex digits|base64 of 32 bytes)$/ },
    ...Object.keys(headers).map((name) => ({ ...vector, what: `no ${name}`, headers: { ...headers, [name]: "" }, message: new RegExp(`it lacks ${name}, which the scheme ${vector.scheme} requires`) })),
  ] // prettier-ignore
  const prefixed = prefix === "" ? [] : [
    { ...vector, what: "another prefix", headers: signed(value.replaceAll(prefix, `x${prefix}`)), message: new RegExp(`its ${header} has no signature: expected ${prefix} and `) },
  ] // prettier-ignore
  const written = /\b\d{10,13}\b/.exec(JSON.stringify(headers))?.[0] ?? ""
  const timed = timestamp === undefined ? [] : [
    { ...vector, what: "a time 301 seconds ago", now: now + 301, message: /it is older than 5m by this machine's clock$/ },
    { ...vector, what: "a time in 301 seconds", now: now - 301, message: /its timestamp is more than 5m in the future by/ },
    { ...vector, what: "another time", headers: JSON.parse(JSON.stringify(headers).replace(written, String(Number(written) + 1))) as Published["headers"], message: mismatch },
    { ...vector, what: "a time that is a word", headers: JSON.parse(JSON.stringify(headers).replace(written, "now")) as Published["headers"], message: /its timestamp is not a number of (milli)?seconds since 1970$/ },
  ] // prettier-ignore
  const named =
    id === undefined || headers[id] === undefined
      ? []
      : [{ ...vector, what: "another id", headers: { ...headers, [id]: "other" }, message: mismatch }]
  return [...base, ...prefixed, ...timed, ...named]
}

describe("published vectors", () => {
  it("are of at least six services", () => assert.isAtLeast(new Set(published.map(({ scheme }) => scheme)).size, 6))

  for (const [i, vector] of published.entries()) {
    clockTest(`${i}, ${vector.scheme}, ${vector.source}: accepted, also beside a wrong signature`, function* () {
      const { timestamp } = yield* verify(vector)
      assert.strictEqual(timestamp, vector.now)
      const { header } = schemes[vector.scheme]
      const wrong = forgeriesOf(vector).find(({ what }) => what === "another signature")!.headers[header]
      const both = { ...vector.headers, [header]: `${wrong}, ${vector.headers[header]}` }
      assert.strictEqual((yield* verify({ ...vector, headers: both })).timestamp, vector.now)
    })

    for (const { message, what, ...forgery } of forgeriesOf(vector)) {
      clockTest(`${i}, ${vector.scheme}: refused for ${what}`, function* () {
        const refused = yield* Effect.flip(verify(forgery))
        assert.strictEqual(refused._tag, "SignatureRefused")
        assert.match(refused.message, message)
        for (const secret of [vector.secret, forgery.secret]) {
          if (secret !== "secret") assert.notInclude(refused.message, secret)
        }
      })
    }
  }

  const file = sharedData("../spec/webhook-vectors.json")
  it.skipIf(file === undefined)("of the shared file are treated as it says", () =>
    Effect.gen(function* () {
      type Case = Published & { readonly valid: boolean }
      const { cases } = JSON.parse(readFileSync(file!, "utf8")) as { readonly cases: ReadonlyArray<Case> }
      assert.isNotEmpty(cases)
      for (const vector of cases) {
        const accepted = yield* Effect.isSuccess(verify(vector))
        assert.strictEqual(accepted, vector.valid, vector.source)
      }
    }).pipe(Effect.provide(TestClock.layer()), Effect.runPromise),
  )
})
