/** Puts a system prompt before the prompt: as the first message, or as a text and an empty line. */
import { Result } from "effect"
import type { Prompt } from "../../domain/Message.ts"
import { isEmpty } from "../../io/Values.ts"
import type { Field } from "../record/Field.ts"
import { reject, type Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import * as History from "./History.ts"
import * as ItemDecoder from "./ItemDecoder.ts"
import * as ToolCalls from "./ToolCalls.ts"

export interface ContextFields {
  readonly history: Field | undefined
  readonly systems: ReadonlyArray<Field>
}

export const complete = (
  { history, systems }: ContextFields,
  row: Row,
  prompt: Prompt,
): Result.Result<Prompt, string> =>
  Result.flatMap(History.add(history, row, prompt), (withHistory) => {
    for (const field of systems) {
      const system = field.get(row.value, row.isTextual)
      if (isEmpty(system) || (typeof system === "string" && system.trim() === "")) continue
      return Result.map(ItemDecoder.decodeText(system, field.name), (text) => prepend(text, withHistory))
    }
    return Result.succeed(withHistory)
  })

const prepend = (system: string, prompt: Prompt): Prompt => {
  if (typeof prompt === "string") return `${system}\n\n${prompt}`
  const [first] = prompt
  return first.role === "system" && first.content === system ? prompt : [{ role: "system", content: system }, ...prompt]
}

export const addTo = (record: SourceRecord, fields: ContextFields, row: Row): SourceRecord => {
  if (Result.isFailure(record)) return record
  const { item } = record.success
  const prompt = complete(fields, row, item.prompt)
  if (Result.isFailure(prompt)) return reject(row.place, "invalid_shape", prompt.failure)
  const tools = ToolCalls.definitionsOf(row.value)
  if (Result.isFailure(tools)) return reject(row.place, "invalid_shape", tools.failure)
  if (prompt.success === item.prompt && tools.success === undefined) return record
  const changedItem = { ...item, prompt: prompt.success, ...(tools.success !== undefined && { tools: tools.success }) }
  return Result.succeed({ ...record.success, item: changedItem })
}
