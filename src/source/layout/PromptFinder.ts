/**
 * Where the prompt stands, by the names that data sets have for it.
 *
 * In this order: `prompt`; a list of messages; `instruction` with `input`; a text of another usual name. Several of the
 * last are told to the user, who knows which of them experts have to see. A system prompt beside a prompt that is
 * text is written before it.
 */
import { Result } from "effect"
import * as FieldPath from "./FieldPath.ts"
import { isObject, list } from "./Found.ts"
import { flags } from "./LayoutFlags.ts"
import { find, findAll, has, kindOf, type Member, type Profile } from "./Profile.ts"

const conversationNames = [
  "messages",
  "conversations",
  "conversation",
  "context",
  "history",
  "dialog",
  "dialogue",
  "input",
]
const textNames =
  "instruction,question,query,input,problem,user_prompt,context,history,user_input,user_query,user_message,post".split(
    ",",
  )
const systemNames = ["system", "system_prompt", "system_message"]

/**
 * The path or template; nothing where there is none. The failure says what was found.
 *
 * @param taken members that hold something else
 */
export const prompt = (profile: Profile, taken: ReadonlyArray<string>): Result.Result<string | undefined, string> => {
  const members = profile.members.filter(({ name }) => !taken.includes(name))
  const rest = { ...profile, members }
  const own = find(rest, ["prompt"], ["text", "messages", "texts"])
  if (own !== undefined) return withSystem(rest, own, FieldPath.format([own.name]))
  const conversation = find(rest, conversationNames, ["messages"])
  if (conversation !== undefined) return withSystem(rest, conversation, FieldPath.format([conversation.name]))
  // As in OpenAI's files, `{input: {messages: […]}}`.
  const nested = members.find(
    ({ values }) =>
      values.length > 0 && values.every((value) => isObject(value) && kindOf(value["messages"]) === "messages"),
  )
  if (nested !== undefined) return Result.succeed(FieldPath.format([nested.name, "messages"]))
  const texts = findAll(members, textNames, ["text"])
  const [first, second] = texts
  if (first === undefined) return Result.succeed(undefined)
  if (first.plainName === "instruction" && second?.plainName === "input" && texts.length === 2) {
    return withSystem(rest, first, `${inBraces(first)}\\n\\n${inBraces(second)}`)
  }
  if (second === undefined) {
    const empty = members.find(({ plainName, values }) => plainName === "input" && values.length === 0)
    const isInstruction = first.plainName === "instruction" && empty !== undefined
    return withSystem(
      rest,
      first,
      isInstruction ? `${inBraces(first)}\\n\\n${inBraces(empty)}` : FieldPath.format([first.name]),
    )
  }
  const names = list(texts.map(({ name }) => JSON.stringify(name)))
  return Result.fail(
    `the prompt may be at ${names}: set ${flags.prompt}, to one of them or to a template such as '${texts.map(inBraces).join("\\n\\n")}'`,
  )
}

const inBraces = ({ name }: Member): string => `{${FieldPath.format([name])}}`

const withSystem = (profile: Profile, prompt: Member, text: string): Result.Result<string, string> => {
  const system = find(profile, systemNames, ["text"])
  if (system === undefined) return Result.succeed(text)
  if (!has(prompt, ["text"])) {
    return Result.fail(
      `found messages at "${prompt.name}" and a system prompt at "${system.name}", which cannot be put together here: set ${flags.prompt} ${text} to go without the latter`,
    )
  }
  return Result.succeed(`${inBraces(system)}\\n\\n${text.includes("{") ? text : inBraces(prompt)}`)
}
