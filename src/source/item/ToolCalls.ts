/** Decodes tool calls and definitions to JSON text. Tools that are not functions are refused. */
import { Array as Arr, Result } from "effect"
import { isJsonObject, type ToolCall } from "../../domain/Message.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { describeValue, isEmpty, isObject, memberOf, type Members } from "../../io/Values.ts"
import { fromText } from "../record/Field.ts"
import { describeJsonProblem } from "../../io/JsonProblem.ts"

export const isBlankValue = (value: unknown): boolean =>
  isEmpty(value) || (typeof value === "object" && Object.keys(value ?? {}).length === 0)

const requireKnown = (
  object: Members,
  knownMembers: ReadonlyArray<string>,
  path: string,
): Result.Result<void, string> => {
  const other = Object.keys(object).find((name) => !knownMembers.includes(name) && !isBlankValue(object[name]))
  return other === undefined
    ? Result.void
    : Result.fail(
        `${path}${FieldPath.formatTail([other])}: expected tool calls with only id, type, name, and arguments, found ${describeValue(object[other])}`,
      )
}

export const decodeName = (value: unknown, path: string): Result.Result<string | undefined, string> => {
  if (isEmpty(value)) return Result.succeed(undefined)
  return typeof value === "string" && value.trim() !== "" && value.isWellFormed()
    ? Result.succeed(value)
    : Result.fail(`${path}: expected text, found ${describeValue(value)}`)
}

export const decode = (value: unknown, path: string): Result.Result<Arr.NonEmptyReadonlyArray<ToolCall>, string> => {
  const list = fromText(value)
  if (!Array.isArray(list)) return Result.fail(`${path}: expected a list of tool calls, found ${describeValue(value)}`)
  return Result.filterOrFail(
    Result.all(list.map((call, i) => decodeCall(call, `${path}[${i}]`))),
    Arr.isArrayNonEmpty,
    () => `${path}: expected a list of tool calls, found ${describeValue(value)}`,
  )
}

export const decodeOneOrMore = (value: unknown, path: string) => {
  const one = fromText(value)
  return isObject(one) ? Result.map(decodeCall(one, path), (call) => Arr.of(call)) : decode(value, path)
}

const decodeCall = (call: unknown, path: string): Result.Result<ToolCall, string> =>
  Result.gen(function* () {
    if (!isObject(call)) return yield* Result.fail(`${path}: expected a tool call, found ${describeValue(call)}`)
    const type = memberOf(call, "type")
    if (!isEmpty(type) && type !== "function") {
      return yield* Result.fail(`${path}.type: expected "function", found ${describeValue(type)}`)
    }
    const isFlat = !isObject(memberOf(call, "function")) && Object.hasOwn(call, "name")
    const definition = isFlat ? call : memberOf(call, "function")
    const at = isFlat ? path : `${path}.function`
    if (!isObject(definition))
      return yield* Result.fail(`${at}: expected name and arguments, found ${describeValue(definition)}`)
    yield* requireKnown(call, isFlat ? ["id", "type", "name", "arguments"] : ["id", "type", "function", "index"], path)
    if (!isFlat) yield* requireKnown(definition, ["name", "arguments"], at)
    const name = yield* decodeName(memberOf(definition, "name"), `${at}.name`)
    if (name === undefined) {
      return yield* Result.fail(`${at}.name: expected text, found ${describeValue(memberOf(definition, "name"))}`)
    }
    const id = yield* decodeName(memberOf(call, "id"), `${path}.id`)
    const text = yield* decodeArguments(memberOf(definition, "arguments"), `${at}.arguments`)
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

export const column = "tools"

export const definitionsOf = (record: unknown, path = column): Result.Result<string | undefined, string> => {
  if (!isObject(record)) return Result.succeed(undefined)
  const value = memberOf(record, column)
  if (value === undefined && isObject(memberOf(record, "input"))) return definitionsOf(record["input"], "input.tools")
  const list = fromText(value)
  if (!Array.isArray(list) || !list.some(isObject)) return Result.succeed(undefined)
  for (const [i, tool] of list.entries()) {
    const definition = isObject(tool) && isObject(memberOf(tool, "function")) ? tool["function"] : tool
    const name = isObject(definition) ? memberOf(definition, "name") : undefined
    if (typeof name !== "string" || name.trim() === "") {
      const actual = describeValue(isObject(definition) ? name : definition)
      return Result.fail(`${path}[${i}]: expected a function definition with a name, found ${actual}`)
    }
  }
  const problem = typeof value === "string" ? undefined : describeJsonProblem(list, path)
  if (problem !== undefined) return Result.fail(problem)
  const text = typeof value === "string" ? value : JSON.stringify(list)
  return text.isWellFormed()
    ? Result.succeed(text)
    : Result.fail(`${path}: expected well-formed Unicode, found a lone surrogate`)
}
