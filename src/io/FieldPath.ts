/**
 * Where a value stands in a record: `id`, `turns[0].content`, `["odd key"].x`.
 *
 * Guarantees: only a record's own members are followed, names in objects and
 * indexes in arrays, so that no path reaches into a prototype or asks a text for
 * its length. What is not there is `undefined`.
 *
 * Not supported: wildcards, negative indexes, filters.
 */
import { Result } from "effect"

export interface FieldPath {
  /** As it was written. */
  readonly text: string
  /** Names of members and indexes, the outermost first. */
  readonly keys: ReadonlyArray<string | number>
  readonly get: (record: unknown) => unknown
}

const segment =
  /(?:^|(?<!^)\.)([^\s.[\]"]+)|\[(\d+)\]|\[("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\]/y

/** The failure says what is wrong with the text, and where. */
export const parse = (text: string): Result.Result<FieldPath, string> => {
  const keys: Array<string | number> = []
  segment.lastIndex = 0
  let at = 0
  do {
    const match = segment.exec(text)
    if (match === null) {
      const found = at < text.length ? JSON.stringify(text.slice(at, at + 20)) : "nothing"
      return Result.fail(
        `not a field path: ${JSON.stringify(text)}: expected ${at === 0 ? "name" : ".name"}, [0] or ["name"] at character ${at + 1}, found ${found}`,
      )
    }
    const [, name, index, quoted] = match
    keys.push(index !== undefined ? Number(index) : quoted !== undefined ? JSON.parse(quoted) : name)
    at = segment.lastIndex
  } while (at < text.length)
  return Result.succeed({ text, keys, get: (record) => followAll(record, keys) })
}

export const followAll = (value: unknown, keys: ReadonlyArray<PropertyKey>): unknown => keys.reduce(follow, value)

const follow = (value: unknown, key: PropertyKey): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value) !== (typeof key === "number"))
    return undefined
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}

/** Keys as the text that `parse` reads; names with braces in quotes, which would be a template's (`Field`). */
export const format = (keys: ReadonlyArray<PropertyKey>): string => formatTail(keys).replace(/^\./, "")

/** Keys as what follows another path. */
export const formatTail = (keys: ReadonlyArray<PropertyKey>): string =>
  keys
    .map((key) => {
      if (typeof key === "number") return `[${key}]`
      const name = String(key)
      return /^[^\s.[\]"{}]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
    })
    .join("")
