/**
 * Adapter: SHA-256 from `node:crypto`, synchronous, for what is hashed item by item:
 * `effect/crypto` has a promise for each.
 */
import { createHash, hash } from "node:crypto"

/**
 * 64 lower-case hexadecimal digits. A string is hashed as UTF-8. For short texts half
 * again as fast as a hash object for each.
 */
export const hex = (text: string | Uint8Array): string => hash("sha256", text, "hex")

/** A digest over bytes that come piece by piece. */
export interface Running {
  readonly update: (bytes: Uint8Array) => void
  /** The digest of all pieces, hexadecimal. Ends the digest: call it once. */
  readonly digest: () => string
}

export const running = (): Running => {
  const hash = createHash("sha256")
  return {
    update: (bytes) => void hash.update(bytes),
    digest: () => hash.digest("hex"),
  }
}

/** The same as 32 bytes. */
export const bytes = (text: string): Uint8Array => hash("sha256", text, "buffer")
