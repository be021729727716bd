/** Adapter: synchronous SHA-256 from `node:crypto`, because `effect/crypto` returns a promise for each hash. */
import { createHash, hash } from "node:crypto"

/** Hashes bytes, or text as UTF-8, to 64 lowercase hex digits. For short texts, `hex` is faster than `Hasher`. */
export const hex = (text: string | Uint8Array): string => hash("sha256", text, "hex")

/** The first 52 bits of the hash, which a number holds exactly. */
export const leading52Bits = (text: string): number => Number.parseInt(hex(text).slice(0, 13), 16)

export interface Hasher {
  readonly update: (bytes: Uint8Array) => void
  /** The hexadecimal hash of all chunks. Call it once, after the last chunk. */
  readonly digest: () => string
}

export const makeHasher = (): Hasher => {
  const hash = createHash("sha256")
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") }
}
