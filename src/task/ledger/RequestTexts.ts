/**
 * Where the texts of an item are in its request, for those who copy them as bytes rather than encode them again.
 *
 * Guarantees: at each place is `JSON.stringify` of the text, in UTF-8.
 */
import * as JsonText from "../../io/JsonText.ts"
import * as CompletionOrder from "./CompletionOrder.ts"

export type Place = readonly [start: number, end: number]

export interface RequestTexts {
  readonly body: Uint8Array
  readonly prompt: Place
  /** In the order of the completions. */
  readonly completions: ReadonlyArray<Place>
}

interface Source {
  readonly body: Buffer
  /** Where the prompt's text begins, of which the completions follow. */
  readonly start: number
  /** In which order the completions were sent. */
  readonly order?: CompletionOrder.CompletionOrder
}

/** By the list of completions, which everything that is made of the item has. */
const sources = new WeakMap<ReadonlyArray<string>, Source>()

export const set = (completions: ReadonlyArray<string>, source: Source): void => void sources.set(completions, source)

/** The same completions in the order of the input. */
export const copy = (from: ReadonlyArray<string>, to: ReadonlyArray<string>, order: ReadonlyArray<number>): void => {
  const source = sources.get(from)
  if (source !== undefined) sources.set(to, { ...source, order })
}

const middle = ',"completions":['.length

export const of = (completions: ReadonlyArray<string>): RequestTexts | undefined => {
  const source = sources.get(completions)
  if (source === undefined) return undefined
  const { body, order, start } = source
  const prompt: Place = [start, JsonText.endOf(body, start)]
  let at = prompt[1] + middle
  const sent = completions.map((): Place => {
    const place: Place = [at, JsonText.endOf(body, at)]
    at = place[1] + 1
    return place
  })
  return { body, prompt, completions: order === undefined ? sent : CompletionOrder.undo(sent, order) }
}
