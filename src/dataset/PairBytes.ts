/** The texts of a pair as bytes that are there already, for those who only copy them. */
import type { PreferencePair } from "../domain/PreferencePair.ts"
import * as Attached from "../io/Attached.ts"

/** Where prompt, chosen and rejected are in `body`: JSON as `JSON.stringify` writes it, in UTF-8, with its quotes. */
export interface PairBytes {
  readonly body: Uint8Array
  readonly places: ReadonlyArray<readonly [start: number, end: number]>
}

/** `set` says that the texts of this very pair are these. A copy of the pair, whose texts may be others, has none. */
export const { of, set } = Attached.make<PairBytes, PreferencePair>()
