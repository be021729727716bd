/**
 * Converts a person's assessment, which names completions by place, to members of a vote, and back.
 *
 * Guarantees: a vote contains only members that its task's rubric asks for. If the rubric asks whether all completions
 * are bad, the vote says yes or no. An edit that changes nothing is left out.
 */
import { Result } from "effect"
import type { Assessment } from "../../domain/Assessment.ts"
import type { Rubric } from "../../domain/Rubric.ts"
import type { Vote } from "../../domain/Vote.ts"
import type { PersonAssessment } from "./VoteQueueModel.ts"

type Members = Assessment & Pick<Vote, "flags">

/** Finds the first member of an assessment that the rubric does not ask for. */
const problemOf = (
  { aspects, edited, flags, strength }: PersonAssessment,
  rubric: Rubric,
  completions: number,
): string | undefined => {
  if (strength !== null && strength > rubric.strength.length) return `There is no strength ${strength}.`
  const flag = flags.find((name) => !rubric.flags.includes(name))
  if (flag !== undefined) return `There is no flag ${JSON.stringify(flag)}.`
  if (edited !== null && !rubric.edit) return "The task asks for no edit."
  for (const [name, ratings] of Object.entries(aspects)) {
    const steps = rubric.aspects.find((aspect) => aspect.name === name)?.steps
    if (steps === undefined) return `There is no aspect ${JSON.stringify(name)}.`
    if (ratings.length !== completions || ratings.some((rating) => rating !== null && rating > steps))
      return `The ratings of ${JSON.stringify(name)} are not one of 1 to ${steps} for each completion.`
  }
  return undefined
}

/** Converts an assessment to members of a vote. @param choice the index of the edited completion */
export const toMembers = (
  given: PersonAssessment | undefined,
  rubric: Rubric,
  completions: ReadonlyArray<string>,
  { choice, order }: Pick<Vote, "choice" | "order">,
): Result.Result<Members, string> => {
  const asked = rubric.all_bad ? { all_bad: given?.all_bad === true } : {}
  if (given === undefined) return Result.succeed(asked)
  const problem = problemOf(given, rubric, order.length)
  if (problem !== undefined) return Result.fail(problem)
  const { edited, flags, strength } = given
  const rated = Object.entries(given.aspects).flatMap(([name, ratings]) =>
    ratings.every((rating) => rating === null)
      ? []
      : [[name, completions.map((_, index) => ratings[order.indexOf(index)] ?? null)] as const],
  )
  return Result.succeed({
    ...asked,
    ...(strength !== null && { strength }),
    ...(flags.length > 0 && { flags }),
    ...(edited !== null && edited.trim() !== "" && edited !== completions[choice] && { edited }),
    ...(rated.length > 0 && { aspects: Object.fromEntries(rated) }),
  })
}

/** Returns undefined if the vote has no assessment. */
export const toPlaces = (
  { all_bad = false, aspects = {}, edited, flags = [], strength }: Members,
  order: ReadonlyArray<number>,
): PersonAssessment | undefined => {
  const rated = Object.entries(aspects).map(([name, ratings]) => [name, order.map((index) => ratings[index] ?? null)])
  const isBlank = strength === undefined && !all_bad && flags.length === 0 && edited === undefined && rated.length === 0
  return isBlank
    ? undefined
    : { strength: strength ?? null, all_bad, flags, edited: edited ?? null, aspects: Object.fromEntries(rated) }
}
