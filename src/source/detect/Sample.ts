/** The members of the first records, in order of first occurrence, with the kinds of their values. */
import type { Row } from "../record/Row.ts"
import { fromText } from "../record/Field.ts"
import * as FieldPath from "../../io/FieldPath.ts"
import { isEmpty, isObject, type Members } from "../../io/Values.ts"
import * as KnownNames from "../record/KnownNames.ts"
import * as Messages from "../item/Messages.ts"

export type Kind = "text" | "number" | "boolean" | "message" | "messages" | "texts" | "objects" | "object" | "other"

export interface Member {
  readonly name: string
  readonly path: string
  readonly plainName: string
  readonly values: ReadonlyArray<unknown>
  readonly kinds: ReadonlySet<Kind>
  readonly isTextual: boolean
}

export interface Sample {
  readonly records: ReadonlyArray<Members>
  readonly rows: ReadonlyArray<Row>
  readonly isTextual: boolean
  readonly members: ReadonlyArray<Member>
}

export const of = (all: ReadonlyArray<Row>): Sample => {
  const rows = all.filter(({ value }) => isObject(value))
  const isTextual = rows.some((row) => row.isTextual === true)
  const records = rows.flatMap(({ value }) => (isObject(value) ? [isTextual ? withCells(value) : value] : []))
  const valuesOf = new Map<string, Array<unknown>>()
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      const values = valuesOf.get(name) ?? []
      valuesOf.set(name, values)
      if (!isEmpty(value)) values.push(value)
    }
  }
  const members = [...valuesOf].map(([name, values]) => ({
    name,
    path: FieldPath.format([name]),
    plainName: plain(name),
    values,
    kinds: new Set(values.map(kindOf)),
    isTextual,
  }))
  return { records, rows, isTextual, members }
}

export const plain = KnownNames.plain

const withCells = (record: Members): Members =>
  Object.fromEntries(Object.entries(record).map(([name, cell]) => [name, fromText(cell)]))

export const kindOf = (value: unknown): Kind => {
  if (typeof value === "string") return "text"
  if (typeof value === "number") return "number"
  if (typeof value === "boolean") return "boolean"
  if (Messages.isMessageLike(value)) return "message"
  if (isObject(value)) return "object"
  if (Messages.isList(value)) return "messages"
  if (!Array.isArray(value) || value.length === 0) return "other"
  if (value.every((element) => typeof element === "string")) return "texts"
  return value.every(isObject) ? "objects" : "other"
}

export const find = (
  { members }: Sample,
  names: ReadonlyArray<string>,
  kinds: ReadonlyArray<Kind>,
): Member | undefined => findAll(members, names, kinds)[0]

export const findAll = (
  members: ReadonlyArray<Member>,
  names: ReadonlyArray<string>,
  kinds: ReadonlyArray<Kind>,
): ReadonlyArray<Member> => named(members, names).filter((member) => has(member, kinds))

export const named = (members: ReadonlyArray<Member>, names: ReadonlyArray<string>): ReadonlyArray<Member> =>
  names.flatMap((name) => members.filter(({ plainName }) => plainName === name))

export const has = ({ isTextual, values }: Member, kinds: ReadonlyArray<Kind>): boolean =>
  (isTextual && values.length > 0 && kinds.includes("text")) ||
  values.filter((value) => kinds.includes(kindOf(value))).length * 2 > values.length

export const nestedTexts = ({ records }: Sample): ReadonlyArray<string> => {
  const texts = pathsIn(records[0], []).filter(({ keys }) => keys.length > 1)
  return texts
    .toSorted((a, b) => b.length - a.length)
    .slice(0, 2)
    .map(({ keys }) => FieldPath.format(keys))
}

const pathsIn = (
  value: unknown,
  keys: ReadonlyArray<string | number>,
): ReadonlyArray<{ readonly keys: ReadonlyArray<string | number>; readonly length: number }> => {
  if (typeof value === "string") return value.length < 16 ? [] : [{ keys, length: value.length }]
  if (typeof value !== "object" || value === null || keys.length > 6) return []
  const entries = Array.isArray(value) ? [[0, value[0]] as const] : Object.entries(value).slice(0, 50)
  return entries.flatMap(([key, member]) => pathsIn(member, [...keys, key]))
}
