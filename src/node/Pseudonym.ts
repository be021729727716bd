/**
 * Adapter: pseudonyms by HMAC-SHA-256 from `node:crypto`. Without the key, nobody can test whether a pseudonym belongs
 * to a name.
 */
import { createHmac, randomBytes } from "node:crypto"
import { Effect } from "effect"

export const drawKey = Effect.sync(() => randomBytes(32).toString("hex"))

/** 12 digits are 48 bits: the probability that two of 10,000 names get the same pseudonym is 2 in 10 million. */
const digits = 12

/** Makes pseudonyms with a key, such as `expert-3f9a1c2b47d0`. The same name always gets the same pseudonym. */
export const make = (key: string): ((name: string) => string) => {
  const pseudonyms = new Map<string, string>()
  return (name) => {
    const pseudonym =
      pseudonyms.get(name) ??
      `expert-${createHmac("sha256", Buffer.from(key, "hex")).update(name).digest("hex").slice(0, digits)}`
    pseudonyms.set(name, pseudonym)
    return pseudonym
  }
}

export const isPseudonym = (text: string): boolean => /^expert-[0-9a-f]{12}$/.test(text)
