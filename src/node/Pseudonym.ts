/** Adapter: pseudonyms by HMAC-SHA-256. Without the key, nobody can test whether a pseudonym belongs to a name. */
import { createHmac, randomBytes } from "node:crypto"
import { Effect } from "effect"

export const drawKey = Effect.sync(() => randomBytes(32).toString("hex"))

/** 48 bits: two of 10,000 names get the same pseudonym with a probability of 2 in 10 million. */
const digits = 12

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
