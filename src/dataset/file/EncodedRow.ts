/**
 * Encodes the texts of rows. Each text is encoded once and shared, because several files have the same text and the
 * pairs of an item share its prompt.
 *
 * Guarantees: an encoder remembers up to 8 MB of texts. It encodes a forgotten text again.
 */
import type { Json } from "./Features.ts"
import * as JsonText from "../../domain/JsonText.ts"

/** A text in the forms that Parquet and JSON Lines need. */
export abstract class Text {
  /** Length in bytes of the text in UTF-8. */
  abstract readonly bytes: number
  abstract readonly value: string
  /** The text as JSON, in quotes and with escapes. */
  abstract readonly json: string
  /** The JSON in UTF-8, if the text was received in that form. */
  readonly jsonBytes: Uint8Array | undefined = undefined
  /**
   * The latest row group that contains the text, and the text's index in it. A map from texts to indexes would keep all
   * texts in memory until the group ends.
   */
  group: symbol | undefined = undefined
  index = 0
  /** Writes the text in UTF-8, which takes `bytes` bytes. */
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

/**
 * A text that is given as JSON in UTF-8, in the form that `JSON.stringify` writes. It is decoded only when code reads
 * `json` or `value`.
 */
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
  /** Bytes that the row would take in Arrow: texts in UTF-8, and a 4-byte offset for each text and list. */
  readonly size: number
}

/**
 * Makes a key from a few of the text's characters, which is much cheaper than a hash of the whole text. If several
 * texts have the same key, only the latest text is remembered.
 */
const keyOf = (text: string): number => {
  const { length } = text
  let key = length
  for (let i = 1; i <= 7; i++) key = (Math.imul(key, 31) + text.charCodeAt((length * i) >> 3)) | 0
  return key
}

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

/** Encodes a row. Some of its texts can already be `Text`s. */
export type Encode = (row: { readonly [column: string]: Json | Text | undefined }) => EncodedRow

const maxRememberedBytes = 8 * 1024 * 1024

/** Approximate bytes that a remembered text takes in addition to its characters. */
const textBytes = 200

/** Sets a member even if its name is `__proto__`; an assignment would set the prototype instead. */
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
    const known = texts.get(key)
    if (known?.value === value) return known
    const text = new StringText(value)
    remembered += text.bytes + textBytes
    if (remembered > maxRememberedBytes) {
      texts.clear()
      remembered = text.bytes + textBytes
    }
    texts.set(key, text)
    return text
  }

  /**
   * Leaves out members that are `undefined`, like `JSON.stringify`. Custom formats in untyped code can return such
   * members.
   */
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
