/**
 * Why a value cannot be written as JSON and read again.
 *
 * Guarantees: ends for every value; it may come from a program, so it may even hold itself.
 */
import * as FieldPath from "./FieldPath.ts"

/** Readers of JSON give up at depths from about 100 on, and so does the engine's own writer at some thousands. */
const maxDepth = 100

/** The reason, which names `path` and what follows it; undefined if there is none. */
export const jsonProblem = (value: unknown, path: string): string | undefined => problemAt(value, path, scalarProblem)

/** The same of parsed JSON, in which any number is fine. */
export const depthProblem = (value: unknown, path: string): string | undefined =>
  problemAt(value, path, () => undefined)

type ScalarProblem = (value: unknown) => string | undefined

const problemAt = (value: unknown, path: string, scalarProblem: ScalarProblem): string | undefined => {
  const problem = findJsonProblem(value, 0, scalarProblem)
  return problem === undefined ? undefined : `${path}${FieldPath.formatTail(problem.keys ?? [])}: ${problem.message}`
}

interface JsonProblem {
  /** Not told of what is nested too deep, since the path would be as long. */
  readonly keys: ReadonlyArray<string | number> | undefined
  readonly message: string
}

const findJsonProblem = (value: unknown, depth: number, scalarProblem: ScalarProblem): JsonProblem | undefined => {
  const message = scalarProblem(value)
  if (message !== undefined) return { keys: [], message }
  if (typeof value !== "object" || value === null) return undefined
  if (depth === maxDepth)
    return { keys: undefined, message: `expected at most ${maxDepth} levels of nesting, found more` }
  for (const key of Object.keys(value)) {
    const problem = findJsonProblem(Reflect.get(value, key), depth + 1, scalarProblem)
    if (problem !== undefined) {
      return { ...problem, keys: problem.keys && [Array.isArray(value) ? Number(key) : key, ...problem.keys] }
    }
  }
  return undefined
}

const scalarProblem: ScalarProblem = (value) => {
  if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") {
    return `expected values that JSON has, found a ${typeof value}`
  }
  return typeof value === "number" &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    ? `expected numbers that keep their digits, up to 2^53, or text, found ${value}`
    : undefined
}
