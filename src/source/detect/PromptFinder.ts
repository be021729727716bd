/**
 * Finds the prompt: a member `prompt`, a list of messages, `instruction` and `input`, or a text with another known
 * name. Several such texts are a failure that names them.
 */
import { Result } from "effect"
import { isEmpty, isObject, joinWords } from "../../io/Values.ts"
import { flags } from "../layout/Layout.ts"
import * as SharedPrompt from "../layout/SharedPrompt.ts"
import * as History from "../item/History.ts"
import * as UnusedContext from "../item/UnusedContext.ts"
import * as Field from "../record/Field.ts"
import * as KnownNames from "../record/KnownNames.ts"
import { find, findAll, kindOf, type Member, type Sample, valueAt } from "./Sample.ts"

/** As the options of a layout have them. */
export interface PromptFound {
  readonly prompt: string
  readonly system?: string
  readonly history?: string
}

/**
 * Undefined where there is none; the failure says what was found.
 *
 * @param taken members that hold something else
 */
export const prompt = (
  sample: Sample,
  taken: ReadonlyArray<string>,
): Result.Result<PromptFound | undefined, string> => {
  const isTaken = new Set(taken)
  const members = sample.members.filter(({ name }) => !isTaken.has(name))
  const rest = { ...sample, members }
  const found = (prompt: string) => Result.succeed({ prompt, ...before(rest, columnsOf(prompt)) })
  const own = find(rest, ["prompt"], ["text", "messages", "texts"])
  if (own !== undefined) return found(own.path)
  const names = sample.isTextual ? KnownNames.conversations : KnownNames.promptLists
  const candidates = findAll(members, KnownNames.promptTexts, ["text"])
  const others = candidates.filter(({ values }) => !values.every(History.isTurnsOrNone))
  const texts = others.length === 0 ? candidates : others
  const conversation = find(rest, names, ["messages"])
  const isEarlier = texts.length > 0 && KnownNames.histories.includes(conversation?.plainName ?? "")
  if (conversation !== undefined && !isEarlier) return found(`${conversation.path}${sample.isTextual ? "[]" : ""}`)
  // As in OpenAI's files, `{input: {messages: […]}}`.
  const nested = members.find(
    ({ values }) =>
      values.length > 0 && values.every((value) => isObject(value) && kindOf(value["messages"]) === "messages"),
  )
  if (nested !== undefined) return found(`${nested.path}.messages`)
  const [first, second, third] = texts
  if (first === undefined) return Result.succeed(undefined)
  const input = second ?? members.find(({ plainName, values }) => plainName === "input" && values.length === 0)
  if (first.plainName === "instruction" && input?.plainName === "input" && third === undefined) {
    return found(`${inBraces(first)}\\n\\n${inBraces(input)}`)
  }
  if (second === undefined) return found(first.path)
  const quoted = joinWords(texts.map(({ name }) => JSON.stringify(name)))
  return Result.fail(
    `the prompt may be at ${quoted}: set ${flags.prompt} to a template such as '${UnusedContext.template(texts.map(({ name }) => name))}', or leave out with ${flags.ignore} what experts need not see`,
  )
}

const inBraces = ({ path }: Member): string => `{${path}}`

/** The top-level members that a path or template reads. */
export const columnsOf = (path: string): ReadonlyArray<string> =>
  Result.getOrUndefined(Field.parse(path))?.columns ?? []

/**
 * Where the system prompt and earlier turns are, as the options of a layout have them.
 *
 * @param taken members that hold something else
 */
export const before = ({ members }: Sample, taken: ReadonlyArray<string>): Omit<PromptFound, "prompt"> => {
  const rest = members.filter(({ name }) => !taken.includes(name))
  const [system] = findAll(rest, KnownNames.systemPrompts, ["text"])
  const history = KnownNames.histories
    .flatMap((name) => rest.filter(({ plainName }) => plainName === name))
    .find(({ plainName, values }) => {
      // A list may be empty so far, in a file that begins with first turns.
      const isKnown = plainName !== "context" || values.some(History.isTurns)
      return values.length > 0 && isKnown && values.every(History.isTurnsOrNone)
    })
  return {
    ...(system !== undefined && { system: system.path }),
    ...(history !== undefined && { history: history.path }),
  }
}

/** The completions of each record; those of a record that lacks one are left out. */
const completionsOf = (sample: Sample, paths: ReadonlyArray<string>) => {
  const fields = paths.map((path) => Result.getOrUndefined(Field.parse(path)))
  return sample.records
    .map((record) => ({ record, cells: fields.map((field) => field?.get(record)) }))
    .filter(({ cells }) => !cells.some(isEmpty))
}

/** Whether the completions are whole conversations, in most of the records that have them. */
export const areConversations = (sample: Sample, completions: ReadonlyArray<string>): boolean => {
  const filled = completionsOf(sample, completions)
  return filled.filter(({ cells }) => cells.every(SharedPrompt.isConversation)).length * 2 > filled.length
}

/** The path of a prompt that is text, where most conversations have it as the user's first message and nothing else. */
export const promptOfConversations = (sample: Sample, completions: ReadonlyArray<string>): string | undefined => {
  const prompt = find(sample, KnownNames.promptsOfConversations, ["text"])
  if (prompt === undefined) return undefined
  const filled = completionsOf(sample, completions)
  const same = filled.filter(({ cells, record }) => {
    const shared = SharedPrompt.split(cells, completions)
    if (Result.isFailure(shared)) return false
    const [first, ...others] = shared.success.prompt
    return others.length === 0 && first.role === "user" && first.content === valueAt(record, prompt.name)
  })
  return same.length * 2 > filled.length ? prompt.path : undefined
}
