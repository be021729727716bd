/** Random secrets of 256 bits. Their SHA-256 is stored, which is enough for values that cannot be guessed. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import * as Sha256 from "../../node/Sha256.ts"

export const draw = (prefix = ""): Effect.Effect<string> =>
  SecureRandom.SecureRandom.pipe(
    Effect.flatMap((random) => random.randomBytes(32)),
    Effect.map((bytes) => prefix + Base64Url.encode(bytes)),
    Effect.provide(SecureRandom.layerWebCrypto),
  )

export const hash = (value: string): string => Sha256.hex(value)
