/** Finds the words in which two texts differ. The parts of a text, joined, are the whole text. */
import { diffArrays } from "diff"

export interface Part {
  readonly text: string
  readonly isUnmatched: boolean
}

export interface Difference {
  readonly left: ReadonlyArray<Part>
  readonly right: ReadonlyArray<Part>
  /** The share of words that both texts have in common, from 0 to 1. */
  readonly same: number
}

export const maxComparedChars = 120_000

/** Returns null if the texts are too long or too different. */
export const difference = (left: string, right: string): Difference | null => {
  if (left.length + right.length > maxComparedChars) return null
  const changes = diffArrays(words(left), words(right), { maxEditLength: 20_000, timeout: 2_000 })
  if (changes === undefined) return null
  const sides: { readonly left: Array<Part>; readonly right: Array<Part> } = { left: [], right: [] }
  let same = 0
  let all = 0
  for (const { value, added, removed } of changes) {
    const text = value.join("")
    const count = value.filter((word) => /\S/.test(word)).length
    if (!added) append(sides.left, text, removed)
    if (!removed) append(sides.right, text, added)
    if (!added && !removed) same += 2 * count
    all += added || removed ? count : 2 * count
  }
  return { left: joined(sides.left), right: joined(sides.right), same: all === 0 ? 1 : same / all }
}

/** Also marks the spaces between two marked parts, so that these parts look like one part. */
const joined = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const result: Array<Part> = []
  for (const [index, part] of parts.entries()) {
    const between =
      /^[ \t]+$/.test(part.text) && result.at(-1)?.isUnmatched === true && parts[index + 1]?.isUnmatched === true
    append(result, part.text, part.isUnmatched || between)
  }
  return result
}

const append = (parts: Array<Part>, text: string, isUnmatched: boolean) => {
  const last = parts.at(-1)
  if (last?.isUnmatched === isUnmatched) parts[parts.length - 1] = { text: last.text + text, isUnmatched }
  else parts.push({ text, isUnmatched })
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" })

const words = (text: string): Array<string> => Array.from(segmenter.segment(text), ({ segment }) => segment)
