/**
 * A key as the tables of a scratch database have it: short, whatever it is.
 */
import * as Sha256 from "../../node/Sha256.ts"

/** In UTF-16 units. */
const mostLength = 64

/**
 * Different for different keys: one that is longer, or has NUL, which some databases end a text at, is its SHA-256,
 * which with its name is longer than any that stays.
 */
export const short = (key: string): string =>
  key.length <= mostLength && !key.includes("\0") ? key : `sha256:${Sha256.hex(key)}`

/** On one line, cut. */
export const quote = (key: string): string => JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key)
