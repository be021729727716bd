/** Adapter: synchronous SHA-256 from `node:crypto`, because `effect/crypto` returns a promise for each hash. */
import { createHash, hash } from "node:crypto"

export const hex = (text: string | Uint8Array): string => hash("sha256", text, "hex")

export const leading52Bits = (text: string): number => Number.parseInt(hex(text).slice(0, 13), 16)

export interface Hasher {
  readonly update: (bytes: Uint8Array) => void
  /** Call it once, after the last chunk. */
  readonly digest: () => string
}

export const makeHasher = (): Hasher => {
  const hash = createHash("sha256")
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") }
}
