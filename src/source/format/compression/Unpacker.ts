/**
 * The members of a compressed file, one after the other, each given to a decoder.
 *
 * Node's own streams are not enough: see `Decompress`.
 */
import { Data, Effect } from "effect"
import * as Decompress from "../../../node/Decompress.ts"
import type { SourceError } from "../../record/SourceError.ts"
import type { ByteReader } from "./ByteReader.ts"
import * as Zstd from "./ZstdFrame.ts"

/** What is wrong with the compressed bytes, for the user. */
export class Fault extends Data.TaggedError("Fault")<{
  readonly problem: string
  /** Whether all would be well if more bytes came. */
  readonly isCutShort?: true
}> {}

export interface Unpacker {
  /** The next unpacked bytes; `undefined` at the end. */
  readonly next: Effect.Effect<Uint8Array | undefined, SourceError | Fault>
  readonly close: () => void
}

type Reader = ByteReader<SourceError>

const cutShort = (name: string): Fault =>
  new Fault({
    problem: `its ${name} data ends in the middle, as if the file had been cut short; get it again`,
    isCutShort: true,
  })

const damaged = (name: string, problem: string): Fault =>
  new Fault({ problem: `its ${name} data is damaged (${problem}); get it again` })

const trailingBytes = (name: string, bytes: Uint8Array): Fault => {
  const found = [...bytes.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")
  return new Fault({
    problem: `other bytes follow the end of its ${name} data (${found}${bytes.length > 8 ? " …" : ""}); remove them, or get it again`,
  })
}

const uint32 = (bytes: Uint8Array, at = 0): number =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true)

const stepOf = (decoder: Decompress.Decoder, name: string) =>
  Effect.catchTag(decoder.next, "Damaged", ({ problem }) => Effect.fail(damaged(name, problem)))

/** gzip's flags (RFC 1952, 2.3.1). */
const flag = { headerChecksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 }

const passText = Effect.fnUntraced(function* (reader: Reader) {
  while (true) {
    const chunk = yield* reader.chunk
    if (chunk === undefined) return yield* cutShort("gzip")
    const end = chunk.indexOf(0)
    if (end === -1) continue
    return reader.unread(chunk.subarray(end + 1))
  }
})

const takeWhole = Effect.fnUntraced(function* (reader: Reader, count: number, name: string) {
  const bytes = yield* reader.take(count)
  return bytes.length === count ? bytes : yield* cutShort(name)
})

/** Passes over zero bytes, which some writers fill up a file with; whether anything follows. */
const passPadding = Effect.fnUntraced(function* (reader: Reader) {
  while (true) {
    const chunk = yield* reader.chunk
    if (chunk === undefined) return false
    const end = chunk.findIndex((byte) => byte !== 0)
    if (end === -1) continue
    reader.unread(chunk.subarray(end))
    return true
  }
})

const passGzipHeader = Effect.fnUntraced(function* (reader: Reader) {
  const header = yield* takeWhole(reader, 10, "gzip")
  const flags = header[3]!
  if (header[2] !== 8 || (flags & flag.reserved) !== 0) return yield* damaged("gzip", "an unknown header")
  if ((flags & flag.extra) !== 0) {
    const size = yield* takeWhole(reader, 2, "gzip")
    yield* takeWhole(reader, size[0]! + size[1]! * 256, "gzip")
  }
  if ((flags & flag.name) !== 0) yield* passText(reader)
  if ((flags & flag.comment) !== 0) yield* passText(reader)
  if ((flags & flag.headerChecksum) !== 0) yield* takeWhole(reader, 2, "gzip")
})

