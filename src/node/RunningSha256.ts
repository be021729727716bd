/**
 * SHA-256 over bytes that come piece by piece, from `node:crypto`
 * (`effect/crypto` digests only what is whole in memory).
 */
import { createHash } from "node:crypto"

export interface RunningSha256 {
  readonly update: (bytes: Uint8Array) => void
  /** The digest of all pieces, hexadecimal. Ends the digest: call it once. */
  readonly digest: () => string
}

export const make = (): RunningSha256 => {
  const hash = createHash("sha256")
  return {
    update: (bytes) => void hash.update(bytes),
    digest: () => hash.digest("hex"),
  }
}
