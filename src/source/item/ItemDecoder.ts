/** Decodes a value of any layout. A reject has the field's path in the file, and the expected and the actual value. */
import { Result, Schema, type SchemaIssue } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as IdLimit from "../../domain/IdLimit.ts"
import * as Conversation from "../../domain/Conversation.ts"
import type { Prompt } from "../../domain/Message.ts"
import { type Metadata, PromptItem, WellFormedPromptItem } from "../../domain/PromptItem.ts"
import { NonBlankText, WellFormedText } from "../../domain/Text.ts"
import { fromText } from "../record/Field.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import * as SchemaIssues from "../../io/SchemaIssues.ts"
import { describeValue, isEmpty, isObject, memberOf, type Members } from "../../io/Values.ts"
import { describeJsonProblem } from "../../io/JsonProblem.ts"
import * as CellText from "./CellText.ts"
import * as Messages from "./Messages.ts"
import { originOf, type Place, reject } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"

SchemaJITCompiler.enable(PromptItem.ast)
SchemaJITCompiler.enable(WellFormedPromptItem.ast)

const parseItem = Schema.decodeUnknownResult(PromptItem, { reportInput: true })
const parseWellFormedItem = Schema.decodeUnknownResult(WellFormedPromptItem, { reportInput: true })
const parseText = Schema.decodeUnknownResult(NonBlankText, { reportInput: true })
const parseAnswer = Schema.decodeUnknownResult(WellFormedText, { reportInput: true })
const parsePrompt = Schema.decodeUnknownResult(PromptItem.fields.prompt, { reportInput: true })

export interface ListName {
  readonly name: string
  readonly nameAt: (index: number) => string
}

export interface MemberNames {
  readonly id?: string
  readonly prompt?: string
  readonly completions?: ListName
  readonly models?: ListName
  readonly gold?: string
  readonly metadata?: string
}

/** @param isTextual whether values are cells of text (CSV): lists and numbers are text, and absent values are empty */
export const decode = (
  value: unknown,
  place: Place,
  names: MemberNames = {},
  isTextual = false,
  isWellFormed = false,
): SourceRecord => {
  const normalForm = normalize(value, names, isTextual)
  if (Result.isFailure(normalForm)) return reject(place, "invalid_shape", normalForm.failure)
  const item = (isWellFormed ? parseWellFormedItem : parseItem)(normalForm.success)
  if (Result.isFailure(item)) return reject(place, "invalid_shape", describeIssue(item.failure.issue, names))
  const problem = describeJsonProblem(item.success.metadata, names.metadata ?? "metadata")
  return problem === undefined
    ? Result.succeed({ item: item.success, origin: originOf(place) })
    : reject(place, "invalid_shape", problem)
}

export const decodePrompt = (value: unknown, path: string): Result.Result<Prompt, string> =>
  Result.flatMap(toPrompt(value, path), (prompt) =>
    Result.mapError(parsePrompt(prompt), ({ issue }) => {
      const problem = firstProblem(issue)
      return `${path}${FieldPath.formatTail(problem.path)}: ${problem.message}`
    }),
  )

export const decodeCompletion = (
  value: unknown,
  prompt: Prompt | undefined,
  path: string,
): Result.Result<Prompt, string> => {
  const messages = Messages.ofCompletion(value)
  return messages === undefined
    ? decodeAnswer(value, path)
    : Result.flatMap(Messages.decodeCompletion(messages, prompt, path), (completion): Result.Result<Prompt, string> =>
        typeof completion === "string" ? decodeAnswer(completion, path) : Result.succeed(completion),
      )
}

export const decodeAnswer = (value: unknown, path: string): Result.Result<string, string> =>
  Result.mapError(parseAnswer(value), (error) => `${path}: ${firstProblem(error.issue).message}`)

export const decodeMetadata = (value: unknown, path: string): Result.Result<Metadata | undefined, string> => {
  const metadata = isEmpty(value) ? undefined : fromText(value)
  if (metadata === undefined) return Result.succeed(undefined)
  if (!isObject(metadata)) return Result.fail(`${path}: expected an object, found ${describeValue(value)}`)
  const problem = describeJsonProblem(metadata, path)
  return problem === undefined ? Result.succeed(metadata) : Result.fail(problem)
}

export const decodeText = (value: unknown, path: string): Result.Result<string, string> =>
  Result.mapError(parseText(value), (error) => `${path}: ${firstProblem(error.issue).message}`)

/** An integer becomes its digits. NUL is refused, because databases cannot store it. */
export const decodeKey = (value: unknown, path: string): Result.Result<string, string> => {
  if (Number.isSafeInteger(value)) return Result.succeed(String(value))
  if (typeof value !== "string")
    return Result.fail(`${path}: expected a string or a safe integer, found ${describeValue(value)}`)
  if (value.includes("\0")) return Result.fail(`${path}: expected text without NUL, found ${describeValue(value)}`)
  return decodeText(value, path)
}

const decodeId = (value: unknown, path: string): Result.Result<string, string> =>
  Result.filterOrFail(
    decodeKey(value, path),
    IdLimit.fits,
    () => `${path}: expected at most ${IdLimit.limitText} of text, found ${describeValue(value)}`,
  )

