/**
 * Rows whose texts are encoded, since several files have the same text, and rows repeat it: the pairs of an item share its
 * prompt.
 *
 * Guarantees: an encoder remembers texts of 8 MB; it encodes again what it does not remember.
 */
import { Record } from "effect"
import type { Json, JsonRow } from "./Features.ts"

/** A text as Parquet and JSON Lines have it. */
export class Text {
  readonly value: string
  /** As UTF-8. */
  readonly bytes: number
  #json: string | undefined

  constructor(value: string) {
    this.value = value
    this.bytes = Buffer.byteLength(value)
  }

  /** In quotes, with escapes. */
  get json(): string {
    return (this.#json ??= JSON.stringify(this.value))
  }
}

export type Cell = Text | number | boolean | null | ReadonlyArray<Cell> | Members
export type Members = { readonly [name: string]: Cell }

export interface EncodedRow {
  readonly columns: Members
  /** In memory as Arrow has it, in bytes: text as UTF-8, and 4 for the offset of each text and list. */
  readonly size: number
}

/** Much cheaper than a hash of all units. Of several texts with the same key, the last one is remembered. */
const keyOf = (text: string): number => {
  const { length } = text
  let key = length
  for (let i = 1; i <= 7; i++) key = (Math.imul(key, 31) + text.charCodeAt((length * i) >> 3)) | 0
  return key
}

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

export type Encode = (row: JsonRow) => EncodedRow

const maxRememberedBytes = 8 * 1024 * 1024

export const encoder = (): Encode => {
  const texts = new Map<number, Text>()
  let remembered = 0
  let size = 0

  const textOf = (value: string): Text => {
    const key = keyOf(value)
    const known = texts.get(key)
    if (known?.value === value) return known
    const text = new Text(value)
    remembered += text.bytes
    if (remembered > maxRememberedBytes) {
      texts.clear()
      remembered = text.bytes
    }
    texts.set(key, text)
    return text
  }

  /** Of a format that no compiler has checked: as for `JSON.stringify`, `undefined` is no member. */
  const membersOf = (value: { readonly [name: string]: Json | undefined }): Cell =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name, cellOf(member)]])),
    )

  const cellOf = (value: Json): Cell => {
    if (typeof value === "string") {
      const text = textOf(value)
      size += 4 + text.bytes
      return text
    }
    size += typeof value === "number" ? 8 : 4
    if (typeof value !== "object" || value === null) return value
    return isList(value) ? value.map((member) => cellOf(member ?? null)) : membersOf(value)
  }

  return (row) => {
    size = 0
    const columns = Record.map(row, cellOf)
    return { columns, size }
  }
}
