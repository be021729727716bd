/** Matches an item's pairs in two datasets: first equal rows, then equal choices, and then opposite choices. */
import { inputColumns } from "../domain/PreferencePair.ts"

/** Indices of a record's fields. Of the hashes of `chosen` and `rejected`, the field `low` contains the smaller one. */
export const field = {
  item: 0,
  low: 1,
  high: 2,
  isLowChosen: 3,
  side: 4,
  file: 5,
  line: 6,
} as const
export const fieldCount = 7

export const outcomeSide = 2
export const outcomeField = { lost: field.file, cause: field.line } as const

/** The ways in which pairs differ. */
export const kinds = ["flipped", "changed", "gone", "added"] as const
/** A way in which pairs differ. */
export type DiffKind = (typeof kinds)[number]

export interface Drawn {
  readonly reason: string
  readonly a: Float64Array | undefined
  readonly b: Float64Array | undefined
}

const lossesByVotes = new Set(["not_judged", "too_few_votes", "tie", "low_agreement", "against_votes", "no_pair"])

// prettier-ignore
const otherSettings = new Set([
  "votes", "shuffle_seed", "gold_mixed_in", "thresholds", "splits", "conversational", "margin", "margin_from", "edited",
  "expert_names",
])

const makeTally = () => ({ pairs: 0, reasons: new Map<string, number>(), drawn: new Array<Drawn>() })

type IsMatch = (one: Float64Array, other: Float64Array) => boolean

const isSamePair: IsMatch = (one, other) => one[field.low] === other[field.low] && one[field.high] === other[field.high]

const isSameChoice: IsMatch = (one, other) =>
  isSamePair(one, other) && one[field.isLowChosen] === other[field.isLowChosen]

const isSameRow: IsMatch = (one, other) =>
  isSameChoice(one, other) && one.every((n, i) => i < fieldCount || n === other[i])

export const make = ({
  columns,
  hasLedger,
  settings,
  show,
  texts,
}: {
  readonly columns: ReadonlyArray<string>
  readonly hasLedger: readonly [boolean, boolean]
  readonly settings: ReadonlyArray<string> | undefined
  readonly show: number
  readonly texts: ReadonlyArray<string | null>
}) => {
  const tallies = { flipped: makeTally(), changed: makeTally(), gone: makeTally(), added: makeTally() }
  const changed = new Map<string, number>()
  let same = 0
  const valueOf = (record: Float64Array, name: string): number | undefined =>
    columns.includes(name) ? record[fieldCount + columns.indexOf(name)] : undefined

  const rules = (settings ?? []).filter((name) => !otherSettings.has(name))
  const otherRule = rules.length > 1 ? "other_settings" : rules.length === 1 ? `other_${rules[0]}` : undefined
  const splitReason = settings?.includes("splits") === true ? "other_splits" : "other_items"

  const reasonOf = (all: ReadonlyArray<Float64Array>, one?: Float64Array, other?: Float64Array): string => {
    const of = (side: number) => all.find((record) => record[field.side] === side)
    const isMatched = one !== undefined && other !== undefined
    const [a, b] = isMatched ? [one, other] : [of(0), of(1)]
    const outcomes = [of(outcomeSide), of(outcomeSide + 1)]
    const cause = texts[outcomes[0]?.[outcomeField.cause] ?? 0] ?? null
    if (a === undefined || b === undefined) {
      const side = a === undefined ? 0 : 1
      const outcome = outcomes[side]
      const lost = outcome === undefined ? (hasLedger[side] ? "not_in_job" : null) : texts[outcome[outcomeField.lost]!]!
      return (lost === null || lossesByVotes.has(lost) ? cause : null) ?? lost ?? otherRule ?? "unknown"
    }
    if (isMatched && isSameChoice(one, other)) {
      const changes = columns.filter((_, i) => one[fieldCount + i] !== other[fieldCount + i])
      if (changes.every((name) => name === "split")) return splitReason
      if (changes.every((name) => name === "split" || inputColumns.includes(name))) return "other_input"
    }
    if (cause !== null) return cause
    const more = (valueOf(b, "votes") ?? 0) - (valueOf(a, "votes") ?? 0)
    if (more !== 0) return more > 0 ? "new_votes" : "fewer_votes"
    const isEqual = ["agreement", "vote_margin", "decided_votes"].every((name) => valueOf(a, name) === valueOf(b, name))
    if (!isEqual) return "other_votes"
    return otherRule ?? (isMatched && settings !== undefined ? "other_votes" : "unknown")
  }

  const compare = (all: ReadonlyArray<Float64Array>): void => {
    let rest = all.filter((record) => record[field.side] === 1)
    const unmatched = (
      ones: ReadonlyArray<Float64Array>,
      isMatch: IsMatch,
      onMatch: (a: Float64Array, b: Float64Array) => void,
    ) =>
      ones.filter((a) => {
        const b = rest.find((other) => isMatch(a, other))
        if (b === undefined) return true
        rest = rest.filter((other) => other !== b)
        onMatch(a, b)
        return false
      })
    const add = (kind: DiffKind, a: Float64Array | undefined, b: Float64Array | undefined) => {
      const tally = tallies[kind]
      const reason = reasonOf(all, a, b)
      tally.pairs++
      tally.reasons.set(reason, (tally.reasons.get(reason) ?? 0) + 1)
      if (tally.drawn.length < show) tally.drawn.push({ a: a?.slice(), b: b?.slice(), reason })
    }
    const differing = unmatched(
      all.filter((record) => record[field.side] === 0),
      isSameRow,
      () => void same++,
    )
    const otherChoice = unmatched(differing, isSameChoice, (a, b) => {
      for (const [i, name] of columns.entries()) {
        if (a[fieldCount + i] !== b[fieldCount + i]) changed.set(name, (changed.get(name) ?? 0) + 1)
      }
      add("changed", a, b)
    })
    for (const a of unmatched(otherChoice, isSamePair, (a, b) => add("flipped", a, b))) add("gone", a, undefined)
    for (const b of rest) add("added", undefined, b)
  }

  return { compare, tallies, changed, same: () => same }
}
