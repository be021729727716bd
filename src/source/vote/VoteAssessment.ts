/**
 * What a vote of a file says of a rubric, besides its strength: `all_bad`, `edited` and `aspects`, as `VoteRow` has them.
 *
 * Guarantees: what has another shape is left out. Of a table with cells of text, nothing is read unless it has the columns
 * `all_bad` and `aspects`, since a column `edited` of another table need not be a text.
 */
import * as Assessment from "../../domain/Assessment.ts"
import { isObject } from "../../io/Values.ts"
import * as Field from "../record/Field.ts"

const booleans = new Map<unknown, boolean>([
  ["true", true],
  ["false", false],
])

export const read = (
  vote: unknown,
  choice: number,
  completions: number,
  isTextual: true | undefined,
): Omit<Assessment.Assessment, "strength"> => {
  if (!isObject(vote)) return {}
  const { all_bad, aspects, edited } = vote
  if (isTextual !== true) return Assessment.read({ all_bad, aspects, edited }, choice, completions)
  if (!Object.hasOwn(vote, "all_bad") || !Object.hasOwn(vote, "aspects")) return {}
  const said = { all_bad: booleans.get(all_bad), aspects: Field.fromText(aspects), edited }
  return Assessment.read(said, choice, completions)
}
