/**
 * Whether completions are whole conversations, and whether a prompt stands beside them.
 *
 * Guarantees: both are decided by most of the records that are looked at, never by a single one.
 */
import { Result } from "effect"
import * as Field from "../record/Field.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { isEmpty } from "../../io/Values.ts"
import * as Profile from "./Sample.ts"
import * as SharedPrompt from "../layout/SharedPrompt.ts"

const cellsOf = (profile: Profile.Profile, paths: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<unknown>> => {
  const fields = paths.map((path) => Result.getOrUndefined(Field.parse(path)))
  return profile.records.map((record) => fields.map((field) => field?.get(record)))
}

/** Whether the completions are whole conversations, in most of the records that have them. */
export const areConversations = (profile: Profile.Profile, completions: ReadonlyArray<string>): boolean => {
  const filled = cellsOf(profile, completions).filter((cells) => !cells.some(isEmpty))
  return filled.filter((cells) => cells.every(SharedPrompt.isConversation)).length * 2 > filled.length
}

/**
 * The path of a prompt that is text, where most conversations hold this as the user's first message and nothing else:
 * that one of them asks more must not change what the others are. It is a reject.
 */
export const textPrompt = (profile: Profile.Profile, completions: ReadonlyArray<string>): string | undefined => {
  const prompt = Profile.find(profile, ["prompt", "instruction", "question", "input"], ["text"])
  if (prompt === undefined) return undefined
  const cells = cellsOf(profile, completions)
  const filled = profile.records.filter((_, i) => !cells[i]!.some(isEmpty))
  const same = profile.records.filter((record, i) => {
    if (cells[i]!.some(isEmpty)) return false
    const shared = SharedPrompt.split(cells[i]!, completions)
    if (Result.isFailure(shared)) return false
    const [first, ...others] = shared.success.prompt
    return others.length === 0 && first.role === "user" && first.content === Profile.valueAt(record, prompt.name)
  })
  return same.length * 2 > filled.length ? FieldPath.format([prompt.name]) : undefined
}
