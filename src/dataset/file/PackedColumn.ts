/**
 * The values of a column in a few buffers, which go to another thread without being copied: all
 * texts as UTF-8 in one, one after another, and the length of each.
 *
 * Guarantees: `unpack` gives what `pack` was given, texts as UTF-8. Null is kept, but for a
 * struct, which becomes one of nulls.
 */
import { Record } from "effect"
import type { Feature, Json } from "./Features.ts"

export type PackedColumn =
  | { readonly type: "text"; readonly bytes: Uint8Array<ArrayBuffer>; readonly lengths: Int32Array<ArrayBuffer> }
  | { readonly type: "list"; readonly items: PackedColumn; readonly lengths: Int32Array<ArrayBuffer> }
  | { readonly type: "struct"; readonly members: { readonly [name: string]: PackedColumn }; readonly count: number }
  | { readonly type: "values"; readonly values: ReadonlyArray<Json> }

type Values = ReadonlyArray<Json | undefined>

/** Instead of a length. */
const isNull = -1

export const pack = (feature: Feature, values: Values): PackedColumn => {
  if (feature === "string") return packTexts(values)
  if (typeof feature === "string") return { type: "values", values: values.map((value) => value ?? null) }
  if ("struct" in feature) {
    const members = Record.map(feature.struct, (member, name) =>
      pack(
        member,
        values.map((value) => (isObject(value) ? value[name] : null)),
      ),
    )
    return { type: "struct", members, count: values.length }
  }
  const lengths = Int32Array.from(values, (value) => (Array.isArray(value) ? value.length : isNull))
  const items = values.flatMap((value): ReadonlyArray<Json> => (Array.isArray(value) ? value : []))
  return { type: "list", items: pack(feature.list, items), lengths }
}

const isObject = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const packTexts = (values: Values): PackedColumn => {
  const lengths = Int32Array.from(values, (value) => (typeof value === "string" ? Buffer.byteLength(value) : isNull))
  const bytes = Buffer.from(new ArrayBuffer(lengths.reduce((sum, length) => sum + Math.max(length, 0), 0)))
  let at = 0
  for (const value of values) if (typeof value === "string") at += bytes.write(value, at)
  return { type: "text", bytes: new Uint8Array(bytes.buffer), lengths }
}

export const unpack = (column: PackedColumn): Array<unknown> => {
  if (column.type === "values") return [...column.values]
  if (column.type === "struct") {
    const members = Record.toEntries(Record.map(column.members, unpack))
    return Array.from({ length: column.count }, (_, i) =>
      Object.fromEntries(members.map(([name, values]) => [name, values[i]])),
    )
  }
  let at = 0
  if (column.type === "text") {
    return Array.from(column.lengths, (length) =>
      length === isNull ? null : column.bytes.subarray(at, (at += length)),
    )
  }
  const items = unpack(column.items)
  return Array.from(column.lengths, (length) => (length === isNull ? null : items.slice(at, (at += length))))
}

export const buffersOf = (column: PackedColumn): ReadonlyArray<ArrayBuffer> => {
  switch (column.type) {
    case "text":
      return [column.bytes.buffer, column.lengths.buffer]
    case "list":
      return [column.lengths.buffer, ...buffersOf(column.items)]
    case "struct":
      return Record.values(column.members).flatMap(buffersOf)
    case "values":
      return []
  }
}
