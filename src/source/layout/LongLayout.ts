/** Reads records with one completion each. An item's records have the same key, by default the prompt. */
import { Result } from "effect"
import * as Conversation from "../../domain/Conversation.ts"
import type { Prompt } from "../../domain/Message.ts"
import type { Reject } from "../../domain/Reject.ts"
import * as Key from "../record/Key.ts"
import * as CellText from "../item/CellText.ts"
import * as ItemDecoder from "../item/ItemDecoder.ts"
import { reject, type Row } from "../record/Row.ts"
import { type Field, fromText } from "../record/Field.ts"
import { describeValue, isEmpty, isObject } from "../../io/Values.ts"
import type { MetadataReader } from "../item/Metadata.ts"
import type { Part } from "./Layout.ts"
import * as Messages from "../item/Messages.ts"
import * as ToolCalls from "../item/ToolCalls.ts"
import * as PromptContext from "../item/PromptContext.ts"

export interface LongFields {
  readonly prompt: Field
  readonly context: PromptContext.ContextFields
  readonly completion: Field | undefined
  readonly key: Field | undefined
  readonly model: Field | undefined
  readonly kept: MetadataReader
}

export const toPart =
  (fields: LongFields): ((row: Row) => Result.Result<Part, Reject>) =>
  (row) => {
    const part = read(fields, row)
    return Result.isSuccess(part) ? Result.succeed(part.success) : reject(row.place, "invalid_shape", part.failure)
  }

const read = (fields: LongFields, row: Row): Result.Result<Part, string> =>
  Result.gen(function* () {
    const { isTextual, place, value } = row
    if (!isObject(value)) return yield* Result.fail(`expected an object, found ${describeValue(value)}`)
    const { completion, prompt: promptField } = yield* fields.completion === undefined
      ? splitConversation(fields.prompt, row)
      : readFields(fields.prompt, fields.completion, row)
    const prompt = yield* PromptContext.complete(fields.context, row, promptField)
    const key =
      fields.key === undefined
        ? keyOf(prompt)
        : yield* ItemDecoder.decodeKey(fields.key.get(value, isTextual), fields.key.name)
    return {
      place,
      key,
      prompt,
      completion: Conversation.render(completion),
      ...(typeof completion !== "string" && { isMessages: true }),
      tools: yield* ToolCalls.definitionsOf(value),
      model: yield* modelOf(fields.model, row),
      metadata: yield* fields.kept.of(row),
    }
  })

interface PromptAndCompletion {
  readonly prompt: Prompt
  readonly completion: Prompt
}

const readFields = (
  promptAt: Field,
  completionAt: Field,
  { isTextual, value }: Row,
): Result.Result<PromptAndCompletion, string> =>
  Result.gen(function* () {
    const [promptValue, completionValue] = yield* Result.all(
      [promptAt, completionAt].map(({ get, name }) => CellText.read(get(value, isTextual), name, isTextual)),
    )
    const prompt = yield* ItemDecoder.decodePrompt(promptValue, promptAt.name)
    return { prompt, completion: yield* ItemDecoder.decodeCompletion(completionValue, prompt, completionAt.name) }
  })

const splitConversation = (
  { get, name }: Field,
  { isTextual, value }: Row,
): Result.Result<PromptAndCompletion, string> => {
  const list = isTextual === true ? fromText(get(value, isTextual)) : get(value)
  if (!Array.isArray(list)) return Result.fail(`${name}: expected a list of messages, found ${describeValue(list)}`)
  const last = list.length - 1
  if (last < 1)
    return Result.fail(`${name}: expected a prompt and an answer, found ${last === 0 ? "one message" : "no messages"}`)
  return Result.flatMap(Messages.decode(list, name), (messages) => {
    const { content, role, tool_calls } = messages[last]!
    if (role !== "assistant") {
      return Result.fail(
        `${name}[${last}]: expected the last message to have the role assistant, found the role ${describeValue(role)}`,
      )
    }
    const prompt = ItemDecoder.decodePrompt(messages.slice(0, -1), name)
    return Result.flatMap(prompt, (prompt): Result.Result<PromptAndCompletion, string> =>
      tool_calls !== undefined
        ? Result.succeed({ prompt, completion: [messages[last]!] as const })
        : Result.map(ItemDecoder.decodeAnswer(content, `${name}[${last}].content`), (completion) => ({
            prompt,
            completion,
          })),
    )
  })
}

/** A prompt with NUL is replaced by its digest, because databases cannot store NUL. */
const keyOf = (prompt: Prompt): string => {
  const text = Conversation.render(prompt)
  return text.includes("\0") ? Key.digest(text) : text
}

const modelOf = (field: Field | undefined, { isTextual, value }: Row): Result.Result<string | undefined, string> => {
  const model = field?.get(value, isTextual)
  if (field === undefined || isEmpty(model)) return Result.succeed(undefined)
  return ItemDecoder.decodeText(typeof model === "number" ? String(model) : model, field.name)
}
