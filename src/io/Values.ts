/** Formats values and lists for messages: short, well-formed Unicode. */
import { Record, Struct } from "effect"

const maxShownCharacters = 60

export const describeValue = (value: unknown): string => {
  if (value === undefined) return "nothing"
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array"
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value)
  if (typeof value !== "string") return typeof value === "object" ? "an object" : `a ${typeof value}`
  return JSON.stringify(shorten(value, maxShownCharacters))
}

export const shorten = (text: string, maxCharacters: number): string =>
  text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).toWellFormed()}…`

export const excerpt = (text: string, maxCharacters: number): string => {
  const start = onOneLine(text.slice(0, 2 * maxCharacters))
  return shorten(start.length > maxCharacters ? start : onOneLine(text), maxCharacters)
}

const onOneLine = (text: string): string => text.replace(/\s{2,}|[^\S ]/g, " ").trim()

export const number = (n: number): string => n.toLocaleString("en-US")

export const plural = (n: number, one: string, many = `${one}s`): string => (n === 1 ? one : many)

export const count = (n: number, one: string, many?: string): string => `${number(n)} ${plural(n, one, many)}`

export const joinWords = (words: ReadonlyArray<string>, conjunction: "and" | "or" = "and"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`

export const quoteNames = (names: ReadonlyArray<string>, conjunction?: "and" | "or"): string =>
  joinWords(
    names.map((name) => JSON.stringify(name)),
    conjunction,
  )

export const causeMessage = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

export const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export type Members = { readonly [member: string]: unknown }

export const memberOf = (object: Members, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined

export const defined = <A extends object>(members: A): { readonly [Name in keyof A]?: Exclude<A[Name], undefined> } =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the filter leaves out undefined members
  Struct.pick(
    members,
    Struct.keys(members).filter((name) => members[name] !== undefined),
  ) as never

export const nonNullish = <A extends object>(members: A): { readonly [Name in keyof A]?: NonNullable<A[Name]> } =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the filter leaves out null and undefined
  defined(Record.map({ ...members }, (value) => value ?? undefined)) as never

export const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === ""
