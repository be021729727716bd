/**
 * Adapter: SHA-256 of what is whole in memory, from `node:crypto`, in one call:
 * for short texts half again as fast as a hash object for each.
 */
import { hash } from "node:crypto"

/** 64 lower-case hexadecimal digits. A string is hashed as UTF-8. */
export const hex = (text: string | Uint8Array): string => hash("sha256", text, "hex")
