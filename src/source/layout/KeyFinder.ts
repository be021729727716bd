/**
 * What groups the records of a long file, and who wrote their completions.
 *
 * A member is the key only if records with the same value have the same prompt. One that merely tells rows apart, as
 * an `id` often does, is none: where prompts repeat and its values do not, the prompt is the key.
 */
import { Result } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import * as FieldPath from "./FieldPath.ts"
import { isEmpty } from "./Found.ts"
import * as Messages from "./Messages.ts"
import { find, type Profile, valueAt } from "./Profile.ts"

/** Named after the prompt. */
const promptKeys = [
  "prompt_id",
  "question_id",
  "item_id",
  "instruction_id",
  "query_id",
  "problem_id",
  "group_id",
  "group",
]
/** May as well be a row's. */
const anyKeys = ["id", "key", "task_id", "example_id", "instance_id", "conversation_id", "uid", "idx", "index"]
const modelNames = ["model", "model_id", "model_name", "generator", "model_used", "llm", "engine"]

/** A prompt as text to be compared, without the last message where this is the completion. */
export const promptText = (prompt: unknown, isWithCompletion: boolean): string => {
  if (!Array.isArray(prompt)) return typeof prompt === "string" ? prompt : ""
  const messages = Messages.decode(isWithCompletion ? prompt.slice(0, -1) : prompt, "")
  return Result.isSuccess(messages) ? Conversation.render(messages.success) : ""
}

/**
 * The key's path; none where it is the prompt.
 *
 * @param prompts of the records, in their order
 */
export const key = (profile: Profile, prompts: ReadonlyArray<string>): string | undefined => {
  const isGrouped = new Set(prompts).size < prompts.length
  const found = [...promptKeys, ...anyKeys].flatMap((name) =>
    profile.members.filter((member) => {
      if (member.plainName !== name) return false
      const values = profile.records.map((record) => valueAt(record, member.name))
      if (!values.every(isKey)) return false
      const promptOf = new Map<unknown, string | undefined>()
      const isSame = values.every((value, i) => {
        if (!promptOf.has(value)) promptOf.set(value, prompts[i])
        return promptOf.get(value) === prompts[i]
      })
      const repeats = promptOf.size < values.length
      return isSame && (repeats || (!isGrouped && promptKeys.includes(name)))
    }),
  )
  return found[0] === undefined ? undefined : FieldPath.format([found[0].name])
}

const isKey = (value: unknown): boolean =>
  (typeof value === "string" && value.trim() !== "") || Number.isSafeInteger(value)

/** `source` counts where it tells completions to the same prompt apart; elsewhere it is the prompt's. */
export const model = (profile: Profile, prompts: ReadonlyArray<string>): string | undefined => {
  const named = find(profile, modelNames, ["text"])
  if (named !== undefined) return FieldPath.format([named.name])
  const source = find(profile, ["source"], ["text"])
  if (source === undefined) return undefined
  const first = new Map<string | undefined, unknown>()
  const differs = profile.records.some((record, i) => {
    const value = valueAt(record, source.name)
    if (!first.has(prompts[i])) first.set(prompts[i], value)
    return !isEmpty(value) && first.get(prompts[i]) !== value
  })
  return differs ? FieldPath.format([source.name]) : undefined
}
