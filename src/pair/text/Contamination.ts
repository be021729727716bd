/**
 * Finds texts that give away a prompt of an evaluation: what is trained on should not hold what
 * is tested on.
 *
 * An evaluation prompt leaks where more than half of its tokens stand in 8-grams that the text
 * has, too: the n-gram matching of Lambert et al., 2024, "Tülu 3: Pushing frontiers in open
 * language model post-training", 3.2, "Prompt decontamination", whose tokens are spaCy's. Here
 * tokens are those of `Tokens`, of texts in normal form, so that case, spacing and punctuation
 * hide no leak.
 *
 * An evaluation prompt of 5 to 7 tokens has no 8-gram: it leaks where it occurs as a whole. One of
 * up to 4 tokens, which may well occur by chance, leaks where it is all that the text has. One
 * without tokens never leaks.
 *
 * Guarantees: of evaluation prompts that are long enough every one with a coverage above the
 * limit is found, and no other, but for collisions of 64-bit hashes. Not found: a prompt in other
 * words, or in another language.
 */
import * as GramTable from "./GramTable.ts"
import * as NormalisedPrompt from "./NormalizedPrompt.ts"
import * as Tokens from "./Tokens.ts"

export interface Leak {
  /** The zero-based ordinal of the evaluation prompt; of equal ones the first. */
  readonly evaluation: number
  /** The share of its tokens that the text has in common n-grams: above 0.5, at most 1. */
  readonly coverage: number
}

export interface Leaks {
  /** The evaluation prompt that the text, a prompt or a completion, covers most; the first of several. */
  readonly find: (text: string) => Leak | undefined
}

const longest = 8
const shortestToOccur = 5
const mostCoverage = 0.5

interface Evaluation {
  readonly ordinal: number
  readonly tokens: number
  /** The n-gram that begins at each token. */
  readonly grams: Int32Array
}

export const make = (evaluationPrompts: Iterable<string>): Leaks => {
  const table = GramTable.make()
  const evaluations = evaluationsOf(evaluationPrompts, table)
  const lengths = [...new Set(evaluations.map(({ tokens }) => Math.min(tokens, longest)))]
  const asking = askingOf(evaluations, table.size())
  const seenGram = new Uint32Array(table.size())
  const seenEvaluation = new Uint32Array(evaluations.length)
  let text = 0

  const find = (source: string): Leak | undefined => {
    if (evaluations.length === 0) return undefined
    text++
    const found: Array<number> = []
    const tokens = tokensOf(NormalisedPrompt.ofText(source))
    for (const n of lengths) {
      if (n < shortestToOccur && tokens.count !== n) continue
      forEachGram(tokens, n, (a, b) => {
        const gram = table.find(a, b)
        if (gram !== -1 && seenGram[gram] !== text) {
          seenGram[gram] = text
          found.push(gram)
        }
      })
    }
    let best: Leak | undefined
    for (const gram of found) {
      for (let i = asking.starts[gram]!; i < asking.starts[gram + 1]!; i++) {
        const index = asking.evaluations[i]!
        if (seenEvaluation[index] === text) continue
        seenEvaluation[index] = text
        const evaluation = evaluations[index]!
        const coverage = coveredBy(evaluation, (gram) => seenGram[gram] === text) / evaluation.tokens
        const isBetter =
          best === undefined ||
          coverage > best.coverage ||
          (coverage === best.coverage && evaluation.ordinal < best.evaluation)
        if (coverage > mostCoverage && isBetter) best = { evaluation: evaluation.ordinal, coverage }
      }
    }
    return best
  }
  return { find }
}

/** Those that have tokens, each sequence of tokens once. */
const evaluationsOf = (prompts: Iterable<string>, table: GramTable.GramTable): ReadonlyArray<Evaluation> => {
  const evaluations: Array<Evaluation> = []
  const whole = new Set<string>()
  let ordinal = 0
  for (const prompt of prompts) {
    const tokens = tokensOf(NormalisedPrompt.ofText(prompt))
    const grams: Array<number> = []
    if (tokens.count > 0) {
      forEachGram(tokens, Math.min(tokens.count, longest), (a, b) => void grams.push(table.add(a, b)))
    }
    const key = `${tokens.count}:${grams.join()}`
    if (tokens.count > 0 && !whole.has(key)) {
      whole.add(key)
      evaluations.push({ ordinal, tokens: tokens.count, grams: Int32Array.from(grams) })
    }
    ordinal++
  }
  return evaluations
}

