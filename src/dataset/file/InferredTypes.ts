/**
 * Predicts the types that `load_dataset("json", …)` infers from the first 10 MB of the first file (datasets 5.0.1,
 * packaged_modules/json/json.py, utils/json.py, and table.py). `load_dataset` fails if a later row has another type,
 * or an object with a new member. Exception: from version 4.7, if a column's first objects differ in their members,
 * later objects may have new members. For older versions, `misfit` reports new members until it knows `maxMembers`.
 */
import { Text } from "./EncodedRow.ts"
import type { Features } from "./Features.ts"

type Kind = "boolean" | "integer" | "fraction" | "time" | "text" | "list" | "struct" | "any"

interface Type {
  kind?: Kind
  element?: Type
  members?: Map<string, Type>
  isVaried?: boolean
}

const maxMembers = 8

/** Arrow reads texts as timestamps if all texts of a column have this form. */
const time = /^\d{4}-\d\d-\d\d(?:[ T]\d\d(?::?\d\d){0,2}Z?)?$/
const maxTimeLength = 20

const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

const kindOf = (value: unknown): Kind => {
  if (value instanceof Text && value.bytes > maxTimeLength) return "text"
  const plain = value instanceof Text ? value.value : value
  if (typeof plain === "string") return plain.length <= maxTimeLength && time.test(plain) ? "time" : "text"
  if (typeof plain === "boolean") return "boolean"
  if (typeof plain === "number") return Number.isInteger(plain) ? "integer" : "fraction"
  return isList(plain) ? "list" : "struct"
}

const isWider = (kind: Kind, other: Kind): boolean =>
  (kind === "fraction" && other === "integer") || (kind === "text" && other === "time")

type Row = { readonly [column: string]: unknown }

export const make = (features: Features) => {
  const columns = new Map<string, Type>()
  for (const column in features) if (features[column] === "float64") columns.set(column, { kind: "fraction" })

  const meet = (type: Type, value: unknown, isLearning: boolean): boolean => {
    if (value === null || value === undefined || type.kind === "any") return true
    const kind = kindOf(value)
    if (type.kind === undefined) {
      if (isLearning) {
        type.kind = kind
        meetParts(type, value, true)
      }
      return false
    }
    if (type.kind === kind) return meetParts(type, value, isLearning)
    if (isWider(type.kind, kind)) return true
    if (isLearning) type.kind = isWider(kind, type.kind) ? kind : "any"
    return false
  }

  const meetParts = (type: Type, value: unknown, isLearning: boolean): boolean => {
    if (isList(value)) {
      const element = (type.element ??= {})
      return value.reduce<boolean>((fits, part) => meet(element, part, isLearning) && fits, true)
    }
    return typeof value === "object" && value !== null && type.kind === "struct"
      ? meetMembers(type, value, isLearning)
      : true
  }

  const meetMembers = (type: Type, value: object, isLearning: boolean): boolean => {
    const isFirst = type.members === undefined
    const members = (type.members ??= new Map())
    const entries = Object.entries(value).filter(([, member]) => member !== undefined)
    const isSame = isFirst || (entries.length === members.size && entries.every(([name]) => members.has(name)))
    let fits = isSame || type.isVaried === true
    if (isLearning && !isSame) type.isVaried = true
    for (const [name, member] of entries) {
      if (!members.has(name)) {
        if (type.isVaried === true && members.size >= maxMembers) continue
        if (!isFirst) fits = false
        if (!isLearning) return false
        members.set(name, {})
      }
      fits = meet(members.get(name)!, member, isLearning) && fits
    }
    return fits
  }

  const misfit = (row: Row, isLearning: boolean): string | undefined => {
    let first: string | undefined
    for (const column in row) {
      let type = columns.get(column)
      if (type === undefined) columns.set(column, (type = {}))
      if (!meet(type, row[column], isLearning)) first ??= column
    }
    return first
  }

  return {
    misfit: (row: Row) => misfit(row, false),
    learn: (row: Row) => void misfit(row, true),
  }
}

const inferredBytes = 10 * 1024 * 1024

export const inOrder = (features: Features): ((row: Row, line: string) => string | undefined) => {
  const types = make(features)
  let bytes = 0
  return (row, line) => {
    if (bytes >= inferredBytes) return types.misfit(row)
    bytes += Buffer.byteLength(line) + 1
    types.learn(row)
    return undefined
  }
}

export const expected =
  "only types and members that occur in the first 10 MB of the file (`load_dataset` infers all types from this part)"
