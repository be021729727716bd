/**
 * Finds texts that contain a prompt of an evaluation: shared 8-grams cover more than half of the prompt's tokens
 * (Lambert et al., 2024, "Tülu 3", 3.2). A prompt of 5 to 7 tokens must occur completely in the text. A prompt of 1 to
 * 4 tokens must be the complete text. Paraphrases and translations are not found.
 */
import * as NormalizedPrompt from "./NormalizedPrompt.ts"
import * as Tokens from "./Tokens.ts"

export interface Overlap {
  /** Zero-based ordinal of the prompt; for equal prompts, the ordinal of the first. */
  readonly promptOrdinal: number
  /** The share of the prompt's tokens that the shared n-grams cover: above 0.5, and at most 1. */
  readonly coverage: number
}

const maxGram = 8
const minTokensToOccur = 5
const minCoverage = 0.5

interface Evaluation {
  readonly ordinal: number
  readonly tokens: number
  readonly grams: ReadonlyArray<number>
}

export const make = (evaluationPrompts: Iterable<string>) => {
  const evaluations = evaluationsOf(evaluationPrompts)
  const lengths = new Set(evaluations.map(({ tokens }) => Math.min(tokens, maxGram)))
  const byGram = indexOf(evaluations)

  return {
    find: (text: string): Overlap | undefined => {
      if (evaluations.length === 0) return undefined
      const tokens = tokensOf(text)
      const inText = new Set<number>()
      for (const n of lengths) {
        if (n < minTokensToOccur && tokens.length !== n) continue
        for (const gram of gramsOf(tokens, n)) if (byGram.has(gram)) inText.add(gram)
      }
      const candidates = new Set([...inText].flatMap((gram) => byGram.get(gram) ?? []))
      let best: Overlap | undefined
      for (const evaluation of candidates) {
        const coverage = coveredBy(evaluation, inText) / evaluation.tokens
        const isBetter =
          best === undefined ||
          coverage > best.coverage ||
          (coverage === best.coverage && evaluation.ordinal < best.promptOrdinal)
        if (coverage > minCoverage && isBetter) best = { promptOrdinal: evaluation.ordinal, coverage }
      }
      return best
    },
  }
}

const evaluationsOf = (prompts: Iterable<string>): ReadonlyArray<Evaluation> => {
  const evaluations = new Map<string, Evaluation>()
  let ordinal = 0
  for (const prompt of prompts) {
    const tokens = tokensOf(prompt)
    const grams = tokens.length === 0 ? [] : gramsOf(tokens, Math.min(tokens.length, maxGram))
    const key = grams.join()
    if (grams.length > 0 && !evaluations.has(key)) evaluations.set(key, { ordinal, tokens: tokens.length, grams })
    ordinal++
  }
  return [...evaluations.values()]
}

// To save time, leaves out each prompt's most frequent n-grams. Together, they cover at most half of the prompt. A
// match covers more than half, so a match always contains an n-gram that is not left out.
const indexOf = (evaluations: ReadonlyArray<Evaluation>): ReadonlyMap<number, ReadonlyArray<Evaluation>> => {
  const frequency = new Map<number, number>()
  const frequencyOf = (gram: number) => frequency.get(gram) ?? 0
  for (const { grams } of evaluations) for (const gram of new Set(grams)) frequency.set(gram, frequencyOf(gram) + 1)
  const byGram = new Map(Array.from(frequency.keys(), (gram): [number, Array<Evaluation>] => [gram, []]))
  for (const evaluation of evaluations) {
    const frequentFirst = [...new Set(evaluation.grams)].toSorted((a, b) => frequencyOf(b) - frequencyOf(a))
    const canLeaveOut = (count: number) =>
      coveredBy(evaluation, new Set(frequentFirst.slice(0, count))) <= minCoverage * evaluation.tokens
    let low = 0
    let high = frequentFirst.filter((gram) => frequencyOf(gram) > 1).length
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (canLeaveOut(middle)) low = middle
      else high = middle - 1
    }
    for (const gram of frequentFirst.slice(low)) byGram.get(gram)!.push(evaluation)
  }
  return byGram
}

const coveredBy = ({ grams, tokens }: Evaluation, inText: ReadonlySet<number>): number => {
  const n = Math.min(tokens, maxGram)
  let covered = 0
  let end = 0
  for (const [start, gram] of grams.entries()) {
    if (!inText.has(gram)) continue
    covered += start + n - Math.max(start, end)
    end = start + n
  }
  return covered
}

type TokenHash = readonly [a: number, b: number]

const tokensOf = (text: string): ReadonlyArray<TokenHash> => {
  const tokens: Array<TokenHash> = []
  Tokens.forEach(NormalizedPrompt.ofText(text), (a, b) => void tokens.push([a, b]))
  return tokens
}

const gramsOf = (tokens: ReadonlyArray<TokenHash>, n: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, tokens.length - n + 1) }, (_, start) => {
    // The hash starts with the length, so that sequences of different lengths have different hashes.
    let x = n
    let y = 0
    for (let i = start; i < start + n; i++) {
      x = (Math.imul(x, 0x2c9277b5) + tokens[i]![0]) | 0
      y = (Math.imul(y, 0x5851f42d) + tokens[i]![1]) | 0
    }
    return (x >>> 0) * 2 ** 21 + (y >>> 11)
  })
