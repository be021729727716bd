/** Defines the columns of a dataset. The column `tools` and the arguments of tool calls are JSON text. */
import { Record, Schema, Struct } from "effect"
import * as Conversation from "../domain/Conversation.ts"
import { Message, usesTools } from "../domain/Message.ts"
import * as PairBytes from "../domain/PairBytes.ts"
import { type PreferencePair, PreferencePairSchema } from "../domain/PreferencePair.ts"
import * as PairTexts from "./format/PairTexts.ts"
import type { Feature, Features, JsonRow } from "./file/Features.ts"

export type Shape = "standard" | "conversational"

export interface Form {
  readonly shape: Shape
  readonly tools?: true
}

interface JsonType {
  readonly type?: string
  readonly description?: string
  readonly anyOf?: readonly [JsonType, ...ReadonlyArray<JsonType>]
  readonly items?: JsonType
  readonly properties?: { readonly [name: string]: JsonType }
}

const featureOf = ({ anyOf, items, properties, type }: JsonType): Feature => {
  if (anyOf !== undefined) return featureOf(anyOf[0])
  if (items !== undefined) return { list: featureOf(items) }
  if (properties !== undefined) return { struct: Record.map(properties, featureOf) }
  return type === "integer" ? "int32" : type === "number" ? "float64" : type === "boolean" ? "bool" : "string"
}

const typesOf = (fields: Schema.Struct.Fields): { readonly [name: string]: JsonType } =>
  (Schema.toJsonSchemaDocument(Schema.Struct(fields)).schema as JsonType).properties!

export interface Column {
  readonly name: string
  readonly feature: Feature
  readonly description: string
}

const plainMessage = ["role", "content"] as const

export const columnsOf = ({ shape, tools }: Form): ReadonlyArray<Column> => {
  const members = Struct.omit(PreferencePairSchema.fields, ["chosen_messages", "rejected_messages"])
  const message = tools === undefined ? Struct.pick(Message.fields, plainMessage) : Message.fields
  const messages: Feature = { list: { struct: Record.map(typesOf(message), featureOf) } }
  return Object.entries(typesOf(tools === undefined ? Struct.omit(members, ["tools"]) : members)).map(
    ([name, type]) => ({
      name,
      feature: shape === "conversational" && PairBytes.isText(name) ? messages : featureOf(type),
      description: type.description ?? "",
    }),
  )
}

export const featuresOf = (form: Form): Features =>
  Object.fromEntries(columnsOf(form).map(({ feature, name }) => [name, feature]))

export const toRow = (pair: PreferencePair, { shape, tools }: Form): JsonRow => {
  if (shape === "standard") {
    return typeof pair.prompt === "string" ? pair : { ...pair, prompt: Conversation.toText(pair.prompt) }
  }
  const rowOf = (messages: ReadonlyArray<Message>) => (tools === undefined ? messages : messages.map(toRowMessage))
  return {
    ...pair,
    prompt: rowOf(PairTexts.toMessages(pair.prompt)),
    chosen: rowOf(PairTexts.sideOf(pair, "chosen")),
    rejected: rowOf(PairTexts.sideOf(pair, "rejected")),
  }
}

const toRowMessage = ({ content, name, role, tool_call_id, tool_calls }: Message) => ({
  role,
  content,
  ...(tool_calls !== undefined && {
    tool_calls: tool_calls.map(({ function: of, id, type }) => ({
      ...(id !== undefined && { id }),
      type,
      function: of,
    })),
  }),
  ...(name !== undefined && { name }),
  ...(tool_call_id !== undefined && { tool_call_id }),
})

export const needsTools = ({ chosen_messages, prompt, rejected_messages }: PreferencePair): boolean =>
  chosen_messages !== undefined ||
  rejected_messages !== undefined ||
  (typeof prompt !== "string" && prompt.some(usesTools))

const members = Struct.keys(PreferencePairSchema.fields)
const membersBesidesTexts = members.filter((name) => !PairBytes.isText(name))

export const findLoneSurrogate = (pair: PreferencePair): keyof PreferencePair | undefined => {
  // Texts in `PairBytes` never have lone surrogates, so only the other members are checked.
  const names = PairBytes.of(pair) === undefined ? members : membersBesidesTexts
  for (const name of names) if (!isWellFormed(pair[name])) return name
  return undefined
}

const isWellFormed = (value: PreferencePair[keyof PreferencePair]): boolean =>
  typeof value === "string"
    ? value.isWellFormed()
    : typeof value !== "object" || value === null || value.every((message) => textsOf(message).every(isWellFormed))

const textsOf = ({ content, name, role, tool_call_id, tool_calls }: Message): ReadonlyArray<string | undefined> => [
  role,
  content,
  name,
  tool_call_id,
  ...(tool_calls ?? []).flatMap(({ function: of, id }) => [id, of.name, of.arguments]),
]
