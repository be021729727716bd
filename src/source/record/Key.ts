/** Records are joined or grouped by a key. This file makes an item's id, or a key for `KeyNumbers`, from it. */
import * as IdLimit from "../../domain/IdLimit.ts"
import * as Sha256 from "../../node/Sha256.ts"

export const digest = (key: string): string => `sha256:${Sha256.hex(key)}`

export const toId = (key: string): string => (IdLimit.fits(key) ? key : digest(key))

const maxLength = 64

/** Replaces a long key by its digest. A digest has 71 characters; keys that stay unchanged have at most 64. */
export const toTableKey = (key: string): string => (key.length <= maxLength && !key.includes("\0") ? key : digest(key))
