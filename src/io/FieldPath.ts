/** The path of a value in a record, such as `turns[0].content` or `["odd key"].x`. A missing value is `undefined`. */
import { Result } from "effect"

export interface FieldPath {
  readonly text: string
  readonly keys: ReadonlyArray<string | number>
  readonly get: (record: unknown) => unknown
}

const segment =
  /(?:^|(?<!^)\.)([^\s.[\]"]+)|\[(\d+)\]|\[("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\]/y

export const parse = (text: string): Result.Result<FieldPath, string> => {
  const keys: Array<string | number> = []
  segment.lastIndex = 0
  let at = 0
  do {
    const match = segment.exec(text)
    if (match === null) {
      const actual = at < text.length ? JSON.stringify(text.slice(at, at + 20)) : "nothing"
      return Result.fail(
        `not a field path: ${JSON.stringify(text)}: expected ${at === 0 ? "name" : ".name"}, [0] or ["name"] at character ${at + 1}, found ${actual}`,
      )
    }
    const [, name, index, quoted] = match
    keys.push(index !== undefined ? Number(index) : quoted !== undefined ? JSON.parse(quoted) : name)
    at = segment.lastIndex
  } while (at < text.length)
  return Result.succeed({ text, keys, get: (record) => followAll(record, keys) })
}

export const textAt = ({ get }: FieldPath, record: unknown): string | null => {
  const value = get(record) ?? null
  return value === null || typeof value === "string" ? value : JSON.stringify(value)
}

export const followAll = (value: unknown, keys: ReadonlyArray<PropertyKey>): unknown => keys.reduce(follow, value)

const follow = (value: unknown, key: PropertyKey): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value) !== (typeof key === "number"))
    return undefined
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}

/** Names with braces are quoted, because `Field` would read braces as a template. */
export const format = (keys: ReadonlyArray<PropertyKey>): string => formatTail(keys).replace(/^\./, "")

export const formatTail = (keys: ReadonlyArray<PropertyKey>): string =>
  keys
    .map((key) => {
      if (typeof key === "number") return `[${key}]`
      const name = String(key)
      return /^[^\s.[\]"{}]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
    })
    .join("")
