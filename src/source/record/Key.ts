/** Shortens a key of a join or group to an item's id, or to a key for `KeyNumbers`. */
import * as IdLimit from "../../domain/IdLimit.ts"
import * as Sha256 from "../../node/Sha256.ts"

export const digest = (key: string): string => `sha256:${Sha256.hex(key)}`

export const toId = (key: string): string => (IdLimit.fits(key) ? key : digest(key))

const maxLength = 64

/** A digest is longer than `maxLength`, so it cannot equal a short key. */
export const toTableKey = (key: string): string => (key.length <= maxLength && !key.includes("\0") ? key : digest(key))
