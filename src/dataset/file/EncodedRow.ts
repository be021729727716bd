/** Encodes a text only once if several files contain it. An encoder remembers up to 8 MiB of texts. */
import type { Json } from "./Features.ts"
import * as JsonText from "../../domain/JsonText.ts"

export abstract class Text {
  abstract readonly bytes: number
  abstract readonly value: string
  abstract readonly json: string
  readonly jsonBytes: Uint8Array | undefined = undefined
  /** The Parquet writer sets `group` to the row group, and `index` to the text's zero-based number in the group. */
  group: symbol | undefined = undefined
  index = 0
  abstract writeTo(buffer: Buffer, at: number): void
}

class StringText extends Text {
  readonly value: string
  readonly bytes: number
  #json: string | undefined

  constructor(value: string) {
    super()
    this.value = value
    this.bytes = Buffer.byteLength(value)
  }

  get json(): string {
    return (this.#json ??= JSON.stringify(this.value))
  }

  writeTo(buffer: Buffer, at: number): void {
    buffer.write(this.value, at)
  }
}

export class BytesText extends Text {
  override readonly jsonBytes: Uint8Array
  readonly bytes: number

  constructor(json: Uint8Array) {
    super()
    this.jsonBytes = json
    this.bytes = JsonText.byteLength(json)
  }

  get json(): string {
    return Buffer.from(this.jsonBytes.buffer, this.jsonBytes.byteOffset, this.jsonBytes.length).toString()
  }

  get value(): string {
    return JsonText.decode(Buffer.from(this.jsonBytes), [0, this.jsonBytes.length])
  }

  writeTo(buffer: Buffer, at: number): void {
    JsonText.unescape(this.jsonBytes, buffer, at)
  }
}

export type Cell = Text | number | boolean | null | ReadonlyArray<Cell> | Members
export type Members = { readonly [name: string]: Cell }

export interface EncodedRow {
  readonly columns: Members
  /** Size in Arrow, in bytes: texts in UTF-8, and a 4-byte offset for each text and list. */
  readonly size: number
}

/** Faster than a hash of the whole text. Different texts can have the same key, so `textOf` compares the texts. */
const keyOf = (text: string): number => {
  const { length } = text
  let key = length
  for (let i = 1; i <= 7; i++) key = (Math.imul(key, 31) + text.charCodeAt((length * i) >> 3)) | 0
  return key
}

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

export type Encode = (row: { readonly [column: string]: Json | Text | undefined }) => EncodedRow

const maxRememberedBytes = 8 * 1024 * 1024

const textBytes = 200

/** A plain assignment to `__proto__` would set the prototype, not a member. */
export const setMember = <A>(members: { [name: string]: A }, name: string, value: A): void => {
  if (name === "__proto__")
    Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
  else members[name] = value
}

export const encoder = (): Encode => {
  const texts = new Map<number, Text>()
  let remembered = 0
  let size = 0

  const textOf = (value: string): Text => {
    const key = keyOf(value)
    const sameKeyText = texts.get(key)
    if (sameKeyText?.value === value) return sameKeyText
    const text = new StringText(value)
    remembered += text.bytes + textBytes
    if (remembered > maxRememberedBytes) {
      texts.clear()
      remembered = text.bytes + textBytes
    }
    texts.set(key, text)
    return text
  }

  /** Leaves out `undefined` members, like `JSON.stringify`. Custom formats in JavaScript can return such members. */
  const membersOf = (value: { readonly [name: string]: Json | Text | undefined }): Members => {
    const members: { [name: string]: Cell } = {}
    for (const name of Object.keys(value)) {
      const member = value[name]
      if (member !== undefined) setMember(members, name, cellOf(member))
    }
    return members
  }

  const cellOf = (value: Json | Text): Cell => {
    if (typeof value === "string" || value instanceof Text) {
      const text = typeof value === "string" ? textOf(value) : value
      size += 4 + text.bytes
      return text
    }
    size += typeof value === "number" ? 8 : 4
    if (typeof value !== "object" || value === null) return value
    return isList(value) ? value.map((member) => cellOf(member ?? null)) : membersOf(value)
  }

  return (row) => {
    size = 0
    const columns = membersOf(row)
    return { columns, size }
  }
}
