/** Turns the key by which records are joined or grouped into an item's id, or into a table key for `KeyNumbers`. */
import * as IdLimit from "../../domain/IdLimit.ts"
import * as Sha256 from "../../node/Sha256.ts"

export const digest = (key: string): string => `sha256:${Sha256.hex(key)}`

export const toId = (key: string): string => (IdLimit.fits(key) ? key : digest(key))

const maxLength = 64

/** Replaces a long key by its digest. The digest is longer than all keys that stay, so it equals none of them. */
export const toTableKey = (key: string): string => (key.length <= maxLength && !key.includes("\0") ? key : digest(key))
