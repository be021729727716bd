/**
 * Where the prompt stands, by the names that data sets have for it.
 *
 * In this order: `prompt`; a list of messages; `instruction` with `input`; a text of another usual name. Several of the
 * last are told to the user, who knows which of them experts have to see. A text cell that is a list of messages
 * counts as one where its column's name says so.
 */
import { Result } from "effect"
import * as FieldPath from "../../io/FieldPath.ts"
import { isObject, joinWords } from "../../io/Values.ts"
import { flags } from "../layout/Layout.ts"
import { find, findAll, kindOf, type Member, type Profile } from "./Sample.ts"
import * as SystemPrompt from "../item/SystemPrompt.ts"

const listNames = ["messages", "conversations", "conversation", "dialog", "dialogue"]
const conversationNames = [...listNames, "context", "history", "input"]
const textNames =
  "instruction,question,query,input,problem,user_prompt,context,history,user_input,user_query,user_message,post".split(
    ",",
  )

/** As the options of a layout have them. */
export interface PromptFound {
  readonly prompt: string
  readonly system?: string
}

/**
 * Nothing where there is none. The failure says what was found.
 *
 * @param taken members that hold something else
 */
export const prompt = (
  profile: Profile,
  taken: ReadonlyArray<string>,
): Result.Result<PromptFound | undefined, string> => {
  const members = profile.members.filter(({ name }) => !taken.includes(name))
  const rest = { ...profile, members }
  const found = (prompt: string) => Result.succeed({ prompt, ...system(rest) })
  const own = find(rest, ["prompt"], ["text", "messages", "texts"])
  if (own !== undefined) return found(FieldPath.format([own.name]))
  const conversation = find(rest, profile.isTextual ? listNames : conversationNames, ["messages"])
  if (conversation !== undefined) {
    return found(`${FieldPath.format([conversation.name])}${profile.isTextual ? "[]" : ""}`)
  }
  // As in OpenAI's files, `{input: {messages: […]}}`.
  const nested = members.find(
    ({ values }) =>
      values.length > 0 && values.every((value) => isObject(value) && kindOf(value["messages"]) === "messages"),
  )
  if (nested !== undefined) return found(FieldPath.format([nested.name, "messages"]))
  const texts = findAll(members, textNames, ["text"])
  const [first, second] = texts
  if (first === undefined) return Result.succeed(undefined)
  if (first.plainName === "instruction" && second?.plainName === "input" && texts.length === 2) {
    return found(`${inBraces(first)}\\n\\n${inBraces(second)}`)
  }
  if (second === undefined) {
    const empty = members.find(({ plainName, values }) => plainName === "input" && values.length === 0)
    const isInstruction = first.plainName === "instruction" && empty !== undefined
    return found(isInstruction ? `${inBraces(first)}\\n\\n${inBraces(empty)}` : FieldPath.format([first.name]))
  }
  const names = joinWords(texts.map(({ name }) => JSON.stringify(name)))
  return Result.fail(
    `the prompt may be at ${names}: set ${flags.prompt}, to one of them or to a template such as '${texts.map(inBraces).join("\\n\\n")}'`,
  )
}

/** Where the system prompt stands, as the options of a layout have it. */
export const system = (profile: Profile): { readonly system?: string } => {
  const found = find(profile, SystemPrompt.names, ["text"])
  return found === undefined ? {} : { system: FieldPath.format([found.name]) }
}

const inBraces = ({ name }: Member): string => `{${FieldPath.format([name])}}`
