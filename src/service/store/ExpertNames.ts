/** Decides which names of experts are equal (`nameKey`) or refused. Latin and Cyrillic letters count as different. */
import { Schema } from "effect"
import { nameKey } from "../account/nameKey.ts"
import type { ExpertSummary } from "../pageApi/ExpertsApi.ts"
import { Name } from "../pageApi/OperatorSession.ts"
import { maxInvitations, maxLength } from "../pageApi/PageConstants.ts"

export interface NamedExpert extends Pick<ExpertSummary, "expert_id" | "name" | "kind"> {
  readonly active: number
}

export interface ListedName {
  readonly name: string
  readonly line: number
}

const maxProblems = 20

const isName = Schema.is(Name)

export const find = (existing: ReadonlyArray<NamedExpert>, name: string): NamedExpert | undefined =>
  existing.find((other) => nameKey(other.name) === nameKey(name))

export const words = ({ active, kind, name }: NamedExpert): string => {
  if (kind !== "person") return `An automatic expert is named ${name}. Enter another name.`
  return `An expert named ${name} already exists. ${active === 1 ? "Make a new link for" : "Activate"} this expert below, or enter another name.`
}

export const problemOf = (
  list: ReadonlyArray<ListedName>,
  existing: ReadonlyArray<NamedExpert>,
): string | undefined => {
  if (list.length === 0) return "The list has no names."
  if (list.length > maxInvitations) {
    return `The list has ${list.length} names, but at most ${maxInvitations} people can be invited at once.`
  }
  const byName = new Map(existing.map(({ name }) => [nameKey(name), name]))
  const lines = new Map<string, number>()
  const problems = list.flatMap(({ line, name }) => {
    const key = nameKey(name)
    const [owner, earlier] = [byName.get(key), lines.get(key)]
    lines.set(key, earlier ?? line)
    if (!isName(name)) {
      return [
        `Line ${line}: a name has at most ${maxLength.name} characters, at least one visible character, and no control characters.`,
      ]
    }
    if (owner !== undefined) return [`Line ${line}: an expert named ${owner} already exists.`]
    return earlier === undefined ? [] : [`Line ${line}: ${name} is already in line ${earlier}.`]
  })
  if (problems.length === 0) return undefined
  const more = problems.length - maxProblems
  return `Nobody was invited. ${problems.slice(0, maxProblems).join(" ")}${more > 0 ? ` ${more} more names are refused.` : ""}`
}