/** Which evaluation prompts are looked at where a text has an n-gram: those from its start to that of the next n-gram. */
interface Asking {
  readonly starts: Uint32Array
  /** Indices of evaluation prompts. */
  readonly evaluations: Uint32Array
}

/**
 * Of an evaluation prompt's n-grams, the most frequent ones are left out as long as they cover
 * no more than half of it: without one of the others it can't leak. So a text that begins as all
 * questions of an evaluation do ("Answer the following …") is not compared with each of them.
 */
const askingOf = (evaluations: ReadonlyArray<Evaluation>, size: number): Asking => {
  const frequency = new Uint32Array(size)
  for (const { grams } of evaluations) for (const gram of new Set(grams)) frequency[gram]!++
  const asked = evaluations.map((evaluation) => {
    const frequentFirst = [...new Set(evaluation.grams)].toSorted((a, b) => frequency[b]! - frequency[a]!)
    const rank = new Map(frequentFirst.map((gram, i) => [gram, i]))
    const canLeaveOut = (count: number) =>
      coveredBy(evaluation, (gram) => rank.get(gram)! < count) <= mostCoverage * evaluation.tokens
    // What more n-grams cover is more: the greatest number of them is found by halving.
    let least = 0
    let most = frequentFirst.filter((gram) => frequency[gram]! > 1).length
    while (least < most) {
      const middle = Math.ceil((least + most) / 2)
      if (canLeaveOut(middle)) least = middle
      else most = middle - 1
    }
    return frequentFirst.slice(least)
  })

  const starts = new Uint32Array(size + 1)
  for (const grams of asked) for (const gram of grams) starts[gram + 1]!++
  for (let gram = 0; gram < size; gram++) starts[gram + 1]! += starts[gram]!
  const next = starts.slice()
  const indices = new Uint32Array(starts[size]!)
  asked.forEach((grams, index) => {
    for (const gram of grams) indices[next[gram]!++] = index
  })
  return { starts, evaluations: indices }
}

/** How many tokens stand in n-grams that the text has. */
const coveredBy = ({ grams, tokens }: Evaluation, has: (gram: number) => boolean): number => {
  const n = Math.min(tokens, longest)
  let covered = 0
  let upTo = 0
  for (let i = 0; i < grams.length; i++) {
    if (!has(grams[i]!)) continue
    covered += i + n - Math.max(i, upTo)
    upTo = i + n
  }
  return covered
}

interface TokenHashes {
  readonly count: number
  readonly a: Int32Array
  readonly b: Int32Array
}

/** Work space of one call, kept where it is not large. */
const mostKept = 1 << 16
const keptA = new Int32Array(mostKept)
const keptB = new Int32Array(mostKept)

/** Valid until the next call. */
const tokensOf = (normal: string): TokenHashes => {
  // A token is at least one code unit.
  const [a, b] =
    normal.length <= mostKept ? [keptA, keptB] : [new Int32Array(normal.length), new Int32Array(normal.length)]
  let i = 0
  const count = Tokens.forEach(normal, (x, y) => {
    a[i] = x
    b[i++] = y
  })
  return { count, a, b }
}

const baseA = 0x2c9277b5
const baseB = 0x5851f42d
const power = (base: number, exponent: number): number =>
  exponent === 0 ? 1 : Math.imul(power(base, exponent - 1), base)
const leavesA = Array.from({ length: longest + 1 }, (_, n) => power(baseA, n))
const leavesB = Array.from({ length: longest + 1 }, (_, n) => power(baseB, n))

/** Calls `take` with the hash of each n-gram, from the first to the last. */
const forEachGram = ({ a, b, count }: TokenHashes, n: number, take: (a: number, b: number) => void): void => {
  const [outA, outB] = [leavesA[n]!, leavesB[n]!]
  let x = 0
  let y = 0
  for (let i = 0; i < count; i++) {
    x = (Math.imul(x, baseA) + a[i]!) | 0
    y = (Math.imul(y, baseB) + b[i]!) | 0
    if (i >= n) {
      x = (x - Math.imul(a[i - n]!, outA)) | 0
      y = (y - Math.imul(b[i - n]!, outB)) | 0
    }
    // Sequences of different lengths are different, whatever their tokens' hashes.
    if (i >= n - 1) take((x + n) | 0, y)
  }
}
