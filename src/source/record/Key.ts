/** Shortens a key of a join or group to an item's id, or to a column of a scratch file. */
import * as IdLimit from "../../domain/IdLimit.ts"
import * as Sha256 from "../../node/Sha256.ts"

/** The replacement of a key that is too long or has NUL. */
export const digest = (key: string): string => `sha256:${Sha256.hex(key)}`

export const toId = (key: string): string => (IdLimit.fits(key) ? key : digest(key))

const maxLength = 64

/**
 * The key in a scratch file's table. Different keys stay different. A key that is long or has NUL, at which some
 * databases end a text, becomes its SHA-256, which is longer than any unchanged key.
 */
export const toTableKey = (key: string): string => (key.length <= maxLength && !key.includes("\0") ? key : digest(key))
