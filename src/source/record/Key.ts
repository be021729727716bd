/** Shortens a key of a join or group to an item's id, or to a column of a scratch file. */
import * as IdLimit from "../../domain/IdLimit.ts"
import * as Sha256 from "../../node/Sha256.ts"

/** What represents a key that can't represent itself. */
export const digest = (key: string): string => `sha256:${Sha256.hex(key)}`

/** The id of the item whose key it is. */
export const toId = (key: string): string => (IdLimit.fits(key) ? key : digest(key))

/** In UTF-16 units. */
const maxLength = 64

/**
 * As a table of a scratch file has it: different for different keys; one that is longer, or has NUL, which some
 * databases end a text at, is its SHA-256, which with its name is longer than any that stays.
 */
export const short = (key: string): string => (key.length <= maxLength && !key.includes("\0") ? key : digest(key))
