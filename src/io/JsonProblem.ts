/** Says why a value cannot be written as JSON and read again. Terminates even if a value contains itself. */
import * as FieldPath from "./FieldPath.ts"

/** Some JSON readers fail at about 100 levels of nesting. `JSON.stringify` fails at a few thousand levels. */
export const maxDepth = 100

export interface JsonProblem {
  readonly keys: ReadonlyArray<string | number>
  readonly message: string
}

export const jsonProblem = (value: unknown): JsonProblem | undefined => problemOf(value, scalarProblem)

export const describeJsonProblem = (value: unknown, path: string): string | undefined =>
  describe(jsonProblem(value), path)

export const depthProblem = (value: unknown, path: string): string | undefined =>
  describe(
    problemOf(value, () => undefined),
    path,
  )

const describe = (problem: JsonProblem | undefined, path: string): string | undefined =>
  problem && `${path}${FieldPath.formatTail(problem.keys)}: ${problem.message}`

type ScalarProblem = (value: unknown) => string | undefined

const tooDeep: JsonProblem = { keys: [], message: `expected at most ${maxDepth} levels of nesting, found more` }

const problemOf = (value: unknown, scalarProblem: ScalarProblem, depth = 0): JsonProblem | undefined => {
  const message = scalarProblem(value)
  if (message !== undefined) return { keys: [], message }
  if (typeof value !== "object" || value === null) return undefined
  if (depth === maxDepth) return tooDeep
  for (const key of Object.keys(value)) {
    const problem = problemOf(Reflect.get(value, key), scalarProblem, depth + 1)
    if (problem === tooDeep) return problem
    if (problem !== undefined) return { ...problem, keys: [Array.isArray(value) ? Number(key) : key, ...problem.keys] }
  }
  return undefined
}

const scalarProblem: ScalarProblem = (value) => {
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") {
    return `expected a JSON value, found a ${typeof value}`
  }
  return typeof value === "number" &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    ? `expected a finite number (write integers above 2^53 as text), found ${value}`
    : undefined
}
