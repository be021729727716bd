/** Preference pairs that keep their completions as UTF-8 bytes. A completion is decoded each time it is read. */
import * as Attached from "./Attached.ts"
import * as JsonText from "./JsonText.ts"
import type { PreferencePair } from "./PreferencePair.ts"

export const texts: ReadonlyArray<string> = ["prompt", "chosen", "rejected"]

export const isText = (name: string): boolean => texts.includes(name)

/** The bytes of a pair, for code that only copies or measures the texts. */
export interface PairBytes {
  /** JSON as `JSON.stringify` writes it, in UTF-8, without lone surrogates. */
  readonly body: JsonText.Bytes
  readonly places: readonly [prompt: JsonText.Place, chosen: JsonText.Place, rejected: JsonText.Place]
}

const bytes = Attached.make<PairBytes, Partial<PreferencePair>>()

/** The bytes of a pair from `make`; undefined for any other pair, even a copy. */
export const of = (pair: PreferencePair): PairBytes | undefined => bytes.of(pair)

const text = (place: 1 | 2): PropertyDescriptor => ({
  get(this: PreferencePair) {
    const { body, places } = bytes.of(this)!
    return JsonText.decode(body, places[place])
  },
  enumerable: true,
  configurable: true,
})

/** All pairs share these getters, so that JavaScript engines optimize the pairs like objects of one class. */
const [chosen, rejected] = [text(1), text(2)]

export const make = (
  source: PairBytes,
  prompt: string,
  others: Omit<PreferencePair, "chosen" | "prompt" | "rejected">,
): PreferencePair => {
  const pair = { prompt }
  Object.defineProperty(pair, "chosen", chosen)
  Object.defineProperty(pair, "rejected", rejected)
  bytes.set(pair, source)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- with the two above, all members
  return Object.assign(pair, others) as unknown as PreferencePair
}
