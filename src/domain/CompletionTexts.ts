/** Completions that become strings when they are read. The list keeps the bytes of its item in memory. */
import * as Attached from "./Attached.ts"
import * as JsonText from "./JsonText.ts"
import { charactersOf, isBlank } from "./Text.ts"

export interface Source {
  /** JSON as `JSON.stringify` writes it, in UTF-8, without lone surrogates. */
  readonly body: JsonText.Bytes
  readonly prompt: { readonly text: string; readonly place: JsonText.Place }
  /** The byte range of each completion in `body`, in the order of the list. */
  readonly places: ReadonlyArray<JsonText.Place>
}

interface Texts extends Source {
  readonly decoded: Array<string | undefined>
  readonly characters: Array<number | undefined>
  first?: ReadonlyArray<number>
}

const texts = Attached.make<Texts, ReadonlyArray<string>>()

const textAt = (list: ReadonlyArray<string>, index: number): string => {
  const { body, decoded, places } = texts.of(list)!
  return (decoded[index] ??= JsonText.decode(body, places[index]!))
}

const elements: Array<PropertyDescriptor> = []

const elementAt = (index: number): PropertyDescriptor =>
  (elements[index] ??= {
    get(this: ReadonlyArray<string>) {
      return textAt(this, index)
    },
    enumerable: true,
    configurable: true,
  })

export const make = (source: Source): ReadonlyArray<string> => {
  const list: Array<string> = []
  source.places.forEach((_, index) => Object.defineProperty(list, index, elementAt(index)))
  texts.set(list, { ...source, decoded: [], characters: [] })
  return list
}

/** Returns the source of a list from `make`, and undefined for any other list. */
export const of = (completions: ReadonlyArray<string>): Source | undefined => texts.of(completions)

/** For each completion, the index of the first one with the same text. */
export const firstOfText = (completions: ReadonlyArray<string>): ReadonlyArray<number> => {
  const source = texts.of(completions)
  return source === undefined
    ? completions.map((text) => completions.indexOf(text))
    : (source.first ??= source.places.map((place) =>
        source.places.findIndex((other) => other === place || JsonText.areEqual(source.body, other, place)),
      ))
}

export const countDifferent = (completions: ReadonlyArray<string>): number => new Set(firstOfText(completions)).size

export const charactersAt = (completions: ReadonlyArray<string>, index: number): number => {
  const source = texts.of(completions)
  return source === undefined
    ? charactersOf(completions[index]!)
    : (source.characters[index] ??= JsonText.characters(source.body, source.places[index]!))
}

export const isBlankAt = (completions: ReadonlyArray<string>, index: number): boolean => {
  const source = texts.of(completions)
  return (
    (source === undefined || JsonText.mayBeBlank(source.body, source.places[index]!)) && isBlank(completions[index]!)
  )
}
