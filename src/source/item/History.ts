/**
 * Puts turns before the prompt: messages, `[["Q", "A"], …]` (LLaMA-Factory), or `[{ "human": "Q", "assistant": "A" }]`
 * (ModelScope). If the prompt begins with all the turns, or the turns end with the prompt, no message is added twice.
 */
import { Result } from "effect"
import type { Message, Prompt } from "../../domain/Message.ts"
import { describeValue, isEmpty, isObject } from "../../io/Values.ts"
import { type Field, fromText } from "../record/Field.ts"
import type { Row } from "../record/Row.ts"
import * as ItemDecoder from "./ItemDecoder.ts"
import * as Messages from "./Messages.ts"

export const isTurns = (value: unknown): boolean => Messages.isList(value) || isPairs(value)

export const isTurnsOrNone = (value: unknown): boolean => isTurns(value) || (Array.isArray(value) && value.length === 0)

const isPairs = (value: unknown): value is ReadonlyArray<object> =>
  Array.isArray(value) && value.length > 0 && value.every((pair) => pairOf(pair) !== undefined)

const questionNames = ["human", "user", "question", "query", "prompt", "instruction", "input"]
const answerNames = ["assistant", "bot", "gpt", "ai", "answer", "response", "output"]

const pairOf = (pair: unknown): readonly [string, string] | undefined => {
  const members = isObject(pair)
    ? [questionNames, answerNames].map((names) => names.filter((name) => Object.hasOwn(pair, name)))
    : []
  const isNamed = isObject(pair) && Object.keys(pair).length === 2 && members.every(({ length }) => length === 1)
  const texts: unknown = isNamed ? members.flat().map((name) => pair[name]) : pair
  if (!Array.isArray(texts) || texts.length !== 2) return undefined
  const [one, other]: ReadonlyArray<unknown> = texts
  return typeof one === "string" && typeof other === "string" ? [one, other] : undefined
}

export const add = (
  field: Field | undefined,
  { isTextual, value }: Pick<Row, "isTextual" | "value">,
  prompt: Prompt,
): Result.Result<Prompt, string> => {
  const fieldValue = field?.get(value, isTextual)
  const turns = isTextual === true ? fromText(fieldValue) : fieldValue
  if (field === undefined || isEmpty(turns) || (Array.isArray(turns) && turns.length === 0)) {
    return Result.succeed(prompt)
  }
  return Result.flatMap(decode(turns, field.name), (earlier) => {
    const promptMessages: ReadonlyArray<Message> = Messages.ofPrompt(prompt)
    const begin = promptMessages.findIndex(({ role }) => role !== "system")
    const rest = begin === -1 ? [] : promptMessages.slice(begin)
    if (Messages.beginsWith(promptMessages, earlier) || Messages.beginsWith(rest, earlier))
      return Result.succeed(prompt)
    const isWhole = Messages.beginsWith(earlier.slice(-promptMessages.length), promptMessages)
    const role = earlier.at(-1)?.role
    if (!isWhole && role !== "assistant" && role !== "system") {
      return Result.fail(
        `${field.name}[${earlier.length - 1}]: expected the last message to be the prompt, or a message of the assistant, found the role ${describeValue(role)}`,
      )
    }
    const [first, ...others] = isWhole
      ? earlier
      : [...promptMessages.slice(0, promptMessages.length - rest.length), ...earlier, ...rest]
    return Result.succeed(first === undefined ? prompt : [first, ...others])
  })
}

const decode = (turns: unknown, path: string): Result.Result<ReadonlyArray<Message>, string> => {
  const messages = isPairs(turns)
    ? turns.flatMap((turn) => {
        const [question, answer] = pairOf(turn)!
        return [
          { role: "user", content: question },
          { role: "assistant", content: answer },
        ]
      })
    : turns
  return Messages.isList(messages)
    ? Result.map(ItemDecoder.decodePrompt(messages, path), (decoded) => (typeof decoded === "string" ? [] : decoded))
    : Result.fail(`${path}: expected messages, or pairs of texts, found ${describeValue(turns)}`)
}
