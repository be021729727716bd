/**
 * Where the texts of an item are in its request, for those who copy them as bytes rather than encode them again.
 *
 * Guarantees: at each place is `JSON.stringify` of the text, in UTF-8.
 */
import * as Attached from "../../io/Attached.ts"
import * as CompletionOrder from "./CompletionOrder.ts"

export type Place = readonly [start: number, end: number]

export interface RequestTexts {
  readonly body: Uint8Array
  readonly prompt: Place
  /** In the order of the completions. */
  readonly completions: ReadonlyArray<Place>
}

interface Source {
  readonly body: Uint8Array
  /** Of the prompt, then of the completions as they were sent. */
  readonly places: ReadonlyArray<Place>
  /** In which order the completions were sent. */
  readonly order?: CompletionOrder.CompletionOrder
}

/** By the list of completions, which everything that is made of the item has. */
const sources = Attached.make<Source, ReadonlyArray<string>>()

/** Once for each list. */
export const { set } = sources

/** The same completions in the order of the input. */
export const copy = (from: ReadonlyArray<string>, to: ReadonlyArray<string>, order: ReadonlyArray<number>): void => {
  const source = sources.of(from)
  if (source !== undefined) sources.set(to, { ...source, order })
}

export const of = (completions: ReadonlyArray<string>): RequestTexts | undefined => {
  const source = sources.of(completions)
  if (source === undefined) return undefined
  const { body, order } = source
  const [prompt, ...sent] = source.places
  return { body, prompt: prompt!, completions: order === undefined ? sent : CompletionOrder.undo(sent, order) }
}
