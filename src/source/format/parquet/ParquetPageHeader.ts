/**
 * The header of a page: what follows it, and how much.
 *
 * Guarantees: sizes and counts are there, and not negative.
 */
import { damaged } from "./ParquetDamage.ts"
import * as Thrift from "./ParquetThrift.ts"

export interface PageHeader {
  /** Of the header itself, in bytes. */
  readonly length: number
  readonly kind: "data" | "data v2" | "dictionary" | "other"
  /** Of the page as it is stored, in bytes. */
  readonly storedSize: number
  /** Of the page unpacked, in bytes. */
  readonly size: number
  readonly crc: number | undefined
  /** How many values it holds, nulls included. */
  readonly count: number
  readonly encoding: number
  /** Of levels in pages of version 1. */
  readonly levelEncodings: ReadonlyArray<number>
  /** Of levels in pages of version 2, in bytes. */
  readonly definitionsSize: number
  readonly repetitionsSize: number
  /** Of pages of version 2: whether the values are compressed. */
  readonly isCompressed: boolean
}

const kinds: ReadonlyArray<PageHeader["kind"]> = ["data", "other", "dictionary", "data v2"]

/**
 * What stands at the beginning of `bytes`; undefined where they end before the header does.
 *
 * @throws Damage
 */
export const parse = (bytes: Uint8Array): PageHeader | undefined => {
  const thrift = Thrift.from(bytes)
  const own: Array<number | undefined> = []
  /** Field 5, 7 or 8, by the kind of page. */
  let details: Array<number | undefined> = []
  let isCompressed = true
  Thrift.struct(thrift, (id) => {
    if (id >= 1 && id <= 4) {
      own[id] = Thrift.integer(thrift)
      return true
    }
    if (id !== 5 && id !== 7 && id !== 8) return false
    details = []
    Thrift.struct(thrift, (field, type) => {
      if (id === 8 && field === 7) isCompressed = Thrift.isTrue(type)
      if (field > 6 || (id === 5 && field > 4) || (id === 7 && field > 2)) return false
      details[field] = Thrift.integer(thrift)
      return true
    })
    return true
  })
  if (thrift.isBad) return damaged("a page's header is damaged")
  if (thrift.isCut) return undefined
  const kind = kinds[own[1] ?? -1] ?? "other"
  const header: PageHeader = {
    length: thrift.at,
    kind,
    size: own[2] ?? -1,
    storedSize: own[3] ?? -1,
    crc: own[4],
    count: kind === "other" ? 0 : (details[1] ?? -1),
    encoding: details[kind === "data v2" ? 4 : 2] ?? -1,
    levelEncodings: kind === "data" ? [details[3] ?? -1, details[4] ?? -1] : [],
    definitionsSize: kind === "data v2" ? (details[5] ?? -1) : 0,
    repetitionsSize: kind === "data v2" ? (details[6] ?? -1) : 0,
    isCompressed,
  }
  const sizes = [header.size, header.storedSize, header.count, header.definitionsSize, header.repetitionsSize]
  return sizes.every((size) => size >= 0) ? header : damaged("a page's header is damaged")
}
