/**
 * Thrift's compact protocol, as far as Parquet uses it: for page headers, and to look through a footer
 * before it is given to `hyparquet`, whose parser believes what it reads.
 *
 * Guarantees: no bytes make it loop, recurse deeply or allocate: past the end it reads zeros and
 * remembers that in `isCut`; what no writer writes sets `isBad`.
 *
 * https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 */
export interface Thrift {
  readonly bytes: Uint8Array
  at: number
  /** The bytes ended too soon. */
  isCut: boolean
  isBad: boolean
  /** How many more values it may hold. */
  valuesLeft: number
}

export const from = (bytes: Uint8Array, at = 0, most = 1_000): Thrift => ({
  bytes,
  at,
  isCut: false,
  isBad: false,
  valuesLeft: most,
})

/** Parquet's own structs are nested six deep. */
const depthMax = 16

const types = { stop: 0, true: 1, false: 2, byte: 3, i16: 4, i32: 5, i64: 6, double: 7, binary: 8, list: 9, struct: 12 }
export const isTrue = (type: number): boolean => type === types.true

const byte = (thrift: Thrift): number => {
  if (thrift.at < thrift.bytes.length) return thrift.bytes[thrift.at++]!
  thrift.isCut = true
  return 0
}

/** Up to 2^53 it is exact. */
const unsigned = (thrift: Thrift): number => {
  let value = 0
  for (let i = 0; i < 10; i++) {
    const next = byte(thrift)
    value += (next & 0x7f) * 128 ** i
    if (next < 0x80) return value
  }
  thrift.isBad = true
  return 0
}

/** A field of type i16, i32 or i64. */
export const integer = (thrift: Thrift): number => {
  const zigzag = unsigned(thrift)
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
}

/** Reads a struct; `onField` reads the field's value, or says by `false` that it has not. */
export const struct = (thrift: Thrift, onField: (id: number, type: number) => boolean, depth = 0): void => {
  let id = 0
  while (true) {
    const head = byte(thrift)
    const type = head & 0x0f
    if (type === types.stop || thrift.isCut || thrift.isBad) return
    id = head >> 4 === 0 ? integer(thrift) : id + (head >> 4)
    if (!onField(id, type)) skip(thrift, type, depth + 1)
  }
}

const pass = (thrift: Thrift, length: number): void => {
  thrift.at += length
  if (thrift.at <= thrift.bytes.length) return
  thrift.at = thrift.bytes.length
  thrift.isCut = true
}

/** Passes over a struct and all that is in it. */
export const skipStruct = (thrift: Thrift, depth = 0): void => struct(thrift, () => false, depth)

const skip = (thrift: Thrift, type: number, depth: number): void => {
  if (--thrift.valuesLeft < 0 || depth > depthMax) thrift.isBad = true
  if (thrift.isBad) return
  if (type === types.byte) pass(thrift, 1)
  else if (type === types.i16 || type === types.i32 || type === types.i64) unsigned(thrift)
  else if (type === types.double) pass(thrift, 8)
  else if (type === types.binary) pass(thrift, unsigned(thrift))
  else if (type === types.list) skipList(thrift, depth)
  else if (type === types.struct) skipStruct(thrift, depth)
  else if (type !== types.true && type !== types.false) thrift.isBad = true
}

const skipList = (thrift: Thrift, depth: number): void => {
  const head = byte(thrift)
  const size = head >> 4 === 15 ? unsigned(thrift) : head >> 4
  const type = head & 0x0f
  if (size > thrift.valuesLeft) thrift.isBad = true
  const element = type === types.true || type === types.false ? types.byte : type
  for (let i = 0; i < size && !thrift.isCut && !thrift.isBad; i++) skip(thrift, element, depth + 1)
}
