/**
 * Secret values that are given to people and programs: session cookies, one-time codes, tokens.
 *
 * Guarantees: 256 random bits each; what is stored is the SHA-256 of the value. That is enough
 * for a value that can't be guessed (a password needs more: see `Password`), and a look-up by the
 * hash tells nothing by its timing: whoever sends a value has no say in what its hash is.
 */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import * as Sha256 from "../../node/Sha256.ts"

/** A new value: the prefix and 43 characters of `A-Z a-z 0-9 _ -`. */
export const draw = (prefix = ""): Effect.Effect<string> =>
  SecureRandom.SecureRandom.pipe(
    Effect.flatMap((random) => random.randomBytes(32)),
    Effect.map((bytes) => prefix + Base64Url.encode(bytes)),
    Effect.provide(SecureRandom.layerWebCrypto),
  )

export const hash = (value: string): string => Sha256.hex(value)
