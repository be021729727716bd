/**
 * Decodes what messages and records say of tools: calls, whose results messages are, and the definitions of tools.
 *
 * Guarantees: arguments and definitions that are text are kept as they are; objects become JSON text without spaces. A call
 * without arguments has `{}`. What is no function, or has members that are not known, is refused.
 */
import { Array as Arr, Option, Result } from "effect"
import { isJsonObject, type ToolCall } from "../../domain/Message.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { describeValue, isEmpty, isObject } from "../../io/Values.ts"
import { fromText } from "../record/Field.ts"
import { reject, type Row } from "../record/Row.ts"
import type { SourceRecord } from "../record/SourceRecord.ts"
import { describeJsonProblem } from "../../io/JsonProblem.ts"

type Members = { readonly [member: string]: unknown }

const member = (object: Members, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined)

/** Undefined, null, an empty text, list or object: says nothing. */
export const isNothing = (value: unknown): boolean =>
  isEmpty(value) || (typeof value === "object" && Object.keys(value ?? {}).length === 0)

/** Fails at the first member with a value that is not among the known. */
const knownAlone = (object: Members, known: ReadonlyArray<string>, path: string): Result.Result<void, string> => {
  const other = Object.keys(object).find((name) => !known.includes(name) && !isNothing(object[name]))
  return other === undefined
    ? Result.void
    : Result.fail(
        `${path}${FieldPath.formatTail([other])}: expected calls of id, type, name and arguments alone, found ${describeValue(object[other])}`,
      )
}

/** A text that is not blank, or undefined where there is nothing. */
export const decodeName = (value: unknown, path: string): Result.Result<string | undefined, string> => {
  if (isEmpty(value)) return Result.succeed(undefined)
  return typeof value === "string" && value.trim() !== "" && value.isWellFormed()
    ? Result.succeed(value)
    : Result.fail(`${path}: expected text, found ${describeValue(value)}`)
}

/** The calls of a message, which there is at least one of. The list, and arguments, may be there as JSON text. */
export const decode = (value: unknown, path: string): Result.Result<Arr.NonEmptyReadonlyArray<ToolCall>, string> => {
  const list = fromText(value)
  if (!Array.isArray(list)) return Result.fail(`${path}: expected a list of calls, found ${describeValue(value)}`)
  const calls: Array<ToolCall> = []
  for (const [i, call] of list.entries()) {
    const decoded = decodeCall(call, `${path}[${i}]`)
    if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
    calls.push(decoded.success)
  }
  return Arr.isReadonlyArrayNonEmpty(calls)
    ? Result.succeed(calls)
    : Result.fail(`${path}: expected a list of calls, found ${describeValue(value)}`)
}

/** The same of what may be a call alone, without a list. */
export const decodeOneOrMore = (value: unknown, path: string) => {
  const one = fromText(value)
  return isObject(one) ? Result.map(decodeCall(one, path), (call) => Arr.of(call)) : decode(value, path)
}

const decodeCall = (call: unknown, path: string): Result.Result<ToolCall, string> =>
  Result.gen(function* () {
    if (!isObject(call)) return yield* Result.fail(`${path}: expected a call, found ${describeValue(call)}`)
    const type = member(call, "type")
    if (!isEmpty(type) && type !== "function") {
      return yield* Result.fail(`${path}.type: expected "function", found ${describeValue(type)}`)
    }
    // As templates of chats read it, too: `{name, arguments}` without `function`.
    const isFlat = !isObject(member(call, "function")) && Object.hasOwn(call, "name")
    const of = isFlat ? call : member(call, "function")
    const at = isFlat ? path : `${path}.function`
    if (!isObject(of)) return yield* Result.fail(`${at}: expected name and arguments, found ${describeValue(of)}`)
    yield* knownAlone(call, isFlat ? ["id", "type", "name", "arguments"] : ["id", "type", "function", "index"], path)
    if (!isFlat) yield* knownAlone(of, ["name", "arguments"], at)
    const name = yield* decodeName(member(of, "name"), `${at}.name`)
    if (name === undefined) {
      return yield* Result.fail(`${at}.name: expected text, found ${describeValue(member(of, "name"))}`)
    }
    const id = yield* decodeName(member(call, "id"), `${path}.id`)
    const text = yield* decodeArguments(member(of, "arguments"), `${at}.arguments`)
    return { ...(id !== undefined && { id }), type: "function", function: { name, arguments: text } }
  })

const decodeArguments = (value: unknown, path: string): Result.Result<string, string> => {
  if (isEmpty(value)) return Result.succeed("{}")
  if (isObject(value)) {
    const problem = describeJsonProblem(value, path)
    return problem === undefined ? Result.succeed(JSON.stringify(value)) : Result.fail(problem)
  }
  return typeof value === "string" && value.isWellFormed() && isJsonObject(value)
    ? Result.succeed(value)
    : Result.fail(`${path}: expected an object, or its JSON text, found ${describeValue(value)}`)
}

/** Records have the definitions under this name. */
export const column = "tools"

/** The definitions of a record as JSON text; undefined where there are none, or the member says something else. */
const definitionsOf = (record: unknown, path: string): Result.Result<string | undefined, string> => {
  if (!isObject(record)) return Result.succeed(undefined)
  const value = member(record, column)
  // As in OpenAI's files.
  if (value === undefined && isObject(member(record, "input"))) return definitionsOf(record["input"], "input.tools")
  const list = fromText(value)
  if (!Array.isArray(list) || !list.some(isObject)) return Result.succeed(undefined)
  for (const [i, tool] of list.entries()) {
    const of = isObject(tool) && isObject(member(tool, "function")) ? tool["function"] : tool
    const name = isObject(of) ? member(of, "name") : undefined
    if (typeof name !== "string" || name.trim() === "") {
      const found = describeValue(isObject(of) ? name : of)
      return Result.fail(`${path}[${i}]: expected the definition of a function, with its name, found ${found}`)
    }
  }
  const problem = typeof value === "string" ? undefined : describeJsonProblem(list, path)
  if (problem !== undefined) return Result.fail(problem)
  const text = typeof value === "string" ? value : JSON.stringify(list)
  return text.isWellFormed()
    ? Result.succeed(text)
    : Result.fail(`${path}: expected well-formed Unicode, found a lone surrogate`)
}

/** Of a row of any layout. */
export const definitions = ({ value }: Pick<Row, "value">): Result.Result<Option.Option<string>, string> =>
  Result.map(definitionsOf(value, column), Option.fromUndefinedOr)

/** An item as it was read, with the definitions of its row's tools. */
export const addTo = (record: SourceRecord, row: Pick<Row, "place" | "value">): SourceRecord =>
  Result.flatMap(record, (source): SourceRecord => {
    const tools = definitionsOf(row.value, column)
    if (Result.isFailure(tools)) return reject(row.place, "invalid_shape", tools.failure)
    return tools.success === undefined
      ? Result.succeed(source)
      : Result.succeed({ ...source, item: { ...source.item, tools: tools.success } })
  })
