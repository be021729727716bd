/**
 * An unknown value to a `SourceRecord`: the one gate through which items of every layout pass.
 *
 * Guarantees: an item satisfies `PromptItem`, and its metadata can be written as
 * JSON and read by any JSON reader. A reject's reason is one line: the field's
 * path, what was expected, what was found. Members that `PromptItem` does not have
 * are left out.
 */
import { Result, Schema, SchemaIssue } from "effect"
import { SchemaJITCompiler } from "effect/schema"
import * as IdLimit from "../domain/IdLimit.ts"
import { PromptItem } from "../domain/PromptItem.ts"
import { FilledText } from "../domain/Text.ts"
import * as FieldPath from "./layout/FieldPath.ts"
import { originOf, type Place, reject } from "./Row.ts"
import type { SourceRecord } from "./SourceRecord.ts"

SchemaJITCompiler.enable(PromptItem.ast)

const parseItem = Schema.decodeUnknownResult(PromptItem, { reportInput: true })
const parseText = Schema.decodeUnknownResult(FilledText, { reportInput: true })

/** What the members of an item are called in the file, where it is not their own name. */
export type MemberNames = { readonly [Member in keyof PromptItem]?: string }

/**
 * `value.id` may be text or a safe integer. An optional member that is null counts as
 * absent: that is how tables are exported.
 */
export const decode = (value: unknown, place: Place, names: MemberNames = {}): SourceRecord => {
  const named = withTextId(withoutNulls(value), names)
  if (Result.isFailure(named)) return reject(place, "invalid_shape", named.failure)
  const item = parseItem(named.success)
  if (Result.isFailure(item)) return reject(place, "invalid_shape", describeIssue(item.failure.issue, names))
  const problem = jsonProblem(item.success.metadata)
  return problem === undefined
    ? Result.succeed({ item: item.success, origin: originOf(place) })
    : reject(place, "invalid_shape", `${names.metadata ?? "metadata"}: ${problem}`)
}

/** A prompt's or completion's text; the failure is the reason, and names `path`. */
export const decodeText = (value: unknown, path: string): Result.Result<string, string> =>
  Result.mapError(parseText(value), (error) => `${path}: ${firstProblem(error.issue).message}`)

/**
 * A key as text: a safe integer counts as its decimal digits. NUL is refused, which
 * databases cannot keep in text. The failure is the reason, and names `path`.
 */
export const decodeKey = (value: unknown, path: string): Result.Result<string, string> => {
  if (Number.isSafeInteger(value)) return Result.succeed(String(value))
  if (typeof value !== "string")
    return Result.fail(`${path}: expected a string or a safe integer, found ${describe(value)}`)
  if (value.includes("\0")) return Result.fail(`${path}: expected text without NUL, found ${describe(value)}`)
  return decodeText(value, path)
}

/** An item's id: a key that is no longer than a ledger's index takes. */
const decodeId = (value: unknown, path: string): Result.Result<string, string> =>
  Result.filterOrFail(
    decodeKey(value, path),
    IdLimit.fits,
    () => `${path}: expected at most ${IdLimit.limit} of text, found ${describe(value)}`,
  )

export const isObject = (value: unknown): value is { readonly [member: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const withoutNulls = (value: unknown): unknown => {
  if (!isObject(value)) return value
  const { gold } = value
  const noRationale = isObject(gold) && gold["rationale"] === null
  if (value["id"] !== null && gold !== null && value["metadata"] !== null && !noRationale) return value
  const withGold = noRationale ? { ...value, gold: withoutNull(gold) } : value
  return withoutNull(withGold)
}

const withoutNull = (object: { readonly [member: string]: unknown }) =>
  Object.fromEntries(Object.entries(object).filter(([, member]) => member !== null))

const withTextId = (value: unknown, names: MemberNames): Result.Result<unknown, string> =>
  isObject(value) && Object.hasOwn(value, "id")
    ? Result.map(decodeId(value["id"], names.id ?? "id"), (id) => (id === value["id"] ? value : { ...value, id }))
    : Result.succeed(value)

const describe = (value: unknown): string => {
  if (value === undefined) return "nothing"
  if (Array.isArray(value)) return "an array"
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value)
  if (typeof value !== "string") return typeof value === "object" ? "an object" : `a ${typeof value}`
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
}

const expectedTypes: { readonly [tag: string]: string } = {
  Arrays: "an array",
  Number: "a number",
  Objects: "an object",
  String: "a string",
}

const found = (issue: SchemaIssue.Issue): string =>
  `found ${describe(SchemaIssue.hasInput(issue) ? issue.input : undefined)}`

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    if (issue._tag === "MissingKey") return "expected a value, found nothing"
    if (issue._tag === "InvalidType")
      return `expected ${expectedTypes[issue.ast._tag] ?? issue.ast._tag}, ${found(issue)}`
    return SchemaIssue.defaultLeafHook(issue)
  },
  checkHook: (issue) => {
    const expected = issue.filter.annotations?.expected
    return (
      SchemaIssue.defaultCheckHook(issue) ??
      (expected === undefined ? undefined : `expected ${expected}, ${found(issue)}`)
    )
  },
})

const firstProblem = (
  issue: SchemaIssue.Issue,
): { readonly path: ReadonlyArray<PropertyKey>; readonly message: string } => {
  const [first] = formatIssue(issue).issues
  return {
    path: (first?.path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment)),
    message: first?.message ?? "invalid",
  }
}

const describeIssue = (issue: SchemaIssue.Issue, names: MemberNames): string => {
  const { path, message } = firstProblem(issue)
  const [member, ...rest] = path
  if (member === undefined) return message
  const name = (names as { readonly [member: PropertyKey]: string | undefined })[member]
  return `${name === undefined ? FieldPath.format(path) : name + FieldPath.formatTail(rest)}: ${message}`
}

/** Readers of JSON give up at depths from about 100 on, and so does the engine's own writer at some thousands. */
const maxDepth = 100

/** Why a value cannot be written as JSON and read again; it may come from a program, so it may even hold itself. */
const jsonProblem = (value: unknown, depth = 0): string | undefined => {
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") {
    return `expected values that JSON has, found a ${typeof value}`
  }
  if (
    typeof value === "number" &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
  ) {
    return `expected numbers that keep their digits, up to 2^53, or text, found ${value}`
  }
  if (typeof value !== "object" || value === null) return undefined
  if (depth === maxDepth) return `expected at most ${maxDepth} levels of nesting, found more`
  for (const member of Object.values(value)) {
    const problem = jsonProblem(member, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}