export const gzip = (reader: Reader): Unpacker => {
  let decoder: Decompress.Decoder | undefined
  let isFirst = true
  let checksum = 0
  let size = 0
  /** Passes the header of the next member; whether there is one. */
  const begin = Effect.gen(function* () {
    if (!isFirst && !(yield* passPadding(reader))) return undefined
    const beginning = yield* reader.take(9)
    if (beginning.length === 0) return undefined
    const isMember = beginning[0] === 0x1f && (beginning[1] === 0x8b || beginning.length === 1)
    if (!isMember) return yield* trailingBytes("gzip", beginning)
    reader.unread(beginning)
    yield* passGzipHeader(reader)
    isFirst = false
    checksum = 0
    size = 0
    decoder = Decompress.make("deflate")
    return decoder
  })
  const end = Effect.gen(function* () {
    decoder?.close()
    decoder = undefined
    const trailer = yield* takeWhole(reader, 8, "gzip")
    if (uint32(trailer) !== checksum || uint32(trailer, 4) !== size % 2 ** 32) {
      return yield* damaged("gzip", "what it unpacks to has another checksum")
    }
  })
  return {
    close: () => decoder?.close(),
    next: Effect.gen(function* () {
      while (true) {
        const current = decoder ?? (yield* begin)
        if (current === undefined) return undefined
        const step = yield* stepOf(current, "gzip")
        if (step._tag === "Output") {
          checksum = Decompress.crc32(step.bytes, checksum)
          size += step.bytes.length
          return step.bytes
        }
        if (step._tag === "Hungry") {
          const chunk = yield* reader.chunk
          if (chunk === undefined) return yield* cutShort("gzip")
          current.write(chunk)
        } else {
          reader.unread(step.unused)
          yield* end
        }
      }
    }),
  }
}

export const zstd = (reader: Reader): Unpacker => {
  const decoder = Decompress.make("zstd")
  let frame: Zstd.ZstdFrame | undefined
  /** Passes over skippable frames; the next one that is to be decoded, if there is one. */
  const begin = Effect.gen(function* () {
    while (true) {
      const beginning = yield* reader.take(9)
      if (beginning.length === 0) return undefined
      const magic = beginning.length < 4 ? undefined : uint32(beginning)
      if (magic !== undefined && Zstd.isSkippable(magic)) {
        reader.unread(beginning)
        const header = yield* takeWhole(reader, 8, "Zstandard")
        yield* pass(uint32(header, 4))
        continue
      }
      if (magic !== Zstd.magic)
        return yield* beginning.length < 4 ? cutShort("Zstandard") : trailingBytes("Zstandard", beginning)
      reader.unread(beginning)
      frame = new Zstd.ZstdFrame()
      return frame
    }
  })
  const pass = Effect.fnUntraced(function* (count: number) {
    for (let missing = count; missing > 0;) {
      const chunk = yield* reader.chunk
      if (chunk === undefined) return yield* cutShort("Zstandard")
      reader.unread(chunk.subarray(missing))
      missing -= Math.min(missing, chunk.length)
    }
  })
  return {
    close: decoder.close,
    next: Effect.gen(function* () {
      while (true) {
        const step = yield* stepOf(decoder, "Zstandard")
        if (step._tag === "Output") return step.bytes
        if (step._tag === "Ended") return yield* damaged("Zstandard", "it ends elsewhere than it says")
        if (frame?.isEnded === true) frame = undefined
        const current = frame ?? (yield* begin)
        if (current === undefined) return undefined
        const chunk = yield* reader.chunk
        if (chunk === undefined) return yield* cutShort("Zstandard")
        const size = current.pass(chunk)
        if (current.problem !== undefined) return yield* new Fault({ problem: current.problem })
        decoder.write(chunk.subarray(0, size))
        reader.unread(chunk.subarray(size))
      }
    }),
  }
}

export const brotli = (reader: Reader): Unpacker => {
  const decoder = Decompress.make("brotli")
  let isCutShort = false
  return {
    close: decoder.close,
    next: Effect.gen(function* () {
      while (true) {
        const step = yield* isCutShort
          ? Effect.catchTag(decoder.next, "Damaged", () => Effect.fail(cutShort("Brotli")))
          : stepOf(decoder, "Brotli")
        if (step._tag === "Output") return step.bytes
        if (step._tag === "Hungry") {
          const chunk = yield* reader.chunk
          if (chunk === undefined) {
            isCutShort = true
            decoder.end()
          } else decoder.write(chunk)
        } else {
          reader.unread(step.unused)
          const rest = yield* reader.take(9)
          if (rest.length > 0) return yield* trailingBytes("Brotli", rest)
          return undefined
        }
      }
    }),
  }
}
