/**
 * A key as the tables of a scratch database have it: short, whatever it is.
 */
import * as Sha256 from "../../node/Sha256.ts"

/** In UTF-16 units. */
export const mostLength = 64

/** Different for different keys: a longer one is its SHA-256, which with its name is longer than any that stays. */
export const short = (key: string): string => (key.length <= mostLength ? key : `sha256:${Sha256.hex(key)}`)

/** As reasons name it, cut; nothing where the short one tells it. */
export const shown = (key: string): string | null => (key.length <= mostLength ? null : quote(key))

/** On one line, cut. */
export const quote = (key: string): string => JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key)
