/** Checks Thrift's compact protocol (doc/specs/thrift-compact-protocol.md) before `hyparquet` parses it. */
import { corrupt } from "./CorruptFile.ts"

/** Maximum depth of structs, with a margin: Parquet's footers and page headers have at most six levels. */
const maxDepth = 16

const types = { stop: 0, true: 1, false: 2, byte: 3, i16: 4, i32: 5, i64: 6, double: 7, binary: 8, list: 9, struct: 12 }

export class ThriftReader {
  readonly bytes: Uint8Array
  at: number
  readonly #name: string
  #valuesLeft: number

  constructor(bytes: Uint8Array, at = 0, name = "a page", maxValues = 1_000) {
    this.bytes = bytes
    this.at = at
    this.#name = name
    this.#valuesLeft = maxValues
  }

  skip(length: number): number {
    const start = this.at
    this.at += length
    return this.at <= this.bytes.length ? start : this.#corrupt()
  }

  byte(): number {
    return this.bytes[this.skip(1)]!
  }

  varint(): number {
    let value = 0
    for (let i = 0; i < 10; i++) {
      const next = this.byte()
      value += (next & 0x7f) * 128 ** i
      if (next < 0x80) return value
    }
    return this.#corrupt()
  }

  zigzag(): number {
    const value = this.varint()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  skipStruct(depth = 0): number {
    while (true) {
      const head = this.byte()
      const type = head & 0x0f
      if (type === types.stop) return this.at
      if (head >> 4 === 0) this.varint()
      this.#skipValue(type, depth + 1)
    }
  }

  #skipValue(type: number, depth: number): void {
    if (--this.#valuesLeft < 0 || depth > maxDepth) this.#corrupt()
    if (type === types.true || type === types.false) return
    if (type === types.byte) this.skip(1)
    else if (type === types.i16 || type === types.i32 || type === types.i64) this.varint()
    else if (type === types.struct) this.skipStruct(depth)
    else if (type === types.double) this.skip(8)
    else if (type === types.binary) this.skip(this.varint())
    else if (type === types.list) this.#list(depth)
    else this.#corrupt()
  }

  #corrupt(): never {
    return corrupt(`${this.#name} is damaged`)
  }

  #list(depth: number): void {
    const head = this.byte()
    const size = head >> 4 === 15 ? this.varint() : head >> 4
    const type = head & 0x0f
    const isBoolean = type === types.true || type === types.false
    if (size > this.#valuesLeft) this.#corrupt()
    for (let i = 0; i < size; i++) this.#skipValue(isBoolean ? types.byte : type, depth + 1)
  }
}
