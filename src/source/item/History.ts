/**
 * Adds earlier turns from their own member to the prompt, which becomes a conversation: messages, or pairs of what was
 * said and answered, as LLaMA-Factory (`[["Q", "A"], …]`) and ModelScope have them (`[{ "human": "Q", "assistant": "A" }]`).
 *
 * Guarantees: turns that the prompt begins with already are not repeated, and earlier turns that end with the prompt are
 * the whole prompt. Turns that end with a message of anyone but the assistant are refused: what follows them is unknown.
 */
import { Result } from "effect"
import type { Message, Prompt } from "../../domain/Message.ts"
import { describeValue, isEmpty, isObject } from "../../io/Values.ts"
import { type Field, fromText } from "../record/Field.ts"
import { reject, type Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import * as ItemDecoder from "./ItemDecoder.ts"
import * as Messages from "./Messages.ts"

/** Whether a value is earlier turns, and there is at least one. */
export const isTurns = (value: unknown): boolean => Messages.isList(value) || isPairs(value)

/** The same, or a list of none. */
export const isTurnsOrNone = (value: unknown): boolean => isTurns(value) || (Array.isArray(value) && value.length === 0)

const isPairs = (value: unknown): value is ReadonlyArray<object> =>
  Array.isArray(value) && value.length > 0 && value.every((pair) => pairOf(pair) !== undefined)

const said = ["human", "user", "question", "query", "prompt", "instruction", "input"]
const answered = ["assistant", "bot", "gpt", "ai", "answer", "response", "output"]

/** What was said and answered: `["Q", "A"]`, or an object such as `{ "human": "Q", "assistant": "A" }`. */
const pairOf = (pair: unknown): readonly [string, string] | undefined => {
  const members = isObject(pair)
    ? [said, answered].map((names) => names.filter((name) => Object.hasOwn(pair, name)))
    : []
  const isNamed = isObject(pair) && Object.keys(pair).length === 2 && members.every(({ length }) => length === 1)
  const texts: unknown = isNamed ? members.flat().map((name) => pair[name]) : pair
  if (!Array.isArray(texts) || texts.length !== 2) return undefined
  const [one, other]: ReadonlyArray<unknown> = texts
  return typeof one === "string" && typeof other === "string" ? [one, other] : undefined
}

/** The prompt after the earlier turns. The failure is the reason, and names the field. */
export const add = (
  field: Field | undefined,
  { isTextual, value }: Pick<Row, "isTextual" | "value">,
  prompt: Prompt,
): Result.Result<Prompt, string> => {
  const given = field?.get(value, isTextual)
  const turns = isTextual === true ? fromText(given) : given
  if (field === undefined || isEmpty(turns) || (Array.isArray(turns) && turns.length === 0)) {
    return Result.succeed(prompt)
  }
  return Result.flatMap(decode(turns, field.name), (earlier) => {
    const own: ReadonlyArray<Message> = typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt
    const begin = own.findIndex(({ role }) => role !== "system")
    const rest = begin === -1 ? [] : own.slice(begin)
    const beginsWith = (all: ReadonlyArray<Message>, first: ReadonlyArray<Message>) =>
      all.length >= first.length && first.every((message, i) => Messages.isEqual(message, all[i]))
    if (beginsWith(own, earlier) || beginsWith(rest, earlier)) return Result.succeed(prompt)
    const isWhole = beginsWith(earlier.slice(-own.length), own)
    const role = earlier.at(-1)?.role
    if (!isWhole && role !== "assistant" && role !== "system") {
      return Result.fail(
        `${field.name}[${earlier.length - 1}]: expected earlier turns to end with the assistant's, or with the prompt, found one of ${describeValue(role)}`,
      )
    }
    const [first, ...others] = isWhole ? earlier : [...own.slice(0, own.length - rest.length), ...earlier, ...rest]
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

/** An item as it was read, after the row's earlier turns. */
export const addTo = (record: SourceRecord, field: Field | undefined, row: Row): SourceRecord =>
  Result.flatMap(record, (source) => {
    const prompt = add(field, row, source.item.prompt)
    if (Result.isFailure(prompt)) return reject(row.place, "invalid_shape", prompt.failure)
    return prompt.success === source.item.prompt
      ? Result.succeed(source)
      : Result.succeed({ ...source, item: { ...source.item, prompt: prompt.success } })
  })
