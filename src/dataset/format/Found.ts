/**
 * A value as a message shows it: one line, short, whatever the value is.
 */

const shown = 60

export const describe = (value: unknown): string => {
  if (value === undefined) return "nothing"
  if (Array.isArray(value)) return value.length === 1 ? "a list of 1" : `a list of ${value.length}`
  if (typeof value === "string")
    return JSON.stringify(value.length > shown ? `${value.slice(0, shown).toWellFormed()}…` : value)
  return typeof value === "number" || typeof value === "boolean" || value === null ? String(value) : "an object"
}

/** `prompt[0].role`; a column that is no plain name stands in quotes. */
export const formatPath = (path: ReadonlyArray<PropertyKey>): string =>
  path
    .map((key, i) => {
      if (typeof key === "number") return `[${key}]`
      const name = String(key)
      if (!/^\w+$/.test(name)) return `[${JSON.stringify(name)}]`
      return i === 0 ? name : `.${name}`
    })
    .join("")
