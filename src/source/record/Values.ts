/**
 * What was found, in the words of a reject: short, on one line, whatever it is.
 */

/** `nothing`, `null`, `12`, `an array`, `an object`, `"text, cut after 60 characters…"`. */
export const describe = (value: unknown): string => {
  if (value === undefined) return "nothing"
  if (Array.isArray(value)) return "an array"
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value)
  if (typeof value !== "string") return typeof value === "object" ? "an object" : `a ${typeof value}`
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
}

/** Commas, and an `and` before the last. */
export const list = (names: ReadonlyArray<string>, word = "and"): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`

export const isObject = (value: unknown): value is { readonly [member: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What is taken for not there: absent, null, or text without a character. */
export const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ""
