/** Converts assessments to members of votes, and back. An answer to a question that the rubric lacks is refused. */
import { Result } from "effect"
import type { Assessment } from "../../domain/Assessment.ts"
import type { Rubric } from "../../domain/Rubric.ts"
import type { Vote } from "../../domain/Vote.ts"
import { nonNullish } from "../../io/Values.ts"
import type { Draft, Submission } from "../pageApi/AnnotateApi.ts"

type PersonAssessment = NonNullable<Submission["assessment"]>
type Members = Assessment & Pick<Vote, "flags">

const problemOf = (
  { aspects, edited, flags, strength = null }: PersonAssessment,
  rubric: Rubric,
  completions: number,
): string | undefined => {
  if (strength !== null && rubric.strength[strength - 1] === undefined) return `The rubric has no strength ${strength}.`
  const flag = flags.find((name) => !rubric.flags.includes(name))
  if (flag !== undefined) return `The rubric has no flag ${JSON.stringify(flag)}.`
  if (edited !== null && !rubric.edit) return "The rubric does not ask for an edit."
  for (const [name, ratings] of Object.entries(aspects)) {
    const steps = rubric.aspects.find((aspect) => aspect.name === name)?.steps
    if (steps === undefined) return `The rubric has no aspect ${JSON.stringify(name)}.`
    if (ratings.length !== completions || ratings.some((rating) => rating !== null && rating > steps))
      return `Give each completion a rating of ${JSON.stringify(name)} from 1 to ${steps}, or null.`
  }
  return undefined
}

/** Returns the first required question that the vote does not answer, and how to answer it. */
export const missingFrom = (
  { aspects = {}, edited, rationale, strength }: Members & Pick<Vote, "rationale">,
  rubric: Rubric,
): { readonly member: string; readonly detail: string } | undefined => {
  const unanswered = {
    strength: strength === undefined,
    edit: edited === undefined,
    rationale: rationale === undefined,
  }
  const aspect = rubric.aspects.find(
    ({ name, required }) => required === true && (aspects[name]?.includes(null) ?? true),
  )
  const member = rubric.required.find((member) => unanswered[member]) ?? aspect?.name
  if (member === undefined) return undefined
  return {
    member,
    detail: `The guidelines require an answer: ${member}${aspect?.name === member ? ", for each completion" : ""}.`,
  }
}

/** Converts an assessment to members of a vote. `edited` is the new text of the completion with index `choice`. */
export const toMembers = (
  assessment: PersonAssessment | undefined,
  rubric: Rubric,
  completions: ReadonlyArray<string>,
  { choice, order }: Pick<Vote, "choice" | "order">,
): Result.Result<Members, string> => {
  const allBad = rubric.all_bad ? { all_bad: assessment?.all_bad === true } : {}
  if (assessment === undefined) return Result.succeed(allBad)
  const problem = problemOf(assessment, rubric, order.length)
  if (problem !== undefined) return Result.fail(problem)
  const { all_bad: _, aspects, edited, flags, ...others } = assessment
  const rated = Object.entries(aspects).flatMap(([name, ratings]) =>
    ratings.every((rating) => rating === null)
      ? []
      : [[name, completions.map((_, index) => ratings[order.indexOf(index)] ?? null)] as const],
  )
  return Result.succeed({
    ...allBad,
    ...nonNullish(others),
    ...(flags.length > 0 && { flags }),
    ...(edited !== null && edited.trim() !== "" && edited !== completions[choice] && { edited }),
    ...(rated.length > 0 && { aspects: Object.fromEntries(rated) }),
  })
}

/** Converts members of a vote to an assessment. `best` is the position of the edited completion. */
export const toPlaces = (
  { all_bad = false, aspects = {}, edited, flags = [], ...others }: Members,
  order: ReadonlyArray<number>,
  best: number,
): Draft["assessment"] => {
  const rated = Object.entries(aspects).map(([name, ratings]) => [name, order.map((index) => ratings[index] ?? null)])
  const isEmpty = Object.keys(others).length === 0 && !all_bad && flags.length === 0
  if (isEmpty && edited === undefined && rated.length === 0) return undefined
  const edit = edited === undefined ? null : { place: best, text: edited }
  return { ...others, all_bad, flags, edit, aspects: Object.fromEntries(rated) }
}
