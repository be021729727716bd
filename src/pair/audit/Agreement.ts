/**
 * Measures how often a rater (a judge, the jury, or people) agrees with a person, and which completions it prefers.
 * - Agreement: the probability that the rater and a random other person give the same answer, and Cohen's kappa. A tie
 *   is an answer (L. Zheng et al., 2023, "Judging LLM-as-a-judge with MT-Bench and Chatbot Arena", 4.2).
 * - Kappa: an answer's category is the index of the chosen completion, or a tie. In a slice by `models`, the categories
 *   are the two models and a tie.
 * - Biases: how often the chosen text is longer than another text, or was shown before it. Random choices give 1/2.
 */
import type { AuditAgreement, AuditRater } from "../../domain/Audit.ts"
import * as Bootstrap from "../stats/Bootstrap.ts"
import * as CohenKappa from "../stats/CohenKappa.ts"
import type { AuditVote, Ballots } from "./Ballots.ts"

/** Maximum number of rows in each breakdown, such as by models. The rows with the most items are kept. */
const maxRows = 100
const nearLength = 0.1

type Pair = readonly [item: number, one: number, other: number, weight: number]

const agreementOf = (
  pairs: ReadonlyArray<Pair>,
  items: number,
  bootstrap: Bootstrap.Bootstrap,
): AuditAgreement | null => {
  const categories = 1 + pairs.reduce((max, [, one, other]) => Math.max(max, one, other), 0)
  const tableOf = (counts: Uint32Array): Float64Array => {
    const table = new Float64Array(categories * categories)
    for (const [item, one, other, weight] of pairs) table[one * categories + other]! += weight * counts[item]!
    return table
  }
  const { agreement: share, kappa } = bootstrap.estimate(
    (counts) => CohenKappa.of(tableOf(counts), categories),
    items,
    {
      agreement: Bootstrap.share,
    },
  )
  return share === null ? null : { share, kappa }
}

/** The probability that the answer equals the reference, if ties are resolved at random. */
export const credit = (tops: ReadonlyArray<number>, reference: ReadonlyArray<number>): number =>
  tops.filter((top) => reference.includes(top)).length / (tops.length * reference.length)

export const mean = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const choiceOf = ({ tops }: AuditVote): number | undefined => (tops.length > 1 ? undefined : tops[0])

const categoryOf = (ballot: AuditVote): number => 1 + (choiceOf(ballot) ?? -1)

const lengthsOf = ({ lengths, texts }: Ballots, ballot: AuditVote) => {
  const choice = choiceOf(ballot)
  if (choice === undefined || texts.length < 2) return undefined
  return { own: lengths[choice]!, others: texts.flatMap((text) => (text === choice ? [] : [lengths[text]!])) }
}

const longerOf = (item: Ballots, ballot: AuditVote): ReadonlyArray<number> => {
  const { others, own } = lengthsOf(item, ballot) ?? { own: 0, others: [] }
  const different = others.filter((length) => length !== own)
  return different.length === 0 ? [] : [different.filter((length) => own > length).length / different.length]
}

const firstOf = ({ texts }: Ballots, { position, swap }: AuditVote): ReadonlyArray<number> => {
  if (swap !== undefined) return Number.isNaN(swap.first) ? [] : [swap.first]
  return position === null || texts.length < 2 ? [] : [Math.max(0, 1 - position / (texts.length - 1))]
}

/** 0 if the vote prefers `a`, 2 if it prefers `b`, 1 for a tie, undefined if it is for neither. */
const compare = ({ tops }: AuditVote, a: number, b: number): number | undefined => {
  const [hasA, hasB] = [tops.includes(a), tops.includes(b)]
  return hasA && hasB ? 1 : hasA ? 0 : hasB ? 2 : undefined
}

const modelPairsOf = ({ models, texts }: Ballots) =>
  texts.flatMap((one, i) =>
    texts.slice(i + 1).flatMap((other) => {
      const [first = "", second = ""] = [models?.[one], models?.[other]]
      const [a, b] = first < second ? [one, other] : [other, one]
      return first === second ? [] : [{ a, b, name: [first, second].toSorted().join(" / ") }]
    }),
  )

export const audit = (
  items: ReadonlyArray<Ballots>,
  rater: Pick<AuditRater, "rater" | "role">,
  ballotsOf: (item: Ballots) => ReadonlyArray<AuditVote>,
  field: string | undefined,
  bootstrap: Bootstrap.Bootstrap,
): AuditRater => {
  const all: Array<Pair> = []
  const slices = new Map<string, { by: string; value: string | null; pairs: Array<Pair> }>()
  const slice = (by: string, value: string | null): Array<Pair> => {
    const key = JSON.stringify([by, value])
    const row = slices.get(key) ?? { by, value, pairs: [] }
    slices.set(key, row)
    return row.pairs
  }

  const compareWith = (item: Ballots, index: number, own: AuditVote, person: AuditVote, weight: number): void => {
    const parts = [all]
    if (field !== undefined) parts.push(slice(`metadata.${field}`, item.group))
    const lengths = lengthsOf(item, own)
    if (lengths !== undefined) {
      const others = mean(lengths.others)
      const isNear = Math.abs(lengths.own - others) <= nearLength * Math.max(lengths.own, others)
      parts.push(slice("length", isNear ? "near equal" : lengths.own > others ? "longer" : "shorter"))
    }
    if (own.position !== null && own.swap === undefined)
      parts.push(slice("position", own.position === 0 ? "first" : "later"))
    for (const pairs of parts) pairs.push([index, categoryOf(own), categoryOf(person), weight])
    for (const { a, b, name } of modelPairsOf(item)) {
      const [one, other] = [compare(own, a, b), compare(person, a, b)]
      if (one !== undefined && other !== undefined) slice("models", name).push([index, one, other, weight])
    }
  }

  let votes = 0
  for (const [index, item] of items.entries()) {
    const own = ballotsOf(item)
    votes += own.length
    for (const ballot of own) {
      const others = item.people.filter((person) => person !== ballot)
      for (const person of others) compareWith(item, index, ballot, person, 1 / (own.length * others.length))
    }
  }

  const shareOf = (of: (item: Ballots, ballot: AuditVote) => ReadonlyArray<number>) =>
    bootstrap.mean(
      items.flatMap((item, index) => {
        const values = ballotsOf(item).flatMap((ballot) => of(item, ballot))
        return values.length === 0 ? [] : [[index, mean(values)] as const]
      }),
    )
  const countOf = (pairs: ReadonlyArray<Pair>) => new Set(pairs.map(([item]) => item)).size
  const rowsOf = (name: string) =>
    [...slices.values()]
      .filter(({ by }) => by === name)
      .map((row) => ({ ...row, items: countOf(row.pairs) }))
      .toSorted((a, b) => b.items - a.items || ((a.value ?? "") < (b.value ?? "") ? -1 : 1))
      .slice(0, maxRows)
      .flatMap(({ by, items, pairs, value }) => {
        const agreement = agreementOf(pairs, items, bootstrap)
        return agreement === null ? [] : [{ by, value, ...agreement }]
      })
  return {
    ...rater,
    votes,
    agreement: agreementOf(all, countOf(all), bootstrap),
    slices: [`metadata.${field}`, "models", "length", "position"].flatMap(rowsOf),
    swap_consistency: shareOf((_, { swap }) => (swap === undefined ? [] : [swap.consistent])),
    chose_longer: shareOf(longerOf),
    chose_first: shareOf(firstOf),
    gold_accuracy: shareOf(({ gold }, { tops }) => (gold === undefined ? [] : [credit(tops, [gold])])),
  }
}
