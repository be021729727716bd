/**
 * Finds the `key` of the layout `long`, in which each record has one completion. `key` is a field: records with the
 * same value belong to one prompt. The field must fit most records. If it had to fit all records, a few odd records in
 * a growing file would change the choice.
 */
import { Result } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { isEmpty, memberOf } from "../../io/Values.ts"
import * as Messages from "../item/Messages.ts"
import { find, type Member, named, type Sample } from "./Sample.ts"

export const promptText = (prompt: unknown, isWithCompletion: boolean): string => {
  if (!Array.isArray(prompt)) return typeof prompt === "string" ? prompt : ""
  const messages = Messages.decode(isWithCompletion ? prompt.slice(0, -1) : prompt, "")
  return Result.isSuccess(messages) ? Conversation.render(messages.success) : ""
}

export const key = (sample: Sample, prompts: ReadonlyArray<string>): string | undefined => {
  const valuesOf = (member: Member) => sample.records.map((record) => memberOf(record, member.name))
  const member =
    named(sample.members, KnownNames.promptKeys).find(
      (member) => valuesOf(member).filter(isKey).length * 2 > prompts.length,
    ) ?? named(sample.members, KnownNames.otherKeys).find((member) => isKeyOfPrompts(valuesOf(member), prompts))
  return member?.path
}

const isKeyOfPrompts = (values: ReadonlyArray<unknown>, prompts: ReadonlyArray<string>): boolean => {
  const promptsOf = new Map<unknown, Set<string>>()
  const seenPrompts = new Set<string>()
  let balance = 0
  values.forEach((value, i) => {
    if (!isKey(value)) return
    const prompt = prompts[i]!
    const promptsOfValue = promptsOf.get(value)
    if (promptsOfValue?.has(prompt) === true) balance++
    else if (promptsOfValue !== undefined || seenPrompts.has(prompt)) balance--
    promptsOf.set(value, (promptsOfValue ?? new Set()).add(prompt))
    seenPrompts.add(prompt)
  })
  return balance > 0
}

export const isKey = (value: unknown): boolean =>
  (typeof value === "string" && value.trim() !== "") || Number.isSafeInteger(value)

export const model = (sample: Sample, prompts: ReadonlyArray<string>): string | undefined => {
  const named = find(sample, KnownNames.models, ["text"])
  if (named !== undefined) return named.path
  const source = find(sample, ["source"], ["text"])
  if (source === undefined) return undefined
  const first = new Map<string | undefined, unknown>()
  const differs = sample.records.some((record, i) => {
    const value = memberOf(record, source.name)
    if (!first.has(prompts[i])) first.set(prompts[i], value)
    return !isEmpty(value) && first.get(prompts[i]) !== value
  })
  return differs ? source.path : undefined
}