const normalize = (value: unknown, names: MemberNames, isTextual: boolean): Result.Result<unknown, string> => {
  if (!isObject(value)) return Result.succeed(value)
  const normal = isTextual || !isNormal(value) ? toNormalForm(value, names, isTextual) : Result.succeed(value)
  return Result.flatMap(normal, (object) => withTextId(object, names))
}

const isNormal = (value: Members): boolean =>
  typeof value["prompt"] === "string" &&
  areTexts(value["completions"]) &&
  value["id"] !== null &&
  value["models"] !== null &&
  isNormalObject(value["metadata"]) &&
  isNormalObject(value["gold"]) &&
  !(isObject(value["gold"]) && value["gold"]["rationale"] === null) &&
  !Object.hasOwn(value, "tools") &&
  !Object.hasOwn(value, "as_messages")

const isNormalObject = (value: unknown): boolean => value !== null && typeof value !== "string"

const areTexts = (values: unknown): boolean => {
  if (!Array.isArray(values)) return false
  for (const value of values) if (typeof value !== "string") return false
  return true
}

const toNormalForm = (value: Members, names: MemberNames, isTextual: boolean): Result.Result<Members, string> =>
  Result.gen(function* () {
    const promptName = names.prompt ?? "prompt"
    const prompt = yield* toPrompt(yield* CellText.read(memberOf(value, "prompt"), promptName, isTextual), promptName)
    const completions = yield* toCompletions(memberOf(value, "completions"), prompt, names, isTextual)
    const gold = fromText(memberOf(value, "gold"))
    const optional = {
      id: memberOf(value, "id"),
      models: isTextual ? fromText(memberOf(value, "models")) : memberOf(value, "models"),
      gold: isObject(gold) ? withoutEmpty(isTextual ? withNumber(gold) : gold, isTextual) : gold,
      metadata: fromText(memberOf(value, "metadata")),
    }
    return { prompt, ...completions, ...withoutEmpty(optional, isTextual) }
  })

const toPrompt = (value: unknown, path: string): Result.Result<Prompt, string> => {
  if (typeof value === "string") return Result.succeed(value)
  return Array.isArray(value)
    ? Messages.decode(value, path)
    : Result.fail(`${path}: expected text or a list of messages, found ${describeValue(value)}`)
}

const toCompletions = (
  value: unknown,
  prompt: Prompt,
  names: MemberNames,
  isTextual: boolean,
): Result.Result<Members, string> => {
  const values = isTextual ? fromText(value) : value
  const name = names.completions?.name ?? "completions"
  if (typeof values === "string" && isTextual) {
    return Result.map(CellText.read(values, name, isTextual), (completions) => ({ completions }))
  }
  if (!Array.isArray(values)) return Result.succeed(values === undefined ? {} : { completions: values })
  const nameAt = (i: number) => names.completions?.nameAt(i) ?? `completions[${i}]`
  return Result.gen(function* () {
    const completions: Array<unknown> = []
    const asMessages: Array<boolean> = []
    for (const [i, rawValue] of values.entries()) {
      const value = yield* CellText.read(rawValue, nameAt(i), isTextual)
      const messages = Messages.ofCompletion(value)
      const completion = messages && (yield* Messages.decodeCompletion(messages, prompt, nameAt(i)))
      completions.push(completion === undefined ? value : Conversation.render(completion))
      asMessages.push(typeof completion === "object")
    }
    return { completions, ...(asMessages.includes(true) && { as_messages: asMessages }) }
  })
}

const withoutEmpty = (object: Members, isTextual: boolean): Members =>
  Object.fromEntries(
    Object.entries(object).filter(([, member]) =>
      isTextual ? !isEmpty(member) : member !== null && member !== undefined,
    ),
  )

const withNumber = (gold: Members): Members => {
  const index = gold["best_completion_index"]
  return typeof index === "string" && /^\d{1,15}$/.test(index)
    ? { ...gold, best_completion_index: Number(index) }
    : gold
}

const withTextId = (value: Members, names: MemberNames): Result.Result<Members, string> =>
  Object.hasOwn(value, "id") && !isPlainId(value["id"])
    ? Result.map(decodeId(value["id"], names.id ?? "id"), (id) => (id === value["id"] ? value : { ...value, id }))
    : Result.succeed(value)

const isPlainId = (id: unknown): boolean => typeof id === "string" && /^[^\0]{0,200}$/s.test(id)

const firstProblem = (issue: SchemaIssue.Issue) => SchemaIssues.problems(issue)[0]!

const describeIssue = (issue: SchemaIssue.Issue, names: MemberNames): string => {
  const { message, path } = firstProblem(issue)
  const [member, index, ...rest] = path
  if (member === undefined) return message
  const name = new Map<PropertyKey, string | ListName>(Object.entries(names)).get(member) ?? String(member)
  if (typeof name === "object" && typeof index === "number") {
    return `${name.nameAt(index)}${FieldPath.formatTail(rest)}: ${message}`
  }
  return `${typeof name === "object" ? name.name : name}${FieldPath.formatTail(path.slice(1))}: ${message}`
}
