/** Finds the prompt: `prompt`, or a message list, or `instruction` with `input`, or text under another known name. */
import { Result } from "effect"
import * as OptionText from "../../io/OptionText.ts"
import { isEmpty, isObject, joinWords, memberOf } from "../../io/Values.ts"
import * as SharedPrompt from "../layout/SharedPrompt.ts"
import * as History from "../item/History.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import * as Field from "../record/Field.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { find, findAll, kindOf, type Member, named, type Sample } from "./Sample.ts"

export interface DetectedPrompt {
  readonly prompt: string
  readonly system?: string
  readonly history?: string
}

export const prompt = (
  sample: Sample,
  usedNames: ReadonlyArray<string>,
): Result.Result<DetectedPrompt | undefined, string> => {
  const isTaken = new Set(usedNames)
  const members = sample.members.filter(({ name }) => !isTaken.has(name))
  const rest = { ...sample, members }
  const withContext = (prompt: string) => Result.succeed({ prompt, ...contextOf(rest, Field.columnsOf(prompt)) })
  const promptMember = find(rest, ["prompt"], ["text", "messages", "texts"])
  if (promptMember !== undefined) return withContext(promptMember.path)
  const names = sample.isTextual ? KnownNames.conversations : KnownNames.promptLists
  const candidates = findAll(members, KnownNames.promptTexts, ["text"])
  const others = candidates.filter(({ values }) => !values.every(History.isTurnsOrNone))
  const texts = others.length === 0 ? candidates : others
  const conversation = find(rest, names, ["messages"])
  const isEarlier = texts.length > 0 && KnownNames.histories.includes(conversation?.plainName ?? "")
  if (conversation !== undefined && !isEarlier)
    return withContext(`${conversation.path}${sample.isTextual ? "[]" : ""}`)
  // Files of OpenAI have the form `{input: {messages: […]}}`.
  const nested = members.find(
    ({ values }) =>
      values.length > 0 && values.every((value) => isObject(value) && kindOf(value["messages"]) === "messages"),
  )
  if (nested !== undefined) return withContext(`${nested.path}.messages`)
  const [first, second, third] = texts
  if (first === undefined) return Result.succeed(undefined)
  const input = second ?? members.find(({ plainName, values }) => plainName === "input" && values.length === 0)
  if (first.plainName === "instruction" && input?.plainName === "input" && third === undefined) {
    return withContext(`${inBraces(first)}\\n\\n${inBraces(input)}`)
  }
  if (second === undefined) return withContext(first.path)
  const quoted = joinWords(texts.map(({ name }) => JSON.stringify(name)))
  return Result.fail(
    `several fields might contain the prompt: ${quoted}. To show all these fields to experts, set ${OptionText.of("prompt")} to a template such as '${UnusedContext.template(texts.map(({ name }) => name))}'. To leave a field out, name the field in ${OptionText.of("ignore")}`,
  )
}

const inBraces = ({ path }: Member): string => `{${path}}`

export const contextOf = ({ members }: Sample, usedNames: ReadonlyArray<string>): Omit<DetectedPrompt, "prompt"> => {
  const rest = members.filter(({ name }) => !usedNames.includes(name))
  const [system] = findAll(rest, KnownNames.systemPrompts, ["text"])
  const history = named(rest, KnownNames.histories).find(({ plainName, values }) => {
    const isKnown = plainName !== "context" || values.some(History.isTurns)
    return values.length > 0 && isKnown && values.every(History.isTurnsOrNone)
  })
  return {
    ...(system !== undefined && { system: system.path }),
    ...(history !== undefined && { history: history.path }),
  }
}

const completionsOf = (sample: Sample, paths: ReadonlyArray<string>) => {
  const fields = paths.map((path) => Result.getOrUndefined(Field.parse(path)))
  return sample.records
    .map((record) => ({ record, cells: fields.map((field) => field?.get(record)) }))
    .filter(({ cells }) => !cells.some(isEmpty))
}

export const areConversations = (sample: Sample, completions: ReadonlyArray<string>): boolean => {
  const filled = completionsOf(sample, completions)
  return filled.filter(({ cells }) => cells.every(SharedPrompt.isConversation)).length * 2 > filled.length
}

export const promptOfConversations = (sample: Sample, completions: ReadonlyArray<string>): string | undefined => {
  const prompt = find(sample, KnownNames.promptsOfConversations, ["text"])
  if (prompt === undefined) return undefined
  const filled = completionsOf(sample, completions)
  const same = filled.filter(({ cells, record }) => {
    const shared = SharedPrompt.split(cells, completions)
    if (Result.isFailure(shared)) return false
    const [first, ...others] = shared.success.prompt
    return others.length === 0 && first.role === "user" && first.content === memberOf(record, prompt.name)
  })
  return same.length * 2 > filled.length ? prompt.path : undefined
}
