/** One message per path: `expected …`, with `found …` if the decoder ran with `reportInput`. */
import { SchemaIssue } from "effect"
import * as FieldPath from "./FieldPath.ts"
import { describeValue } from "./Values.ts"

export interface SchemaProblem {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

const expectedTypes: { readonly [tag: string]: string } = {
  Arrays: "an array",
  Boolean: "true or false",
  Number: "a number",
  Objects: "an object",
  String: "a string",
}

export const expectedOf = (issue: SchemaIssue.Leaf): string | undefined => {
  if (issue._tag === "MissingKey") return "a value"
  if (issue._tag === "UnexpectedKey") return "no field with this name"
  if (issue._tag !== "InvalidType") return undefined
  return issue.ast._tag === "Literal"
    ? describeValue(issue.ast.literal)
    : (expectedTypes[issue.ast._tag] ?? issue.ast._tag)
}

const describeInput = (issue: SchemaIssue.Issue): string => {
  if (issue._tag === "MissingKey") return ", found nothing"
  return SchemaIssue.hasInput(issue) ? `, found ${describeValue(issue.input)}` : ""
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    const expected = expectedOf(issue)
    return expected === undefined ? SchemaIssue.defaultLeafHook(issue) : `expected ${expected}${describeInput(issue)}`
  },
  checkHook: (issue) => {
    const expected = issue.filter.annotations?.expected
    return (
      SchemaIssue.defaultCheckHook(issue) ??
      (typeof expected === "string" ? `expected ${expected}${describeInput(issue)}` : undefined)
    )
  },
})

export const problems = (issue: SchemaIssue.Issue): ReadonlyArray<SchemaProblem> =>
  format(issue).issues.map(({ message, path }) => ({
    // The hooks above do not run for unions and JSON. Effect's own message is `Expected number | null, got "B"`.
    message: message.replace(
      /^Expected (.+?), got (.*)$/s,
      (_, types: string, value: string) =>
        `expected ${types.replaceAll(" | ", " or ")}, found ${value.length > 200 ? `${value.slice(0, 200)} …` : value}`,
    ),
    path: keysOf(path),
  }))

export const describe = (issue: SchemaIssue.Issue): string =>
  problems(issue)
    .map(({ message, path }) => (path.length === 0 ? message : `${FieldPath.format(path)}: ${message}`))
    .join("; ")

export const keysOf = (
  path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> = [],
): ReadonlyArray<PropertyKey> => path.map((segment) => (typeof segment === "object" ? segment.key : segment))
