/**
 * Adapter: `node:crypto`, for pseudonyms. A pseudonym is a keyed hash (HMAC-SHA-256), so only somebody with the key can
 * test whether it belongs to a name.
 */
import { createHmac, randomBytes } from "node:crypto"
import { Effect } from "effect"

/** A random key of 64 hexadecimal digits. */
export const drawKey = Effect.sync(() => randomBytes(32).toString("hex"))

/**
 * Hexadecimal digits of a pseudonym (48 bits). The probability that two of 10,000 names have the same pseudonym is 2 in
 * 10 million.
 */
const digits = 12

/** Makes pseudonyms with a key, such as `expert-3f9a1c2b47d0`. The same name always gets the same pseudonym. */
export const make = (key: string): ((name: string) => string) => {
  const known = new Map<string, string>()
  return (name) => {
    const pseudonym =
      known.get(name) ??
      `expert-${createHmac("sha256", Buffer.from(key, "hex")).update(name).digest("hex").slice(0, digits)}`
    known.set(name, pseudonym)
    return pseudonym
  }
}

export const isOne = (text: string): boolean => /^expert-[0-9a-f]{12}$/.test(text)
