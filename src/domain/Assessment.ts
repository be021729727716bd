/**
 * The parts of a vote besides the choice and flags. `read` leaves out a member with an unexpected shape. A new part
 * also needs a field in `annotate/Judgment` or `annotate/Rubric`, an empty value in `annotate/entry`, and a row in the
 * guide of the service.
 */
import { Predicate, Schema, Struct } from "effect"
import { firstOfText } from "./CompletionTexts.ts"
import { described } from "./Described.ts"
import { topOf } from "./Tally.ts"
import type { Ranking } from "./Ranking.ts"

export const fields = {
  strength: described(
    "How much better the best completion is than the others; 1 is the smallest difference.",
    Schema.Finite,
  ),
  all_bad: described("Whether no completion is good enough, not even the best one.", Schema.Boolean),
  edited: described("The best completion, as edited by an expert.", Schema.String),
  aspects: described(
    'For each aspect, one rating per completion; null if a completion was not rated. Example: `{"helpfulness":[4,2.5]}`.',
    Schema.Record(Schema.String, Schema.Array(Schema.NullOr(Schema.Finite))),
  ),
}

/** The answers of one vote to the rubric's questions. If a question has no answer, its member is absent. */
export const Assessment = Schema.Struct(fields).mapFields(Struct.map(Schema.optionalKey))
export type Assessment = typeof Assessment.Type

export const names = Struct.keys(fields)

export const columns = {
  strength: described(
    "How much better `chosen` is than the other completions: the mean of the strengths in the votes for `chosen`. The smallest difference has the strength 1. Null if no vote for `chosen` has a strength. In pairs from a ranking, also null if `chosen` is not the best completion of its item.",
    Schema.NullOr(Schema.Finite),
  ),
  all_bad: described(
    "Whether more than half of the votes say that no completion is good enough; null if no vote answers this question.",
    Schema.NullOr(Schema.Boolean),
  ),
  aspects: described(
    'Mean ratings by aspect, as JSON text: `{"helpfulness":{"chosen":4,"rejected":2.5}}`; null if there are no ratings.',
    Schema.NullOr(Schema.String),
  ),
  edited: described(
    "`chosen` as edited by an expert who voted for this completion. If several of these experts edited the text, the value is the first edited text. Null if no expert edited the text, if the value would equal `chosen`, or if `chosen` is not the best completion of its item.",
    Schema.NullOr(Schema.String),
  ),
}

type Ratings = ReadonlyArray<number | null>

const ratingsOf = (value: unknown, best: number, completions: number): Ratings | undefined => {
  if (Number.isFinite(value)) return Array.from({ length: completions }, (_, i) => (i === best ? Number(value) : null))
  if (!Array.isArray(value) || value.length !== completions) return undefined
  const ratings = value.map((rating: unknown) => (Number.isFinite(rating) ? Number(rating) : null))
  return ratings.every((rating) => rating === null) ? undefined : ratings
}

/**
 * Some services write a negative strength if the second completion is better, so the sign is dropped. If an aspect has
 * a number instead of a list, the number is the rating of the best completion.
 */
export const read = (members: { readonly [name: string]: unknown }, best: number, completions: number): Assessment => {
  const { all_bad, aspects, edited, strength } = members
  const rated = !Predicate.isObject(aspects)
    ? []
    : Object.entries(aspects).flatMap(([name, value]) => {
        const ratings = ratingsOf(value, best, completions)
        return ratings === undefined ? [] : [[name, ratings] as const]
      })
  return {
    ...(Number.isFinite(strength) && { strength: Math.abs(Number(strength)) }),
    ...(typeof all_bad === "boolean" && { all_bad }),
    ...(typeof edited === "string" && edited.trim() !== "" && { edited }),
    ...(rated.length > 0 && { aspects: Object.fromEntries(rated) }),
  }
}

const mean = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length

export const combined: { readonly [Name in keyof typeof fields]: string } = {
  strength: "is the mean strength of the votes for the best completion",
  all_bad: "is true if more than half of the votes say that no completion is good enough",
  edited: "is the first edit by an expert who voted for the best completion",
  aspects: "has mean ratings",
}

export const combine = (
  completions: ReadonlyArray<string>,
  best: number,
  votes: ReadonlyArray<Assessment & { readonly choice: number; readonly ranking?: Ranking | undefined }>,
): Assessment => {
  if (!votes.some((vote) => names.some((name) => vote[name] !== undefined))) return {}
  const first = firstOfText(completions)
  const forBest = votes.filter(({ choice }) => first[choice] === first[best])
  const strengths = forBest.flatMap((vote) =>
    vote.strength === undefined || new Set(topOf(vote).map((index) => first[index])).size > 1 ? [] : [vote.strength],
  )
  const edited = forBest.find((vote) => vote.edited !== undefined)?.edited
  const aspects = Array.from(new Set(votes.flatMap(({ aspects = {} }) => Object.keys(aspects))), (name) => {
    const ratings = Array.from(completions.keys(), (i) => {
      const values = votes.flatMap(({ aspects }) => aspects?.[name]?.[i] ?? [])
      return values.length === 0 ? null : mean(values)
    })
    return [name, ratings] as const
  })
  return {
    ...(strengths.length > 0 && { strength: mean(strengths) }),
    ...(votes.some(({ all_bad }) => all_bad !== undefined) && {
      all_bad: votes.filter(({ all_bad }) => all_bad === true).length * 2 > votes.length,
    }),
    ...(edited !== undefined && { edited }),
    ...(aspects.length > 0 && { aspects: Object.fromEntries(aspects) }),
  }
}

export const toColumns = (
  { all_bad, aspects = {}, edited, strength }: Assessment,
  completions: ReadonlyArray<string>,
  best: number,
  [chosen, rejected]: readonly [chosen: number, rejected: number],
) => {
  const rated = Object.entries(aspects).flatMap(([name, ratings]) => {
    const both = { chosen: ratings[chosen] ?? null, rejected: ratings[rejected] ?? null }
    return both.chosen === null && both.rejected === null ? [] : [[name, both] as const]
  })
  return {
    strength: (chosen === best ? strength : undefined) ?? null,
    all_bad: all_bad ?? null,
    aspects: rated.length === 0 ? null : JSON.stringify(Object.fromEntries(rated)),
    edited: chosen === best && edited !== undefined && edited !== completions[chosen] ? edited : null,
  }
}
