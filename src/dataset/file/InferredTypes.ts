/**
 * The types that `load_dataset("json", …)` infers: from the first 10 MB of the first file (datasets 5.0.1,
 * packaged_modules/json/json.py, utils/json.py and table.py). It fails at a later row with a type or a member that
 * they lack: a text after nothing but nulls, or `tool_calls` after messages without them.
 *
 * Objects whose members differ get the type Json (since 4.7), and keep what each of them has; a type with nulls for
 * what an object lacks (before 4.7, or if the first 10 MB show no difference) needs each member there. Both are
 * demanded of objects with up to 8 different members, as messages are. Others, such as arguments, can only be Json.
 */
import { Text } from "./EncodedRow.ts"
import type { Features } from "./Features.ts"

type Kind = "boolean" | "integer" | "fraction" | "time" | "text" | "list" | "struct" | "any"

/** Without a kind, all values so far were null. */
interface Type {
  kind?: Kind
  element?: Type
  members?: Map<string, Type>
  isVaried?: boolean
}

const maxMembers = 8

/** Arrow takes such texts for timestamps if all of a column are. */
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

/** Values of the second kind are read as the first. */
const isWider = (kind: Kind, other: Kind): boolean =>
  (kind === "fraction" && other === "integer") || (kind === "text" && other === "time")

type Row = { readonly [column: string]: unknown }

export interface InferredTypes {
  /** The first column that can't be read after the rows that were learned. */
  readonly misfit: (row: Row) => string | undefined
  readonly learn: (row: Row) => void
}

export const make = (features: Features): InferredTypes => {
  const columns = new Map<string, Type>()
  // JsonLine writes each number of such a column with a point.
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

  return { misfit: (row) => misfit(row, false), learn: (row) => void misfit(row, true) }
}

/** What `datasets` reads at once. */
const inferredBytes = 10 * 1024 * 1024

/** For the rows of a file in order: the first column that `datasets` can't read. */
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

/** For findings. */
export const expected = "types and members that the first 10 MB show, from which datasets takes the types of all rows"
