/**
 * Adapter: the decoders of `node:zlib`, driven by hand: bytes in, bytes out, and what was left over.
 *
 * Node's own streams pass over bytes without a word: those after the first Zstandard frame of a chunk, after
 * a Brotli stream, after a zero byte behind a gzip member; and before version 24 they take a Zstandard frame
 * that is cut short for a whole one. So a decoder here only decodes, and says which bytes it did not use.
 * Whoever drives it knows where a member begins and ends.
 *
 * Guarantees: decoding happens outside this thread, and stops while nobody asks for its output: no more
 * than 128 kB are decoded ahead, however much the bytes written would give.
 */
import type { Transform } from "node:stream"
import { crc32 as nodeCrc32, createBrotliDecompress, createInflateRaw, createZstdDecompress } from "node:zlib"
import { Data, Effect, Schema } from "effect"

/** `deflate` without any frame (RFC 1951), one Brotli stream, or any number of whole Zstandard frames. */
export type Method = "deflate" | "zstd" | "brotli"

/** The bytes are none of the method's, or end too soon; `problem` is the decoder's own message. */
export class Damaged extends Schema.TaggedError<Damaged>()("Damaged", { problem: Schema.String }) {}

export type Step = Data.TaggedEnum<{
  Output: { readonly bytes: Uint8Array }
  /** All that was written is used up and put out. */
  Hungry: {}
  /** The data ended by itself, before these bytes of the last write. */
  Ended: { readonly unused: Uint8Array }
}>
export const Step = Data.taggedEnum<Step>()

export interface Decoder {
  /** Gives it more; once it is hungry, and not before. */
  readonly write: (bytes: Uint8Array) => void
  /** Says that no more will come: what is then cut short is `Damaged`. */
  readonly end: () => void
  readonly next: Effect.Effect<Step, Damaged>
  /** Frees its memory; it can be called again. */
  readonly close: () => void
}

/** CRC-32 of bytes that come piece by piece: begin with 0. */
export const crc32 = (bytes: Uint8Array, before: number): number => nodeCrc32(bytes, before)

const chunkSize = 64 * 1024

const streams: Record<Method, () => Transform & { readonly bytesWritten: number }> = {
  deflate: () => createInflateRaw({ chunkSize }),
  zstd: () => createZstdDecompress({ chunkSize }),
  brotli: () => createBrotliDecompress({ chunkSize }),
}

export const make = (method: Method): Decoder => {
  const stream = streams[method]()
  let written = new Uint8Array(0)
  let usedBefore = 0
  let isHungry = true
  let isEnded = false
  let error: Error | undefined
  let wake: (() => void) | undefined
  const wakeUp = () => {
    const resume = wake
    wake = undefined
    resume?.()
  }
  stream.on("readable", wakeUp)
  stream.on("end", () => {
    isEnded = true
    wakeUp()
  })
  stream.on("error", (cause) => {
    error = cause
    wakeUp()
  })
  const next: Effect.Effect<Step, Damaged> = Effect.suspend(() => {
    const bytes = stream.read() as Buffer | null
    if (bytes !== null) return Effect.succeed(Step.Output({ bytes }))
    if (error !== undefined) return Effect.fail(new Damaged({ problem: error.message }))
    if (isEnded) return Effect.succeed(Step.Ended({ unused: written.subarray(stream.bytesWritten - usedBefore) }))
    if (isHungry) return Effect.succeed(Step.Hungry())
    return Effect.flatMap(
      Effect.callback<void>((resume) => {
        wake = () => resume(Effect.void)
      }),
      () => next,
    )
  })
  return {
    write: (bytes) => {
      written = bytes as Uint8Array<ArrayBuffer>
      usedBefore = stream.bytesWritten
      isHungry = false
      stream.write(bytes, () => {
        isHungry = true
        wakeUp()
      })
    },
    end: () => {
      written = new Uint8Array(0)
      usedBefore = stream.bytesWritten
      isHungry = false
      stream.end()
    },
    next,
    close: () => void stream.destroy(),
  }
}
