/** The texts of a pair as bytes that are there already, for those who only copy or measure them. */
import * as Attached from "../io/Attached.ts"
import type { Place } from "../io/JsonText.ts"
import type { PreferencePair } from "./PreferencePair.ts"

export interface PairBytes {
  /** JSON as `JSON.stringify` writes it, in UTF-8, without lone surrogates. */
  readonly body: Uint8Array
  /** Of prompt, chosen and rejected. */
  readonly places: readonly [prompt: Place, chosen: Place, rejected: Place]
}

/** `set` says that the texts of this very pair are these. A copy of the pair, whose texts may be others, has none. */
export const { of, set } = Attached.make<PairBytes, PreferencePair>()
