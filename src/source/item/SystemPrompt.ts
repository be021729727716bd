/**
 * Adds a system prompt from its own member to the prompt. It precedes a text prompt, separated by an empty line. It
 * precedes messages as a `system` message, unless they already begin with the same one.
 */
import { Result } from "effect"
import type { Prompt } from "../../domain/Message.ts"
import * as ItemDecoder from "./ItemDecoder.ts"
import { reject, type Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import type { Field } from "../record/Field.ts"
import { isEmpty } from "../../io/Values.ts"

export const add = (
  fields: ReadonlyArray<Field>,
  { isTextual, value }: Pick<Row, "isTextual" | "value">,
  prompt: Prompt,
): Result.Result<Prompt, string> => {
  for (const field of fields) {
    const system = field.get(value, isTextual)
    if (isEmpty(system) || (typeof system === "string" && system.trim() === "")) continue
    return Result.map(ItemDecoder.decodeText(system, field.name), (text) => prepend(text, prompt))
  }
  return Result.succeed(prompt)
}

const prepend = (system: string, prompt: Prompt): Prompt => {
  if (typeof prompt === "string") return `${system}\n\n${prompt}`
  const [first] = prompt
  return first.role === "system" && first.content === system ? prompt : [{ role: "system", content: system }, ...prompt]
}

export const addTo = (
  record: SourceRecord,
  fields: ReadonlyArray<Field>,
  row: Pick<Row, "isTextual" | "place" | "value">,
): SourceRecord =>
  Result.flatMap(record, (source) => {
    const prompt = add(fields, row, source.item.prompt)
    return Result.isSuccess(prompt)
      ? Result.succeed({ ...source, item: { ...source.item, prompt: prompt.success } })
      : reject(row.place, "invalid_shape", prompt.failure)
  })
