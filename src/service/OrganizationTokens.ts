/**
 * Which organization a token belongs to.
 *
 * Guarantees: tokens are compared by their hashes, in a time that doesn't depend
 * on how much of a wrong token is right; they appear in no answer and no log.
 */
import { Effect, Layer, Redacted } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { Organization, OrganizationToken } from "../api/AnnotationApi.ts"
import { Unauthorized } from "../api/Problems.ts"
import * as Sha256 from "../node/Sha256.ts"

const hash = (token: Redacted.Redacted<string>): Uint8Array =>
  new TextEncoder().encode(Sha256.hex(Redacted.value(token)))

/** A new token: 256 bits, hexadecimal. */
export const draw = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  return Redacted.make(Hex.encode(yield* random.randomBytes(32)), { label: "organization token" })
}).pipe(Effect.provide(SecureRandom.layerWebCrypto))

/** One organization, with one token. */
export const layer = (token: Redacted.Redacted<string>): Layer.Layer<OrganizationToken> => {
  const expected = hash(token)
  const middleware = OrganizationToken.of({
    bearer: Effect.fnUntraced(function* (handled, { credential }) {
      const given = Redacted.value(credential) !== ""
      if (!given || !Mac.timingSafeEqual(hash(credential), expected)) {
        const detail = given
          ? "The organization token is not known here."
          : "Send the header Authorization: Bearer <ORGANIZATION_TOKEN>."
        return yield* new Unauthorized({ detail })
      }
      return yield* Effect.provideService(handled, Organization, { name: "default" })
    }),
  })
  return Layer.succeed(OrganizationToken, middleware)
}
